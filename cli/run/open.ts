/** Which run a command means, and everything that it needs to work on it. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { buildEnvironment, parseEnvironmentFile } from '../evaluate/environment.ts'
import { fileText } from '../files.ts'
import { endUnfinished, type Torn } from '../ledger/append.ts'
import { unknownExperiment } from '../ledger/decide.ts'
import { FORMAT_NAME, type RunStarted } from '../ledger/events.ts'
import { Ledger } from '../ledger/ledger.ts'
import { currentRound, type Experiment, type State } from '../ledger/state.ts'
import { placeOfTask } from '../ledger/task-id.ts'
import { call, next } from '../next.ts'
import type { Tell } from '../notices.ts'
import { findSite, isRunId, listRuns, type RunPaths, runPaths, type Site, SPEC_FILE } from '../paths.ts'
import { redact, rememberSecrets } from '../redact.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { FixedSpec, LiveSpec, Spec } from '../spec/spec.ts'
import { stopReason } from './budget.ts'
import type { HeldOutOnNode } from './holdout.ts'

/** The user's spec file of a run, relative to the checkout. */
export const specFileOf = ({ started }: Pick<OpenRun, 'started'>): string =>
  started.spec_file ?? [started.prefix, SPEC_FILE].filter(Boolean).join('/')

// ----------------------------------------------------------------
// The values that the spec of a run passes on to the benchmark: none of them may come back in what is
// stored or shown.

/** A file that cannot be read is reported where the environment is needed; here its values are only unknown. */
function rememberSecretsOf(run: { spec: FixedSpec; started: RunStarted; env: NodeJS.ProcessEnv }): void {
  const { file, ...rest } = run.spec.measure.environment
  const text = file === null ? '' : (fileText(resolve(run.started.checkout, run.started.prefix, file)) ?? '')
  const fromFile = parseEnvironmentFile(text, file ?? '')
  const values = fromFile.ok ? fromFile.value : {}
  const passed = buildEnvironment({ ...rest, file: null }, run.env, () => null)
  rememberSecrets({ ...(passed.ok ? passed.value : {}), ...values }, Object.keys(values))
}

/** The world as the layers below `verbs` may see it. */
export interface Surroundings {
  /** Absolute. */
  cwd: string
  env: NodeJS.ProcessEnv
  tell: Tell
  /** Aborted by Ctrl-C, SIGTERM or SIGHUP; a verb then stops soon, with a problem of kind `interrupted`. */
  signal: AbortSignal
  clock: () => Date
  /** Random bytes, as lower-case hex. */
  random: (bytes: number) => string
  /** Held-out data on a node of an executor; absent: they are where `init` found them. */
  heldOut?: HeldOutOnNode
  /** Takes what is to be done when the answer was given; the last of each name counts. Absent = nothing is. */
  afterwards?: (name: string, act: () => void) => void
  /** Called when the run is known by a key, a token or an id alone: a call without that would reach none, or a different one. */
  foundByName?: (run: string) => void
}

/** What a run recorded, and where that lies: enough to look back, nothing to act with. */
export interface RunRecord {
  site: Site
  run: string
  paths: RunPaths
  ledger: { readonly state: State }
  started: RunStarted
  /** What does not change while the run lives; for the rest see `liveSpec`. */
  spec: FixedSpec
  /** The whole spec as it was at `init`. */
  begun: Spec
}

/** What tells a job of changes, since it cannot read the ledger. */
export interface Informed {
  /** Learns which experiment is the best now. Absent where the ledger is read. */
  news?: () => Promise<void>
}

/** A run whose ledger is open; its first event is there. Only the upper layers take it, and what of `measure/` acts on a run. */
export interface OpenRun extends Surroundings, RunRecord, Informed {
  ledger: Ledger
}

/** What of the spec may change, as it is after the last event that was read: ask at each use, and keep no copy. */
export function liveSpec(run: { begun: Spec; ledger: { state: Pick<State, 'configured'> } }): LiveSpec {
  const changed = run.ledger.state.configured.map(({ sections }) => sections)
  // As they were read from a spec, like `spec.json` itself.
  return Object.assign({}, run.begun, ...changed) as LiveSpec
}

/** What of a call tells which run is meant, when there are several. */
interface CallNames {
  /** Idempotency key. */
  key: string | null
  /** Token of a round. */
  token: string | null
  /** Of experiments, and of a task. */
  ids: readonly string[]
}

/**
 * The run named by `--run`, else the one whose worktree this is, else the only one that has the key or the token of the call,
 * else the only active one, else the only one that has its experiment or its task.
 */
export function openRun(
  world: Surroundings,
  wanted: string | null,
  named: CallNames = { key: null, token: null, ids: [] },
): Result<OpenRun> {
  const found = findSite(world.cwd)
  if (!found) return fail(noRun(world.cwd))
  if (wanted !== null) {
    if (!isRunId(wanted) || !listRuns(found.site).includes(wanted))
      return fail(unknownRun(wanted, found.site))
    return open(world, found.site, wanted)
  }
  if (found.run) return open(world, found.site, found.run)
  return amongRuns(world, found.site, named)
}

