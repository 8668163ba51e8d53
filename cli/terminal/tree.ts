import { shown } from '../evaluate/figure.ts'
import type { Reason } from '../ledger/events.ts'
import { plain } from '../text.ts'
import type { NodeData } from '../view/node.ts'
import { type Cell, cell, clip, GLYPHS, type Line } from './lines.ts'

/** Of several parents, it stands below the first. */
export interface TreeNode
  extends Omit<NodeData, 'reason' | 'flagged' | 'epoch'>,
    Partial<Pick<NodeData, 'flagged' | 'epoch'>> {
  reason: Reason | null
}

export interface TreeSize {
  /** The current epoch: a different one is shown. */
  epoch?: number
  width: number
  /** At most so many lines; the last one then tells how many experiments are missing. */
  lines: number
}

/** Deeper levels are shown as a number: a chain of ten thousand must stay readable. */
const INDENT = 12

/** Experiments below each other, of which only those are read that are shown. */
export interface Forest {
  count: number
  roots: readonly TreeNode[]
  childrenOf: (node: TreeNode) => readonly TreeNode[]
}

/**
 * The experiments as a tree, children under their parent in the order given. `best` is marked. Linear in the lines that are
 * shown, without recursion.
 */
export function forestLines(
  { count, roots, childrenOf }: Forest,
  best: string | null,
  size: TreeSize,
): Line[] {
  const room = Math.max(0, count > size.lines ? size.lines - 1 : size.lines)
  const lines: Line[] = []
  interface Place {
    node: TreeNode
    depth: number
    /** The prefix of its children's lines, up to INDENT levels. */
    trunk: string
    mark: string
  }
  const stack: Place[] = []
  const push = (list: readonly TreeNode[], depth: number, trunk: string) => {
    // Last first: the stack gives them back in order.
    for (const [index, node] of [...list].reverse().entries()) {
      const mark = depth === 0 ? '' : index === 0 ? GLYPHS.last : GLYPHS.fork
      stack.push({ node, depth, trunk, mark })
    }
  }
  push(roots, 0, '')
  while (lines.length < room) {
    const place = stack.pop()
    if (place === undefined) break
    const { node, depth, trunk, mark } = place
    lines.push(lineOf(node, best, { depth, lead: trunk + mark, epoch: size.epoch }))
    const deeper =
      depth === 0 || depth >= INDENT ? trunk : trunk + (mark === GLYPHS.last ? '   ' : GLYPHS.trunk)
    push(childrenOf(node), depth + 1, deeper)
  }
  const missing = count - lines.length
  if (missing > 0 && size.lines > 0) lines.push([cell(`… ${missing} more`, 'dim')])
  return lines.map((line) => clip(line, size.width))
}

function lineOf(
  node: TreeNode,
  best: string | null,
  { depth, lead, epoch }: { depth: number; lead: string; epoch: number | undefined },
): Cell[] {
  const isBest = node.experiment === best
  const verdict =
    node.reason === null || node.status === 'kept'
      ? node.status
      : `${node.status}: ${node.reason.replaceAll('_', ' ')}`
  return [
    cell(lead, 'axis'),
    ...(depth > INDENT ? [cell(`(${depth}) `, 'dim')] : []),
    cell(`${GLYPHS.status[node.status]} `, isBest ? 'best' : node.status),
    cell(plain(node.experiment, 24), isBest ? 'best' : 'plain'),
    cell(`  ${shown(node.value)}`, isBest ? 'best' : 'plain'),
    cell(`  ${verdict}`, node.status),
    ...(isBest ? [cell('  best', 'best')] : []),
    ...(node.flagged ? [cell('  flagged', 'revoked')] : []),
    ...(epoch !== undefined && node.epoch !== undefined && node.epoch !== epoch
      ? [cell(`  epoch ${node.epoch}`, 'dim')]
      : []),
    ...(node.parents ? [cell(`  with ${node.parents.slice(1).join(', ')}`, 'dim')] : []),
    cell(`  ${plain(node.hypothesis, 240)}`, 'dim'),
  ]
}
