/** Pins what the worktree holds as a commit, before anything is judged. */

import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { holdsOneOf } from '../git/index-file.ts'
import { candidateRef } from '../git/refs.ts'
import { bringBack } from '../git/restore.ts'
import { holdsTree, pinCommit, sealTree } from '../git/seal.ts'
import { changesBetween, readBlobs, type TreeChange } from '../git/trees.ts'
import { refusedBy } from '../ledger/decide.ts'
import type { SealedText } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { type Attempt, type Experiment, freeRejections, lastAttempt } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { artifactsFolder, worktreePath } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { nodeFor, type OpenRun, type RunRecord } from '../run/open.ts'
import { type Listing, listArtifacts } from './artifacts.ts'
import { mutableFor } from './data.ts'
import { baseOf, ensureWorktree, isWorktreeGone, parentCommits, readWorktreeFacts } from './worktree.ts'

/** Free rejections cost nothing, so this limit ends an agent that repeats them. */
const MAX_FREE = 10

export interface Seal {
  experiment: string
  attempt: number
  commit: string
  tree: string
  parentTree: string
  changes: TreeChange[]
  /** Untracked files outside `mutable`: not part of the candidate. */
  leftOut: string[]
  /** Ignored files under `mutable` that are newer than the worktree, with the rule that hides them. */
  ignored: { path: string; rule: string }[]
  /** Files that the candidate adds or changes and that look secret, or hold a secret: never in the tree, nor in the store. */
  secrets: { path: string; reason: string }[]
  /** Files in the experiment's own artifact folder. */
  artifacts: Listing
  /** Of a suite: its texts that differ from the parent's. */
  texts: SealedText[]
}

/** What the worktree holds now, not yet pinned. */
export type WorktreeSnapshot = Omit<Seal, 'attempt' | 'commit'>

/** The files on disk against the parent's tree. HEAD, the index and the commits of the agent do not matter. */
export async function snapshot(run: OpenRun, node: Experiment): Promise<Result<WorktreeSnapshot>> {
  const wasDeleted = lastAttempt(node) === null && isWorktreeGone(run, node.id)
  const made = await ensureWorktree(run, node.id)
  if (!made.ok) return made
  if (wasDeleted) return fail(worktreeGone(node.id, made.value))
  const parent = baseOf(run, node.id)
  const facts = readWorktreeFacts(run, node.id)
  const sealed = await sealTree({
    site: run.site,
    worktree: worktreePath(run.site, run.run, node.id),
    parent,
    mutable: mutableFor(run, node.id),
    leaveOut: new Map(Object.entries(facts?.droppings ?? {})),
    since: facts ? new Date(facts.made) : null,
  })
  if (!sealed.ok) return sealed
  const { tree, changes, leftOut, ignoredNewer, secrets } = sealed.value
  const texts = await textsIn(run, changes)
  if (!texts.ok) return texts
  return ok({
    experiment: node.id,
    tree,
    parentTree: parent.tree,
    changes,
    leftOut,
    ignored: ignoredNewer,
    secrets,
    artifacts: await listArtifacts(artifactsFolder(run.paths, node.id)),
    texts: texts.value,
  })
}

/** Which texts of the suite the changes concern, and how long they are now. */
async function textsIn(
  run: Pick<RunRecord, 'spec' | 'started' | 'site'>,
  changes: readonly TreeChange[],
): Promise<Result<SealedText[]>> {
  const found = (run.spec.measure.suite?.artifacts ?? []).flatMap(({ name, file }) => {
    const change = changes.find(({ path }) => path === pathOfText(run, file))
    return change ? [{ name, blob: change.newMode.startsWith('100') ? change.newOid : null }] : []
  })
  const blobs = await readBlobs(run.site, [...new Set(found.flatMap(({ blob }) => blob ?? []))])
  if (!blobs.ok) return blobs
  return ok(
    found.map(({ name, blob }) => {
      const text = blob === null ? undefined : blobs.value.get(blob)?.toString('utf8')
      return { artifact: name, blob, chars: text === undefined ? null : [...text].length }
    }),
  )
}

