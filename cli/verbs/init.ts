/**
 * `init`: checks the spec, begins a run, and measures its baseline. With `--prepare` it opens the worktree of the baseline for a
 * benchmark to be built there. An interrupted `init` is continued when it is called again.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { canaryFact, checkCanary } from '../diagnose/canary.ts'
import { lookOutside, outsideWarnings } from '../diagnose/outside-repository.ts'
import { networkFolders } from '../doctor/checks/disk.ts'
import { inCrowd, isSpoiltByCrowd, spoils } from '../evaluate/crowd.ts'
import { shown } from '../evaluate/figure.ts'
import { oddDirection } from '../evaluate/plausible.ts'
import { type NarrowedFrom, narrowed, narrowedFrom, readTarget } from '../experiment/attribute.ts'
import {
  type BaselineAnswer,
  describeBaseline,
  judgeBaseline,
  type NeedsLooser,
} from '../experiment/baseline.ts'
import { textOfVersion } from '../experiment/text.ts'
import { removeWorktree } from '../git/worktrees.ts'
import type { RunStarted } from '../ledger/events.ts'
import { BASELINE } from '../ledger/state.ts'
import { withLock } from '../lock.ts'
import { importIdeas } from '../loop/ideas.ts'
import {
  chooseIsolation,
  hidesCheckout,
  isolationWarnings,
  recordIsolation,
} from '../measure/choose-isolation.ts'
import type { IsolationChoice } from '../measure/isolation.ts'
import { recordedSamples } from '../measure/steps.ts'
import { ensureWorktree } from '../measure/worktree.ts'
import { call, next, type Said } from '../next.ts'
import {
  checkoutAround,
  findSite,
  initLock,
  listRuns,
  runtimeFolder,
  SPEC_FILE,
  worktreePath,
} from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { digestOf } from '../run/data.ts'
import { isSameHoldout } from '../run/holdout.ts'
import { type OpenRun, open, openRun, specFileOf } from '../run/open.ts'
import { checkPreconditions, type Preconditions } from '../run/preconditions.ts'
import { createBaseline, sealBase, startRun, withdrawRun } from '../run/start.ts'
import { frozenHash } from '../spec/hash.ts'
import { type Imported, importLog, importSpec } from '../spec/import/import.ts'
import type { LoggedIdeas } from '../spec/import/log.ts'
import type { ImportFolder, Mapping } from '../spec/import/mapping.ts'
import { TEMPLATE } from '../spec/template.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { printable } from '../terminal/output.ts'
import { LEAVING } from '../terminal/progress.ts'
import { shellWord } from '../text.ts'
import { describeFacts, type InitFacts, initFacts } from '../view/init-facts.ts'
import { referenceText } from './guide.ts'

interface InitAnswer {
  run: string
  spec_hash: string
  base: string
  baseline: BaselineAnswer
  warnings: string[]
  facts: InitFacts
  worktree?: string
  narrowed?: RunStarted['narrowed']
  repeated?: true
}

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  if (args.on('template')) return ok({ data: { template: TEMPLATE }, text: () => TEMPLATE })
  const language = args.text('benchmark')
  if (language !== null) {
    const benchmark = referenceText(`benchmark-template.${language === 'python' ? 'py' : 'mjs'}`)
    return ok({ data: { benchmark }, text: () => benchmark })
  }
  const imported = importFrom(context, args)
  if (!imported.ok) return imported
  const target = targetOf(context, args)
  if (!target.ok) return target
  if (imported.value && args.on('print'))
    return ok('ideas' in imported.value ? printedLog(imported.value) : printed(imported.value))
  const around = checkoutAround(context.cwd)
  const misplaced = around && inWorktree(around.top)
  if (misplaced) return fail(misplaced)
  if (imported.value && !('ideas' in imported.value)) {
    const pinned = await writePins(context, imported.value)
    if (!pinned.ok) return pinned
    const written = writeImported(imported.value)
    if (!written.ok) return written
  }
  if (!around) return begin(context, args, imported.value, target.value)
  const lock = initLock(context.env, around.commonDir)
  mkdirSync(dirname(lock), { recursive: true, mode: 0o700 })
  return withLock(lock, () => begin(context, args, imported.value, target.value))
}

/** The experiment and task of `--target`; null without it. */
function targetOf(context: Context, args: Parsed): Result<NarrowedFrom | null> {
  const text = args.text('target')
  if (text === null) return ok(null)
  const other = args.positionals[0] ?? args.text('from')
  if (other !== null && other !== undefined)
    return fail({
      kind: 'usage',
      code: 'bad_arguments',
      message: `both ${other} and --target say which spec`,
      hint: 'leave one of them out',
    })
  const named = readTarget(text)
  if (!named.ok) return named
  const ids = [named.value.experiment]
  const opened = openRun(context, args.text('run'), { key: null, token: null, ids })
  return opened.ok ? narrowedFrom(opened.value, named.value) : opened
}

