/** The folder that an agent edits: made once, set up, and remembered as it was before the agent came. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lastLine } from '../evaluate/command.ts'
import { duration } from '../evaluate/figure.ts'
import { runPreparation } from '../evaluate/gates.ts'
import { fileJson } from '../files.ts'
import { recordFilesOfSetup } from '../git/seal.ts'
import { addWorktree } from '../git/worktrees.ts'
import { BASELINE, type Experiment, lastAttempt, lastKept } from '../ledger/state.ts'
import { withLock } from '../lock.ts'
import { experimentFolder, worktreeFacts, worktreeMaking, worktreePath } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun, RunRecord } from '../run/open.ts'
import { dataPaths, fingerprintMutable, giveData, mutableFor } from './data.ts'
import { rememberCheckout } from './disk-space.ts'
import { benchmarkEnvironment } from './environment.ts'
import {
  beforeSetup,
  keepSetup,
  keysOfSetup,
  type ReusedSetup,
  reuseSetup,
  type SettingUp,
} from './kept-setup.ts'
import { lastLines } from './output.ts'

/** What a seal needs to know about the worktree's original state. */
export interface WorktreeFacts {
  made: string
  /** How long `worktree.setup`, or its copy, took, in milliseconds; absent without one, and in facts of earlier versions. */
  setup_ms?: number
  /** Whose setup it has a copy of; absent when its own ran. */
  setup_reused?: ReusedSetup
  /** Files of setup, path → content: equal at the seal = not part of the candidate. The name is that of the file format. */
  droppings: Record<string, string>
  /** The state of the user's checkout, as far as the scope goes: some agents edit the wrong folder. */
  checkout: Record<string, string>
}

/**
 * Makes what is missing of an experiment's worktree; a complete one is left alone. One process at a time: a second
 * setup, or a second inventory after setup, could come when the agent is already working.
 */
export async function ensureWorktree(run: OpenRun, experiment: string): Promise<Result<string>> {
  const path = worktreePath(run.site, run.run, experiment)
  const complete = () => hasWorktree(run, experiment)
  if (complete()) return ok(path)
  mkdirSync(experimentFolder(run.paths, experiment), { recursive: true })
  return withLock(worktreeMaking(run.paths, experiment), async () =>
    complete() ? ok(path) : makeWorktree(run, experiment, path),
  )
}

export const hasWorktree = (run: RunRecord, experiment: string): boolean =>
  existsSync(worktreeFacts(run.paths, experiment)) &&
  existsSync(join(worktreePath(run.site, run.run, experiment), '.git'))

/** Whether the worktree was made once and its folder has been deleted. */
export const isWorktreeGone = (run: RunRecord, experiment: string): boolean =>
  existsSync(worktreeFacts(run.paths, experiment)) && !existsSync(worktreePath(run.site, run.run, experiment))

async function makeWorktree(run: OpenRun, experiment: string, path: string): Promise<Result<string>> {
  const start = startOf(run, experiment)
  const added = await addWorktree(run.site, path, start.commit, start.tree)
  if (!added.ok) return added
  const given = await giveData(run, path, {})
  if (!given.ok) return given
  const set = await setUp(run, experiment, path, start.tree)
  if (!set.ok) return set
  const ofSetup = run.spec.worktree.setup
    ? await recordFilesOfSetup({
        site: run.site,
        worktree: path,
        parent: start,
        mutable: mutableFor(run, experiment),
      })
    : ok(new Map<string, string>())
  if (!ofSetup.ok) return ofSetup
  for (const one of dataPaths(run)) ofSetup.value.set(one, 'present')
  const checkout = await fingerprintMutable(run)
  const facts: WorktreeFacts = {
    made: run.clock().toISOString(),
    ...set.value,
    droppings: Object.fromEntries(ofSetup.value),
    checkout: checkout.ok ? checkout.value : {},
  }
  const file = worktreeFacts(run.paths, experiment)
  writeFileSync(`${file}.new`, JSON.stringify(facts))
  renameSync(`${file}.new`, file)
  rememberCheckout(run, path)
  return ok(path)
}