/** From the root of the repository; `file` as the spec says it. */
export const pathOfText = ({ started }: Pick<RunRecord, 'started'>, file: string): string =>
  posix.join(started.prefix, file)

/** The edits are lost with the worktree; the answer "nothing changed" would hide that. */
const worktreeGone = (experiment: string, path: string): Problem => ({
  kind: 'refused',
  code: 'worktree_gone',
  message: `the worktree of ${experiment} was deleted, with all edits in it`,
  hint: `Assay made the worktree again from the parent: make the edit there, then repeat the command`,
  at: path,
})

/** Whether the worktree differs from the last seal of the experiment, or from its parent when there is no seal. */
export async function editedSinceSeal(run: OpenRun, experiment: string): Promise<Result<boolean>> {
  const read = run.ledger.refresh()
  if (!read.ok) return read
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const taken = await snapshot(run, node.value)
  return taken.ok ? ok(differs(taken.value, lastAttempt(node.value))) : taken
}

/** Whether there is something new to judge since the attempt; null = there was no attempt, so artifacts count as well. */
export const differs = (taken: WorktreeSnapshot, attempt: Attempt | null): boolean =>
  attempt === null
    ? taken.tree !== taken.parentTree || taken.artifacts.size > 0
    : taken.tree !== attempt.sealed.tree

/**
 * Whether everything in the worktree is in a seal or in the parent, by stat data. False also when only a snapshot can tell; a
 * snapshot costs several calls of git.
 */
export function isSealedByStat(run: RunRecord, node: Experiment): Promise<boolean> {
  const trees = new Set([
    ...node.attempts.map(({ sealed }) => sealed.tree).reverse(),
    baseOf(run, node.id).tree,
  ])
  const { droppings = {} } = readWorktreeFacts(run, node.id) ?? {}
  const worktree = worktreePath(run.site, run.run, node.id)
  // Of these, the content is part of no candidate.
  return holdsOneOf(run.site, worktree, trees, (path) => droppings[path] === 'present')
}

/** Pins the snapshot as the next attempt; the same content as an unjudged seal is that seal. */
export async function seal(
  run: OpenRun,
  node: Experiment,
  taken: WorktreeSnapshot,
  hypothesis: string | null,
  key: string | null = null,
): Promise<Result<Seal>> {
  const last = lastAttempt(node)
  const same =
    (hypothesis ?? node.hypothesis) === node.hypothesis &&
    taken.secrets.length === (last?.sealed.secrets.length ?? 0)
  if (last && !last.judged && last.sealed.tree === taken.tree && same) {
    return ok({ ...taken, attempt: last.attempt, commit: last.sealed.commit })
  }
  const because = refusedBy(node, 'seal')
  if (because) return refusal(because)
  if (freeRejections(node) >= MAX_FREE) {
    return refusal({
      code: 'too_many_free',
      message: `${node.id} was rejected ${MAX_FREE} times before it cost anything`,
      hint: next`discard it and try a different idea: ${call('discard', node.id)}`,
    })
  }
  return pin(run, node, taken, (last?.attempt ?? 0) + 1, { hypothesis, key })
}