/** The log of an old run: it says what was tried, and not how a run goes. */
interface FromLog extends LoggedIdeas {
  /** The file, as the user named it. */
  from: string
}

interface FromFile extends Imported {
  /** The file, as the user named it. */
  from: string
  /** Where its spec belongs. */
  path: string
}

/** Reads the file of `--from`; null without one. Nothing is written. */
function importFrom(context: Context, args: Parsed): Result<FromFile | FromLog | null> {
  const from = args.text('from')
  if (from === null) {
    if (!args.on('print')) return ok(null)
    return fail({
      kind: 'usage',
      code: 'bad_arguments',
      message: '--print needs --from',
      hint: next`${call('init', '--from', 'task.yaml', '--print')}; a spec to begin with: ${call('init', '--template')}`,
    })
  }
  const file = resolve(context.cwd, from)
  const text = readText(file, from)
  if (!text.ok) return text
  const log = importLog({ text: text.value, file: from })
  if (log !== null) return log.ok ? ok({ ...log.value, from }) : log
  if (args.positionals[0] !== undefined)
    return fail({
      kind: 'usage',
      code: 'bad_arguments',
      message: `both ${args.positionals[0]} and --from ${from} say which spec`,
      hint: 'leave one of them out',
    })
  const folders = { folder: dirname(file), root: checkoutAround(dirname(file))?.top ?? dirname(file) }
  const places = { folder: placeIn(folders.folder, file), root: placeIn(folders.root, file) }
  const imported = importSpec({ text: text.value, file: from }, places, args.text('run'))
  if (!imported.ok) return imported
  return ok({ ...imported.value, from, path: join(folders[imported.value.base], SPEC_FILE) })
}

const placeIn = (folder: string, file: string): ImportFolder => ({
  file: relative(folder, file),
  has: (name) => existsSync(join(folder, name)),
  isFolder: (path) => statSync(join(folder, path), { throwIfNoEntry: false })?.isDirectory() ?? false,
})

function readText(path: string, shown: string): Result<string> {
  try {
    return ok(readFileSync(path, 'utf8'))
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return fail({
      kind: 'usage',
      code: 'spec_unreadable',
      message: missing ? `there is no ${shown}` : `${shown} cannot be read: ${(error as Error).message}`,
      hint: next`name the file of the other program: ${call('init', '--from', 'tasks/NAME/task.yaml')}`,
      at: path,
    })
  }
}