function amongRuns(world: Surroundings, site: Site, named: CallNames): Result<OpenRun> {
  const runs = listRuns(site)
  const [first] = runs
  if (first === undefined) return fail(noRun(site.root))
  if (runs.length === 1) return open(world, site, first)
  const all: OpenRun[] = []
  for (const run of runs) {
    const opened = open(world, site, run)
    if (!opened.ok) return opened
    all.push(opened.value)
  }
  const active = all.filter(({ ledger }) => stopReason(ledger.state) === null)
  const those = all.filter((run) => hasMarks(run, named))
  const ofTask =
    those.length === 0 ? (active.length > 0 ? active : all).filter((run) => hasIds(run, named)) : those
  for (const found of [those, active, ofTask]) {
    const [only] = found
    if (only === undefined || found.length > 1) continue
    if (active.length !== 1 || only !== active[0]) world.foundByName?.(only.run)
    return ok(only)
  }
  return fail(severalRuns(site, ofTask.length > 0 ? ofTask : all, ofTask.length > 0 ? named : null))
}

/** No other run has such a key or token: they are random, or a program's own. */
const hasMarks = ({ ledger: { state } }: OpenRun, { key, token }: CallNames): boolean =>
  (key !== null && state.keys.has(redact(key))) ||
  (token !== null && [...state.rounds].some(({ opened }) => opened.token === token))

/** Ids are counted in each run, so several may have one. */
const hasIds = ({ ledger: { state } }: OpenRun, { ids }: CallNames): boolean =>
  ids.length > 0 &&
  ids.every((id) => state.experiments.has(id) || state.answers.has(id) || isTaskOf(state, id))

/** Whether it could be a task of the open round, or of an experiment of it: `r3/brief`, `r3/l1/d1/verify`. */
function isTaskOf(state: State, id: string): boolean {
  const place = placeOfTask(id)
  const open = currentRound(state)
  if (!place || !open || open.round !== place.round) return false
  return place.lane === null || (open.briefed?.lanes.some(({ lane }) => lane === place.lane) ?? false)
}

export const noRun = (at: string): Problem => ({
  kind: 'refused',
  code: 'no_run',
  message: 'no run was found here',
  hint: next`start one: ${call('init')} (${call('init', '--template')} prints a spec to begin with)`,
  at,
})

function severalRuns(site: Site, runs: readonly OpenRun[], named: CallNames | null): Problem {
  const names = runs.map(({ run }) => run)
  const what = named?.ids.join(' and ') ?? null
  return {
    kind: 'usage',
    code: 'several_runs',
    message:
      what === null
        ? `there are ${names.length} runs here: ${names.join(', ')}`
        : `${names.length} runs here have ${what}: ${names.join(', ')}`,
    hint: `say which one: --run ${names.at(-1)}`,
    at: site.root,
    data: { runs: names },
  }
}

export function open(world: Surroundings, site: Site, run: string): Result<OpenRun> {
  const paths = runPaths(site, run)
  const ledger = Ledger.open(paths.ledger)
  if (!ledger.ok) return ledger
  if (ledger.value.hasLongTail) world.afterwards?.(paths.ledger, () => ledger.value.keep())
  const started = ledger.value.state.run
  if (!started) {
    return fail({
      kind: 'refused',
      code: 'not_started',
      message: `${run} did not start: init was interrupted`,
      hint: next`run ${call('init')} again`,
      at: paths.ledger,
    })
  }
  const spec = JSON.parse(readFileSync(paths.spec, 'utf8')) as Spec
  const ruled = started.git_rules === undefined ? site : { ...site, rules: started.git_rules }
  const opened = { ...pick(world), site: ruled, run, paths, ledger: ledger.value, started, spec, begun: spec }
  rememberSecretsOf(opened)
  return ok(opened)
}

const pick = ({ cwd, env, tell, signal, clock, random }: Surroundings): Surroundings => ({
  cwd,
  env,
  tell,
  signal,
  clock,
  random,
})

function unknownRun(wanted: string, site: Site): Problem {
  const runs = listRuns(site)
  return {
    kind: 'usage',
    code: 'unknown_run',
    message: `there is no run ${wanted}`,
    hint: runs.length > 0 ? `runs here: ${runs.join(', ')}` : next`start one: ${call('init')}`,
    at: site.root,
  }
}

/** The experiment of that id; else a problem that names the verb which lists them. */
export function nodeFor(run: RunRecord, experiment: string): Result<Experiment> {
  const node = run.ledger.state.experiments.get(experiment)
  return node ? ok(node) : fail({ kind: 'usage', ...unknownExperiment(run.run, experiment) })
}

// ---------------------------------------------------------------- a ledger whose last line is unfinished
// Ends an unfinished line of a ledger, as the next writer would.

/** null when there is nothing to heal. */
export function repairTail(
  file: string,
  { clock, random }: Pick<Surroundings, 'clock' | 'random'>,
): Result<Torn | null> {
  const done = endUnfinished(file, (torn) =>
    JSON.stringify({ v: FORMAT_NAME, id: random(9), at: clock().toISOString(), type: 'healed', ...torn }),
  )
  return done.ok ? ok(done.value) : done
}