/** The first number from `attempt` on that has no ref yet. Refs are never moved, so numbers may have gaps. */
async function pin(
  run: OpenRun,
  node: Experiment,
  taken: WorktreeSnapshot,
  attempt: number,
  { hypothesis, key }: { hypothesis: string | null; key: string | null },
): Promise<Result<Seal>> {
  const commit = await pinCommit(run.site, {
    tree: taken.tree,
    parents: parentCommits(run, node),
    message: `${node.id}: ${hypothesis ?? node.hypothesis}`,
    ref: candidateRef(run.run, node.id, attempt),
    at: run.clock(),
  })
  if (!commit.ok) {
    return commit.problem.code === 'ref_exists'
      ? pin(run, node, taken, attempt + 1, { hypothesis, key })
      : commit
  }
  const recorded = run.ledger.record<'sealed'>(
    {
      type: 'sealed',
      experiment: node.id,
      attempt,
      commit: commit.value,
      tree: taken.tree,
      diff: diffStat(taken.changes),
      left_out: taken.leftOut.slice(0, 10),
      secrets: taken.secrets.slice(0, 10),
      ...(taken.texts.length === 0 ? {} : { texts: taken.texts }),
      ...(hypothesis === null ? {} : { hypothesis }),
    },
    run.clock(),
    key,
  )
  if (!recorded.ok) return recorded
  return ok({ ...taken, attempt, commit: commit.value })
}

/** Pins a tree that the CLI composed, without a worktree: as the next attempt of an experiment. */
export async function sealComposedTree(run: OpenRun, node: Experiment, tree: string): Promise<Result<Seal>> {
  const parentTree = baseOf(run, node.id).tree
  const changes = await changesBetween(run.site, parentTree, tree, { asText: true })
  if (!changes.ok) return changes
  const artifacts = await listArtifacts(artifactsFolder(run.paths, node.id))
  const texts = await textsIn(run, changes.value)
  if (!texts.ok) return texts
  const composed = {
    tree,
    parentTree,
    changes: changes.value,
    leftOut: [],
    ignored: [],
    secrets: [],
    artifacts,
    texts: texts.value,
  }
  return seal(run, node, { experiment: node.id, ...composed }, null)
}

/** A seal that was pinned earlier, with its changes read back from the store. */
export async function storedSeal(
  run: OpenRun,
  node: Experiment,
  { attempt, sealed }: Attempt,
): Promise<Result<Seal>> {
  const parentTree = baseOf(run, node.id).tree
  const changes = await changesBetween(run.site, parentTree, sealed.tree, { asText: true })
  if (!changes.ok) return changes
  return ok({
    experiment: node.id,
    attempt,
    commit: sealed.commit,
    tree: sealed.tree,
    parentTree,
    changes: changes.value,
    leftOut: sealed.left_out,
    ignored: [],
    secrets: sealed.secrets,
    texts: sealed.texts ?? [],
    artifacts: await listArtifacts(artifactsFolder(run.paths, node.id)),
  })
}

export function diffStat(changes: readonly TreeChange[]): { files: number; added: number; removed: number } {
  const sum = (pick: (change: TreeChange) => number | null) =>
    changes.reduce((total, change) => total + (pick(change) ?? 0), 0)
  return {
    files: changes.length,
    added: sum((change) => change.added),
    removed: sum((change) => change.removed),
  }
}

/**
 * Brings the worktree of an experiment back to its last seal after an agent worked there that may only read. Answers the
 * undone paths that would have been part of a candidate, and the folder in the trash where they are now; null when there
 * were none.
 */
export async function undoEdits(
  run: OpenRun,
  experiment: string,
): Promise<Result<{ paths: string[]; kept: string } | null>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const sealed = lastAttempt(node.value)?.sealed
  // Also when the worktree has lost its `.git`, which a seal does not read.
  const worktree = worktreePath(run.site, run.run, experiment)
  if (!sealed || !existsSync(worktree)) return ok(null)
  // An agent that only read left all as it was: that is seen with one look.
  const same = await holdsTree(run.site, worktree, sealed.tree)
  if (same.ok && same.value) return ok(null)
  const now = await snapshot(run, node.value)
  if (!now.ok) return now
  if (now.value.tree === sealed.tree) return ok(null)
  const changes = await changesBetween(run.site, sealed.tree, now.value.tree)
  if (!changes.ok) return changes
  const done = await bringBack(run.site, worktree, sealed.tree, changes.value)
  return done.ok ? ok({ paths: changes.value.map(({ path }) => path), kept: done.value }) : done
}