/** The texts that a suite begins with, where they differ from those that are there. Problem `unknown_version`. */
async function writePins(context: Context, { pins, suite, path }: FromFile): Promise<Result<void>> {
  if (pins.length === 0) return ok(undefined)
  const site = findSite(dirname(path))?.site ?? null
  const opened = (site === null ? [] : listRuns(site)).map((name) => site && open(context, site, name))
  const runs = opened.flatMap((one) => (one?.ok ? [one.value] : []))
  const texts: [string, string][] = []
  for (const { artifact, file, version } of pins) {
    const text = await textOfVersion(runs, { suite: suite ?? '', artifact, version })
    if (!text.ok) return text
    texts.push([join(dirname(path), file), text.value])
  }
  for (const [file, text] of texts) if (readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
  return ok(undefined)
}

/** Never overwrites a spec. */
function writeImported({ path, yaml, from }: FromFile): Result<void> {
  try {
    writeFileSync(path, yaml, { flag: 'wx' })
    return ok(undefined)
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    if (exists && readFileSync(path, 'utf8') === yaml) return ok(undefined)
    return fail({
      kind: 'refused',
      code: exists ? 'spec_exists' : 'not_written',
      message: exists
        ? `${path} exists, and differs from what ${from} gives`
        : `${path} cannot be written: ${(error as Error).message}`,
      hint: next`${exists ? next`to use it: ${call('init')}; ` : ''}to see what would be written: ${call('init', '--from', from, '--print')}`,
      at: path,
    })
  }
}

const printed = ({ from, path, format, yaml, lines }: FromFile): VerbAnswer => ({
  data: { from, spec: path, format, yaml, keys: lines },
  text: () => [yaml, ...lines.map((line) => `# ${mappingLine(line)}`)].map(printable).join('\n'),
})

const mappingLine = ({ from, to, why }: Mapping): string =>
  to === null ? `${from}: has no counterpart; ${why}` : `${from} → ${to}${why === null ? '' : ` (${why})`}`

/** The shell of an agent may still be in a worktree, and a spec that is written there would be part of the candidate. */
function inWorktree(top: string): Problem | null {
  const { site, run, experiment } = findSite(top) ?? {}
  if (!site || !run || !experiment || top !== worktreePath(site, run, experiment)) return null
  return {
    kind: 'refused',
    code: 'in_worktree',
    message: `this is the worktree of ${experiment}; a run can only be started in the project itself`,
    hint: `cd ${shellWord(site.root)}, then repeat the command`,
  }
}

async function begin(
  context: Context,
  args: Parsed,
  from: FromFile | FromLog | null,
  target: NarrowedFrom | null,
): Promise<Result<VerbAnswer>> {
  const prepare = args.on('prepare')
  const own = target && resolve(target.run.started.checkout, specFileOf(target.run))
  const checked = await checkPreconditions(context, {
    spec: own ?? (from && 'path' in from ? from.path : args.positionals[0]) ?? null,
    includeDirty: args.on('include-dirty'),
    prepare,
    holdout: args.text('holdout'),
    base: target?.base,
  })
  const ground = checked.ok && target ? narrowed(checked.value, target) : checked
  if (!ground.ok) return ground
  const how = { prepare, fresh: args.on('new'), skipCanary: args.on('no-canary'), key: args.key, target }
  const answer = await start(context, ground.value, how)
  if (!answer.ok) {
    if (listRuns(ground.value.site).length === 0) await ground.value.undo()
    return answer
  }
  if (from && 'ideas' in from) return withIdeas(context, ground.value, answer.value, from)
  const imported = from && { from: from.from, spec: from.path, format: from.format, keys: from.lines }
  return ok({
    data: { ...answer.value, ...(imported && { imported }) },
    text: () => {
      const told = from
        ? [`${from.from} became ${from.path}:`, ...from.lines.map((line) => `  ${mappingLine(line)}`)]
        : []
      return [...told.map(printable), ...describe(answer.value, ground.value)]
    },
    wrap: true,
  })
}

/** The ideas of a log, in the backlog of the run. */
function withIdeas(
  context: Context,
  ground: Preconditions,
  answer: InitAnswer,
  log: FromLog,
): Result<VerbAnswer> {
  const opened = open(context, ground.site, answer.run)
  if (!opened.ok) return opened
  const added = importIdeas(opened.value, log)
  if (!added.ok) return added
  const { accepted, refused, approved } = added.value
  const told = `${log.from}: ${accepted.length} ideas added to the backlog, ${accepted.filter(({ tried }) => tried !== undefined).length} of them tried before; ${refused.length} refused`
  return ok({
    data: { ...answer, imported: { from: log.from, format: 'log', accepted, refused, approved } },
    text: () => [
      printable(told),
      ...refused.map(({ message, hypothesis }) => printable(`  refused: ${hypothesis}: ${message}`)),
      ...describe(answer, ground),
    ],
    wrap: true,
  })
}

const printedLog = ({ from, ideas, approved }: FromLog): VerbAnswer => ({
  data: { from, format: 'log', ideas, approved },
  text: () =>
    ideas.map(({ hypothesis, tried }) =>
      printable(tried === undefined ? `left: ${hypothesis}` : `tried (${tried}): ${hypothesis}`),
    ),
})

async function start(
  context: Context,
  ground: Preconditions,
  { fresh, key, ...how }: How & { fresh: boolean; key: string | null },
): Promise<Result<InitAnswer>> {
  const existing = await sameRun(context, ground, { fresh, key, beside: how.target !== null })
  if (!existing.ok) return existing
  if (existing.value) {
    const whole = createBaseline(context, ground.site, existing.value.run)
    if (!whole.ok) return whole
    const answer = await finish(context, whole.value, ground, { ...how, repeated: true, mayLoosen: true })
    if (!answer.ok || !('looser' in answer.value)) return answer as Result<InitAnswer>
    return startNew(context, ground, { ...how, key, isolation: answer.value.looser })
  }
  return startNew(context, ground, { ...how, key, isolation: null })
}

/** A run whose baseline needs a looser isolation is withdrawn and begun again with that one. */
async function startNew(
  context: Context,
  ground: Preconditions,
  { key, isolation, ...how }: How & { key: string | null; isolation: IsolationChoice | null },
): Promise<Result<InitAnswer>> {
  const { prepare, target } = how
  const from = target && { run: target.run.run, experiment: target.experiment, task: target.task }
  const checkout = ground.checkout.top
  const started = startRun(context, { ...ground, checkout, prepare, key, ...(from && { narrowed: from }) })
  if (!started.ok) return started
  const chosen = isolation ? recordIsolation(started.value, isolation) : ok(undefined)
  if (!chosen.ok) return chosen
  const mayLoosen = isolation === null
  const answer = await finish(context, started.value, ground, { ...how, repeated: false, mayLoosen })
  if (!answer.ok || !('looser' in answer.value)) return answer as Result<InitAnswer>
  return startNew(context, ground, { ...how, key, isolation: answer.value.looser })
}

interface How {
  prepare: boolean
  skipCanary: boolean
  target: NarrowedFrom | null
}

/** Seals and judges the baseline, or opens its worktree; continues where an interrupted `init` ended. */
async function finish(
  context: Context,
  opened: OpenRun,
  ground: Preconditions,
  how: How & { repeated: boolean; mayLoosen: boolean },
): Promise<Result<InitAnswer | NeedsLooser>> {
  const { prepare, skipCanary, repeated, mayLoosen } = how
  const isolation = await isolated(opened)
  if (!isolation.ok) return isolation
  const baseline = opened.ledger.state.experiments.get(BASELINE)
  if (prepare && baseline?.status !== 'kept') {
    const worktree = await ensureWorktree(opened, BASELINE)
    if (worktree.ok) return ok(await answerOf(opened, ground, { repeated, worktree: worktree.value }))
    return repeated ? worktree : takeBackWorktree(opened, worktree.problem)
  }
  if (baseline?.status !== 'kept') {
    const sealed = baseline?.attempts.length ? ok(opened) : await sealBase(opened)
    if (!sealed.ok) return sealed
    let leaving = false
    context.onLeave(() => {
      leaving = true
      context.tell(LEAVING)
    })
    const judged = await judgeBaseline(opened, { mayLoosen })
    if (!judged.ok) {
      if (isInTheWay(opened, judged.problem)) withdrawRun(opened)
      return judged
    }
    if ('looser' in judged.value) {
      if (isUntouched(opened)) {
        withdrawRun(opened)
        return ok(judged.value)
      }
      const loosened = recordIsolation(opened, judged.value.looser)
      return loosened.ok ? finish(context, opened, ground, { ...how, mayLoosen: false }) : loosened
    }
    if (leaving) return fail(left(opened))
  }
  context.onLeave(() => context.tell(LEAVING))
  const canary = await checkCanary(opened, { skip: skipCanary })
  if (canary.ok) {
    const looked = await lookOutside(opened, { isolated: hidesCheckout(opened) })
    return looked.ok ? ok(await answerOf(opened, ground, { repeated })) : looked
  }
  if (BROKEN_SET_UP.includes(canary.problem.code) && isUntouched(opened)) withdrawRun(opened)
  return canary
}

/** Decides how the run is isolated, unless that is decided already. A run that cannot be isolated as its spec demands is withdrawn. */
async function isolated(opened: OpenRun): Promise<Result<void>> {
  const choice = await chooseIsolation(opened)
  if (choice.ok)
    return choice.value && !opened.ledger.state.isolation
      ? recordIsolation(opened, choice.value)
      : ok(undefined)
  withdrawRun(opened)
  return choice
}

/** No agent has the worktree yet, and the run of the old spec would be in the way of a corrected one. */
async function takeBackWorktree(run: OpenRun, problem: Problem): Promise<Result<never>> {
  const removed = await removeWorktree(run.site, worktreePath(run.site, run.run, BASELINE))
  if (!removed.ok) return removed
  withdrawRun(run)
  const hint = next`correct worktree.setup and run ${call('init')} again; nothing of this run is left`
  return fail(problem.code === 'setup_failed' ? { ...problem, hint } : problem)
}

const left = ({ run: name }: OpenRun): Problem => ({
  kind: 'interrupted',
  code: 'interrupted',
  message: `the baseline of ${name} is judged, but init was interrupted before it tested whether the benchmark reads the mutable files`,
  hint: next`continue with: ${call('init')}`,
})

/** Whether only the base is in the run. A run with experiments, or with a benchmark built in exp_0000, is not withdrawn. */
function isUntouched({ ledger, started }: OpenRun): boolean {
  const { experiments } = ledger.state
  const baseline = experiments.get(BASELINE)
  return experiments.size === 1 && baseline?.attempts.at(-1)?.sealed.tree === started.base.tree
}

/** Problems of the spec or the benchmark: a run that cannot compare anything is only in the way. */
const BROKEN_SET_UP = ['blind_benchmark', 'shared_build']
const WITHDRAWN = ['baseline_failed', 'environment_needed', 'isolation_refused']
/** The same command can continue with the run as it is, or a different command judges its baseline. */
const GOES_ON = [
  'disk_full',
  'not_written',
  'claim_elsewhere',
  'claim_dead',
  'is_running',
  'judged',
  'taken_over',
  'stale_seal',
]

/** After any other problem, half a run would be in the way of the next start with a corrected spec or commit. */
const isInTheWay = (run: OpenRun, { code, kind }: Problem): boolean =>
  WITHDRAWN.includes(code) || (kind !== 'interrupted' && !GOES_ON.includes(code) && isUntouched(run))

/** The run that this `init` asks for again. A run of a different spec or base is a refusal, unless the new one belongs `beside` it. */
async function sameRun(
  context: Context,
  ground: Preconditions,
  { fresh, key, beside }: { fresh: boolean; key: string | null; beside: boolean },
): Promise<Result<OpenRun | null>> {
  const runs = listRuns(ground.site)
  const wanted = frozenHash(ground.spec)
  for (const name of runs) {
    const opened = open(context, ground.site, name)
    if (!opened.ok) return opened
    const { frozen_hash, base, data, prefix, holdout } = opened.value.started
    if (key !== null && opened.value.started.key === key) return ok(opened.value)
    if (fresh) continue
    const same = ground.data.length === 0 ? !data : data?.sha256 === digestOf(ground.data)
    const heldOut = await isSameHoldout(context.env, holdout, ground.holdout)
    const place = base.commit === ground.base.commit && prefix === ground.prefix
    if (frozen_hash === wanted && place && same && heldOut) return ok(opened.value)
  }
  if (fresh || beside || runs.length === 0) return ok(null)
  return fail({
    kind: 'refused',
    code: 'run_exists',
    message: `${runs.join(', ')} ${runs.length === 1 ? 'exists' : 'exist'} here, with a different spec, folder, base commit, data or held-out file`,
    hint: next`to start a new run beside it: ${call('init', '--new')}`,
    at: ground.site.root,
    data: { runs },
  })
}

async function answerOf(
  opened: OpenRun,
  ground: Preconditions,
  more: { repeated: boolean; worktree?: string },
): Promise<InitAnswer> {
  const { run: name, started } = opened
  return {
    run: name,
    spec_hash: started.spec_hash,
    base: started.base.commit,
    baseline: describeBaseline(opened),
    warnings: [
      ...started.warnings,
      ...onNetwork(opened),
      ...crowdAtBaseline(opened),
      ...isolationWarnings(opened),
      ...doubtsOnSetUp(opened),
      ...oddDirections(opened),
    ],
    facts: await initFacts(opened, ground),
    ...(started.narrowed && { narrowed: started.narrowed }),
    ...(more.worktree === undefined ? {} : { worktree: more.worktree }),
    ...(more.repeated ? { repeated: true as const } : {}),
  }
}

/** Warnings about samples that see more than their own checkout. */
const doubtsOnSetUp = (opened: OpenRun): string[] => {
  const apart = canaryFact(opened)?.apart
  return [...(apart === undefined ? [] : [apart]), ...outsideWarnings(opened)]
}

/** With a wrong direction, the run would keep each candidate that is worse. */
const oddDirections = (opened: OpenRun): string[] => {
  const { name, direction, unit } = opened.spec.metric
  return [oddDirection(direction, name, describeBaseline(opened).unit ?? unit ?? null) ?? []].flat()
}

/** The ledger and the leases need guarantees that only a local file system gives. */
const onNetwork = ({ site, env }: OpenRun): string[] =>
  networkFolders([site.state, runtimeFolder(env)]).map(
    ({ what, cause, repair }) => `${what}: ${cause}; ${repair}`,
  )

function describeNoise({ noise, samples, spread }: BaselineAnswer): string {
  if (noise === 'deterministic' && samples === 1)
    return 'one sample: each candidate is compared by one sample of its own, so noise can decide'
  if (noise === 'deterministic')
    return `${samples} equal samples: one sample can reject a candidate, two can keep it`
  const range = spread === null ? '' : `, which lie up to ${shown(spread * 100)} % apart`
  return `the median of ${samples} samples${range}: compared in pairs`
}

/** Whether the machine was quiet enough for the baseline's last verdict, if it rests on the wall clock. */
function crowdAtBaseline(run: OpenRun): string[] {
  const { metric, constraints, protected: guarded } = run.spec
  const name = [metric.name, ...[...constraints, ...guarded].map((one) => one.metric)].find(isSpoiltByCrowd)
  const attempt = run.ledger.state.experiments.get(BASELINE)?.attempts.at(-1)?.attempt
  if (name === undefined || attempt === undefined) return []
  const samples = recordedSamples(run, BASELINE, attempt)
  const crowded = samples.filter(inCrowd).length
  return spoils(crowded, samples.length)
    ? [
        `other programs left no processor idle while ${crowded} of ${samples.length} samples of the baseline were taken: as long as that lasts, Assay accepts no gain in ${name} and rejects no candidate for a limit on it; stop those programs, or measure cpu_ms, which hardly depends on them (assay guide verdict)`,
      ]
    : []
}

function describe(answer: InitAnswer, ground: Preconditions): Said[] {
  const { spec, base } = ground
  const { baseline, narrowed: from } = answer
  const part = from ? `, task ${from.task} of ${from.experiment} in ${from.run}` : ''
  const said = [
    ...describeFacts(answer.facts, ground),
    ...answer.warnings.map((warning) => `Note: ${warning}`),
  ].map(printable)
  const first = printable(
    `${answer.run}  ${spec.name}${part}, on ${base.commit.slice(0, 10)}${answer.repeated ? ' (it existed already)' : ''}`,
  )
  if (answer.worktree) {
    const begin = next`Build the benchmark in ${printable(answer.worktree)}, then: ${call('run', BASELINE)}, then ${call('init')} again, which checks the benchmark`
    return [first, begin, ...said]
  }
  const unit = baseline.unit === null ? '' : ` ${baseline.unit}`
  return [
    first,
    printable(
      `Baseline: ${spec.metric.name} = ${shown(baseline.value)}${unit} (${spec.metric.direction}; ${describeNoise(baseline)})`,
    ),
    ...said,
    spec.agent
      ? next`Next: ${call('loop')}`
      : next`Next: ${call('new', '-m', 'your idea')}, edit, then ${call('run', 'ID')}`,
  ]
}
