/** Added lines of a diff that an ancestor had removed: what came back, and who took it out. */
import { patchBetween } from '../git/trees.ts'
import { type Experiment, lastAttempt, lineageOf } from '../ledger/state.ts'
import { baseOf } from '../measure/worktree.ts'
import type { OpenRun } from '../run/open.ts'

/** Ancestors that are asked, the newest first; each costs a call of git, once. */
const ANCESTORS = 30
const MOST = 200
/** A brace or an empty line comes back in every second diff. */
const SHORTEST = 6

/** By path: the lines that an experiment removed and did not put back elsewhere in the file. */
type Removed = ReadonlyMap<string, ReadonlySet<string>>

const known = new WeakMap<OpenRun, Map<string, Promise<Removed>>>()

/** Of a patch against the parent: number of the line in the new file, and the newest ancestor that had removed it. */
export async function readdedLines(
  run: OpenRun,
  node: Experiment,
  path: string,
  patch: readonly string[],
): Promise<[line: number, removedBy: string][]> {
  const added = addedLines(patch)
  if (added.length === 0) return []
  const ancestors = lineageOf(run.ledger.state, node.id)
    .filter(({ id, parent }) => id !== node.id && parent !== null)
    .reverse()
    .slice(0, ANCESTORS)
  const found = new Map<number, string>()
  for (const ancestor of ancestors) {
    const removed = (await removedBy(run, ancestor)).get(path)
    if (removed === undefined) continue
    for (const [line, text] of added) if (removed.has(text) && !found.has(line)) found.set(line, ancestor.id)
  }
  return [...found].sort(([a], [b]) => a - b).slice(0, MOST)
}

function addedLines(patch: readonly string[]): [line: number, text: string][] {
  const added: [number, string][] = []
  let line = 0
  let inHunk = false
  for (const text of patch) {
    const from = /^@@ -\S+ \+(\d+)/.exec(text)?.[1]
    if (from !== undefined) [line, inHunk] = [Number(from), true]
    else if (inHunk && text.startsWith('+')) {
      if (isTelling(text)) added.push([line, text.slice(1).trim()])
      line++
    } else if (inHunk && text.startsWith(' ')) line++
  }
  return added
}

const isTelling = (text: string): boolean =>
  text.slice(1).trim().length >= SHORTEST && /[\p{L}\d]/u.test(text)

/** A sealed tree does not change, so the answer is kept for as long as the run is open. */
function removedBy(run: OpenRun, node: Experiment): Promise<Removed> {
  const ofRun = known.get(run) ?? new Map<string, Promise<Removed>>()
  known.set(run, ofRun)
  const tree = lastAttempt(node)?.sealed.tree
  const key = `${node.id} ${tree}`
  const before = ofRun.get(key)
  if (before) return before
  const removed = tree === undefined ? Promise.resolve(new Map()) : readRemoved(run, node, tree)
  ofRun.set(key, removed)
  return removed
}

async function readRemoved(run: OpenRun, node: Experiment, tree: string): Promise<Removed> {
  const patch = await patchBetween(run.site, baseOf(run, node.id).tree, tree, { context: 0 })
  const removed = new Map<string, Set<string>>()
  if (!patch.ok) return removed
  // A line of content begins with a sign, so only a header begins like this.
  for (const file of patch.value.split(/^(?=diff --git )/m)) {
    const path = /^--- a\/(.*)$/m.exec(file)?.[1]
    if (path === undefined) continue
    const lines = file.slice(file.indexOf('\n@@')).split('\n')
    const linesWith = (sign: string) =>
      lines.filter((text) => text.startsWith(sign) && isTelling(text)).map((text) => text.slice(1).trim())
    const own = new Set(linesWith('-'))
    for (const text of linesWith('+')) own.delete(text)
    removed.set(path, own)
  }
  return removed
}
