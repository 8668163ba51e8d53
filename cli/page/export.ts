/** A run as one HTML file. Every row is in it; details and diffs only of the experiments that a reader opens first. */
import { bestOf } from '../ledger/best.ts'
import { BASELINE, type Experiment, lineageOf } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { plain } from '../text.ts'
import { History } from '../view/history.ts'
import { headOf, rowsOf, runLineOf } from '../view/page.ts'
import { type PageDiff, type PageNode, type PagePatch, packRow } from '../view/page-model.ts'
import { pageDiff, pageNode, patchesOf } from '../view/page-node.ts'
import { type Block, offlineDocument, ROWS_IN_BLOCK } from './document.ts'

/** Kept experiments beside the best path, the newest; each costs two calls of git. */
const DETAILED = 200
/** Bytes of all patches together. */
const PATCHES = 8_000_000

export interface ExportOptions {
  version: string
  /** Details and diffs of every experiment. */
  full: boolean
}

export async function htmlOf(run: OpenRun, { version, full }: ExportOptions): Promise<Result<string>> {
  const history = new History()
  const read = history.read(run.ledger.file)
  if (!read.ok) return read
  const head = headOf(run, history, version)
  const rows = rowsOf(run).map(packRow)
  const nodes: Record<string, PageNode> = {}
  const patches: Record<string, PagePatch> = {}
  const diffs: Record<string, PageDiff> = {}
  let room = full ? Number.POSITIVE_INFINITY : PATCHES
  for (const node of full ? run.ledger.state.experiments.values() : shownFirst(run)) {
    nodes[node.id] = await pageNode(run, node)
    for (const other of othersOf(run, node)) {
      if (room <= 0) break
      const found = await diffWith(run, node, other)
      if (found === null) continue
      if (other !== node.parent) diffs[`${node.id} ${other}`] = found.diff
      for (const [path, patch] of found.patches) {
        patches[`${node.id} ${other} ${path}`] = patch
        room -= 'patch' in patch ? patch.patch.length : 0
      }
    }
  }
  const blocks: Block[] = [{ kind: 'head', value: { head, runs: [runLineOf(run)] } }]
  for (let at = 0; at < rows.length; at += ROWS_IN_BLOCK)
    blocks.push({ kind: 'rows', value: rows.slice(at, at + ROWS_IN_BLOCK) })
  blocks.push({ kind: 'nodes', value: nodes }, { kind: 'patches', value: { patches, diffs } })
  return ok(offlineDocument(`${plain(run.started.name, 100)} · ${run.run} · Assay`, blocks))
}

/** All that the best is built on, what is being worked on, and the newest kept ones. */
function shownFirst({ ledger: { state } }: OpenRun): Experiment[] {
  const best = bestOf(state)
  const path = best ? lineageOf(state, best.id) : []
  const all = [...state.experiments.values()]
  const kept = all.filter(({ status }) => status === 'kept' || status === 'revoked' || status === 'pruned')
  const running = all.filter(({ status }) => status === 'running')
  return [...new Set([...path, ...running, ...kept.slice(-DETAILED)])]
}

/** The parent; of the best the baseline as well, which is the whole change. */
function othersOf({ ledger: { state } }: OpenRun, node: Experiment): string[] {
  if (node.parent === null) return []
  const best = bestOf(state)?.id === node.id && node.parent !== BASELINE ? [BASELINE] : []
  return [node.parent, ...best]
}

async function diffWith(
  run: OpenRun,
  node: Experiment,
  other: string,
): Promise<{ diff: PageDiff; patches: [string, PagePatch][] } | null> {
  const diff = await pageDiff(run, node, other)
  if (!diff.ok) return null
  const patches = await patchesOf(run, node, other, diff.value)
  return patches.ok ? { diff: diff.value, patches: patches.value } : null
}