export const readWorktreeFacts = (run: RunRecord, experiment: string): WorktreeFacts | null =>
  fileJson(worktreeFacts(run.paths, experiment))

/** What an experiment starts from: its parent's kept candidate, or the base for the baseline. */
export function baseOf(
  run: Pick<RunRecord, 'ledger' | 'started'>,
  experiment: string,
): { commit: string; tree: string } {
  const parent = run.ledger.state.experiments.get(experiment)?.parent
  return (parent ? judgedCommit(run, parent) : null) ?? run.started.base
}

/** The commits that its candidates are built on: what it starts from, then those of its other parents. */
export const parentCommits = (run: Pick<RunRecord, 'ledger' | 'started'>, node: Experiment): string[] => [
  baseOf(run, node.id).commit,
  ...node.parents.slice(1).flatMap((id) => judgedCommit(run, id)?.commit ?? []),
]

/** The first content of its worktree; a worktree that was removed is made again from the last seal. */
function startOf(run: RunRecord, experiment: string): { commit: string; tree: string } {
  const { experiments } = run.ledger.state
  const node = experiments.get(experiment)
  const repaired = experiments.get(node?.created.repair ?? '')
  const sealed = (node && lastAttempt(node)?.sealed) ?? (repaired && lastAttempt(repaired)?.sealed)
  return sealed ? { commit: sealed.commit, tree: sealed.tree } : baseOf(run, experiment)
}

/** The candidate of a kept experiment's last verdict. */
export function judgedCommit(
  { ledger }: Pick<RunRecord, 'ledger'>,
  experiment: string,
): { commit: string; tree: string } | null {
  const node = ledger.state.experiments.get(experiment)
  const attempt = node && (lastKept(node) ?? lastAttempt(node))
  return attempt ? { commit: attempt.sealed.commit, tree: attempt.sealed.tree } : null
}

/** Runs `worktree.setup`, or copies what an equal one made. Empty when there is none. */
async function setUp(
  run: OpenRun,
  experiment: string,
  path: string,
  tree: string,
): Promise<Result<Pick<WorktreeFacts, 'setup_ms' | 'setup_reused'>>> {
  const { setup } = run.spec.worktree
  if (!setup) return ok({})
  const environment = benchmarkEnvironment(run)
  if (!environment.ok) return environment
  const baseline = (judgedCommit(run, BASELINE) ?? run.started.base).tree
  const keys = await keysOfSetup(run, environment.value, { tree, baseline })
  if (!keys.ok) return keys
  const at: SettingUp = { site: run.site, experiment, top: path, keys: keys.value, tell: run.tell }
  const began = performance.now()
  const reused = await reuseSetup(at)
  if (reused) {
    const ms = Math.round(performance.now() - began)
    const message = `${experiment}: reused the setup of ${reused.from} (${duration(ms)} instead of ${duration(reused.ms)})`
    run.tell({ type: 'log', message })
    return ok({ setup_ms: ms, setup_reused: reused })
  }
  run.tell({ type: 'preparing', what: `setup of ${experiment}, at most ${duration(setup.timeoutMs)}` })
  const before = beforeSetup(at)
  const done = await runPreparation({
    command: setup.command,
    timeoutMs: setup.timeoutMs,
    cwd: join(path, run.started.prefix),
    environment: environment.value,
    folder: experimentFolder(run.paths, experiment),
    // No agent works there before setup has ended.
    folders: [path],
    name: 'setup',
    signal: run.signal,
  })
  if (done.passed) {
    const ms = Math.round(done.wall_ms)
    run.tell({ type: 'log', message: `${experiment}: set up in ${duration(ms)}` })
    const why = before && (await keepSetup(at, before, ms))
    if (why !== null)
      run.tell({ type: 'log', message: `each new worktree runs worktree.setup again, since ${why}` })
    return ok({ setup_ms: ms })
  }
  return fail({
    kind: 'failed',
    code: 'setup_failed',
    message: `worktree.setup failed in the worktree of ${experiment}: ${lastLine(done.output) || 'it printed nothing'}`,
    hint: 'run it by hand in that folder, repair worktree.setup, then repeat the command',
    at: [path, lastLines(done.output)].filter(Boolean).join('\n'),
  })
}
