import { expect, test } from 'vitest'
import { lineWidth } from '../../cli/terminal/lines.ts'
import { forestLines, type TreeNode, type TreeSize } from '../../cli/terminal/tree.ts'
import { OBEYED, text } from './render.ts'

const node = (experiment: string, parent: string | null, given: Partial<TreeNode> = {}): TreeNode => ({
  experiment,
  parent,
  status: 'kept',
  reason: 'improved',
  value: 1,
  hypothesis: 'h',
  ...given,
})
const family = [
  node('base', null, { reason: null, value: 10, hypothesis: 'baseline' }),
  node('a', 'base', { value: 8 }),
  node('a1', 'a', { status: 'rejected', reason: 'not_better', value: 9 }),
  node('b', 'base', { status: 'failed', reason: 'timeout', value: null }),
  node('a2', 'a', { value: 7 }),
  node('lost', 'gone'),
]

/** A node whose parent is not in the list stands at the root. */
function tree(nodes: readonly TreeNode[], best: string | null, size: TreeSize) {
  const known = new Set(nodes.map(({ experiment }) => experiment))
  const children = new Map<string | null, TreeNode[]>()
  for (const node of nodes) {
    const parent = node.parent !== null && known.has(node.parent) ? node.parent : null
    const siblings = children.get(parent)
    if (siblings) siblings.push(node)
    else children.set(parent, [node])
  }
  const childrenOf = ({ experiment }: TreeNode) => children.get(experiment) ?? []
  return forestLines({ count: nodes.length, roots: children.get(null) ?? [], childrenOf }, best, size)
}

test('a child is not drawn under its parent, the best is not marked, or a node without its parent is not at the root', () => {
  expect(text(tree(family, 'a2', { width: 80, lines: 20 }))).toBe(
    [
      '● base  10  kept  baseline',
      '├─ ● a  8  kept  h',
      '│  ├─ ○ a1  9  rejected: not better  h',
      '│  └─ ● a2  7  kept  best  h',
      '└─ × b  –  failed: timeout  h',
      '● lost  1  kept  h',
    ].join('\n'),
  )
})

test('a tree that is cut does not tell how many nodes are missing, or one that fits is cut', () => {
  expect(
    text(tree(family, null, { width: 80, lines: 3 }))
      .split('\n')
      .slice(1),
  ).toEqual(['├─ ● a  8  kept  h', '… 4 more'])
  expect(tree(family, null, { width: 80, lines: 0 })).toEqual([])
  expect(tree(family, null, { width: 80, lines: 6 })).toHaveLength(6)
})

test('a chain of 10,000 nodes cannot be drawn, or runs off to the right', () => {
  const chain = Array.from({ length: 10_000 }, (_, at) => node(`e${at}`, at === 0 ? null : `e${at - 1}`))
  const lines = tree(chain, null, { width: 70, lines: 20_000 })
  expect(lines).toHaveLength(10_000)
  expect(text(lines.slice(-1)).trim()).toBe('└─ (9999) ● e9999  1  kept  h')
  expect(Math.max(...lines.map(lineWidth))).toBeLessThanOrEqual(70)
})

test('a cycle in broken data is drawn without end, or its nodes are not told as missing', () => {
  expect(text(tree([node('a', 'b'), node('b', 'a')], null, { width: 80, lines: 9 }))).toBe('… 2 more')
})

test('the terminal obeys the text of a node, or does not show it', () => {
  const lines = tree([node('\x1b[2J', null, { hypothesis: 'x\r\x1b]0;t\x07\u202e' })], null, {
    width: 60,
    lines: 5,
  })
  expect(text(lines)).toBe('● \\x1b[2J  1  kept  x \\x1b]0;t\\x07\\u{202e}')
  expect(text(lines)).not.toMatch(OBEYED)
})
