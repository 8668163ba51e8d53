/** A spec as the rest of Assay uses it: the config of each part, in that part's own type. */

import type { ReadFrom } from '../evaluate/benchmark-answer.ts'
import type { MinImprovement } from '../evaluate/compare.ts'
import type { ConstraintConfig } from '../evaluate/constraints.ts'
import type { GateConfig } from '../evaluate/gates.ts'
import type { CommandConfig, MeasureConfig } from '../evaluate/measure.ts'
import { PRESET_NAMES, type PresetName } from '../evaluate/presets/registry.ts'
import type { ProtectedConfig } from '../evaluate/protected.ts'
import type { ExecutorConfig } from '../executor/config.ts'
import type { HostName, ProgramName } from '../hosts/registry.ts'
import type { TuneParameter } from '../hosts/tune/space.ts'
import { PROMPT_VERSION, type Scoring } from '../judge/prompt.ts'
import type { Bound, Direction } from '../ledger/events.ts'
import type { SuiteConfig } from '../suite/config.ts'
import { mapParts } from '../suite/loss.ts'
import type { ReadJudge } from './keys/judge.ts'
import type { ScopeConfig } from './rules.ts'
import { LOSS, type ReadSpec } from './schema.ts'

export interface WorktreeConfig {
  setup: { command: string | string[]; inputs: string[]; timeoutMs: number } | null
  build: { command: string | string[]; timeoutMs: number } | null
  /** Globs of files outside of git, relative to the folder of the spec. */
  data: string[]
  /** Paths that each build gets as the build of the baseline left them; absent = none, so that older hashes hold. */
  cache?: string[]
}

export interface MetricConfig {
  name: string
  direction: Direction
  /** null = the spec does not say it. Specs that older versions stored lack the key. */
  unit?: string | null
  target: number | null
  min_improvement: MinImprovement
  /** Absent when the spec does not say it, so that older hashes hold. */
  floor?: number
}

export interface AgentConfig {
  host: HostName
  /** Never null with `host: command`. */
  command: string | string[] | null
  timeoutMs: number
  silenceMs: number
  concurrency: number
  model: string | null
  effort: string | null
  /** Settings of some roles; those of `hard` are for hard briefs. */
  roles: Record<string, { model: string | null; effort: string | null; timeoutMs: number | null }>
  permissions: 'safe' | 'unsafe'
  /** Absent in the spec of a run that an older version began. */
  sandbox?: boolean
  fallback: ProgramName[]
  tune: { parameters: (TuneParameter & { name?: string })[] }
}

/** A model that compares answers. All of it is part of what is measured. */
export interface JudgeConfig
  extends Pick<
    ReadJudge,
    'model' | 'effort' | 'items' | 'task' | 'batch' | 'seed' | 'strata' | 'holdout' | 'swap' | 'max_length'
  > {
  host: Exclude<HostName, 'tune'>
  /** Never null with `host: command`. */
  command: string | string[] | null
  timeoutMs: number
  scoring: Scoring
  /** Which words it is asked with; see `PROMPT_VERSION`. */
  prompt: number
}

/** What the spec does not use is absent, so that older hashes hold. */
export interface LoopConfig extends Omit<ReadSpec['loop'], 'prompts' | 'driver' | 'autonomous' | 'briefs'> {
  /** Absent = `both`. */
  briefs?: ReadSpec['loop']['briefs']
  /** By role. */
  prompts?: Record<string, { before: string | null; after: string | null }>
  driver?: 'workflow' | 'loop' | 'prose'
  autonomous?: boolean
}

/** How the texts of a suite are learnt. */
export interface GradientConfig {
  /** As the spec or a person says it; the loop halves it when a text is not kept. */
  learning_rate: number
  /** Names of artifacts; never empty. */
  candidates: string[]
}

/** All defaults are filled in; null = not set. It is plain JSON data: `spec.json` of a run reads back equal. */
export interface Spec {
  version: 1
  name: string
  goal: string
  instructions: { file: string | string[] | null; text: string | null; rules: string[] }
  scope: ScopeConfig
  worktree: WorktreeConfig
  measure: MeasureConfig
  metric: MetricConfig
  tasks: ReadSpec['tasks']
  constraints: ConstraintConfig[]
  protected: ProtectedConfig[]
  /** Absent = none, so that older hashes hold. */
  controls?: string[]
  holdout: { max_regression: MinImprovement }
  tie_breakers: { metric: string; direction: Direction }[]
  gates: GateConfig[]
  noise: ReadSpec['noise']
  search: { policy: string; k: number; seed: number; max_attempts: number }
  loop: LoopConfig
  /** `judge_usd` is absent without a judge. */
  budget: Omit<ReadSpec['budget'], 'judge_usd'> & { judge_usd?: number }
  /** Absent when the spec names none, so that older hashes hold. */
  judge?: JudgeConfig
  agent: AgentConfig | null
  skills: string[]
  /** Absent when the spec does not use it, so that older hashes hold. */
  report?: { jsonl: string }
  /** Absent when the spec does not use it, so that older hashes hold. */
  attribute?: ReadSpec['attribute']
  /** Packages that a candidate may add. Absent = the CLI does not check. */
  dependencies?: { approved: string[] }
  /** Absent = none, so that older hashes hold. */
  targets?: Bound[]
  /** Absent = the loop asks for no texts. */
  gradient?: GradientConfig
  /** Absent = attempts are measured in a slot of this machine. */
  executor?: ExecutorConfig
}

/** What is measured and what a run is known by: the same for the whole life of a run. */
export type FixedSpec = Omit<Spec, keyof LiveSpec | 'budget' | 'dependencies' | 'targets'>

/** What may change while a run lives; the knobs among it are in the ledger's state. */
export interface LiveSpec
  extends Pick<
    Spec,
    'goal' | 'instructions' | 'agent' | 'skills' | 'report' | 'attribute' | 'gradient' | 'executor'
  > {
  search: Pick<Spec['search'], 'seed'>
  loop: Omit<Spec['loop'], 'width' | 'depth' | 'stall' | 'ideate' | 'scan' | 'revise' | 'briefs'>
}

export const LIVE_SECTIONS = [
  'goal',
  'instructions',
  'search',
  'loop',
  'agent',
  'skills',
  'report',
  'attribute',
  'gradient',
  'executor',
] as const satisfies readonly (keyof LiveSpec)[]

/** Gives each part its config. */
export function compose(read: ReadSpec): Spec {
  const { setup, build } = read.worktree
  const { floor, ...metric } = read.metric ?? METRIC_OF_SUITE
  return {
    version: 1,
    name: read.name,
    goal: read.goal,
    instructions: read.instructions,
    scope: read.scope,
    worktree: {
      setup: setup && { command: setup.command, inputs: setup.inputs, timeoutMs: setup.timeout },
      build: build && { command: build.command, timeoutMs: build.timeout },
      data: read.worktree.data,
      ...(read.worktree.cache.length > 0 ? { cache: read.worktree.cache } : {}),
    },
    measure: {
      command: commandOf(read),
      directory: read.measure.directory,
      timeoutMs: read.measure.timeout,
      read: readOf(read.measure.read),
      slots: read.measure.slots,
      outputBytes: read.measure.output,
      environment: read.measure.environment,
      before: stepOf(read.measure.before),
      after: stepOf(read.measure.after),
      requires: read.measure.requires,
      score: stepOf(read.measure.score),
      isolation: {
        mode: read.measure.isolation,
        network: read.measure.network,
        allow: read.measure.allow,
        write: read.measure.write,
        fresh: read.measure.fresh,
      },
      ...(read.suite === null ? {} : { suite: suiteOf(read.suite) }),
    },
    metric: floor === null ? metric : { ...metric, floor },
    tasks: read.tasks,
    constraints: read.constraints,
    protected: read.protected,
    ...(read.controls.length > 0 ? { controls: read.controls } : {}),
    holdout: read.holdout,
    tie_breakers: read.tie_breakers,
    gates: read.gates.map(({ name, command, phase, timeout }) => ({
      name,
      command,
      phase,
      timeoutMs: timeout,
    })),
    noise: read.judge === null ? read.noise : { ...read.noise, mode: 'paired' },
    search: read.search,
    loop: loopOf(read.loop),
    budget: budgetOf(read),
    ...(read.judge === null ? {} : { judge: judgeOf(read.judge) }),
    agent: read.agent && agentOf(read.agent),
    skills: read.skills,
    ...(read.gradient === null ? {} : { gradient: gradientOf(read.gradient, read.suite) }),
    ...(read.report.jsonl === null ? {} : { report: { jsonl: read.report.jsonl } }),
    ...(read.attribute.pairs === null && !read.attribute.careful ? {} : { attribute: read.attribute }),
    ...(read.dependencies === null ? {} : { dependencies: read.dependencies }),
    ...(read.targets.length === 0 ? {} : { targets: read.targets }),
    ...(read.executor === null ? {} : { executor: executorOf(read.executor) }),
  }
}

const METRIC_OF_SUITE = {
  name: LOSS,
  direction: 'minimize',
  unit: null,
  target: null,
  min_improvement: { absolute: 0 },
  floor: null,
} as const

function commandOf({ suite, measure }: ReadSpec): string | string[] {
  const command = suite?.run ?? measure.command
  if (command === null) throw new Error('what is measured was not checked')
  return command
}

const suiteOf = ({
  name,
  artifacts,
  concurrency,
  loss,
  tasks,
}: NonNullable<ReadSpec['suite']>): SuiteConfig => ({
  name,
  artifacts: artifacts.map(({ name, file, max_chars }) => ({ name, file, maxChars: max_chars })),
  concurrency,
  tasks: tasks.map(({ loss: own, ...task }) => ({
    ...task,
    weights: mapParts((part) => own[part] ?? loss[part]),
  })),
})

/** Without candidates, all artifacts are. */
const gradientOf = (
  { learning_rate, candidates }: NonNullable<ReadSpec['gradient']>,
  suite: ReadSpec['suite'],
): GradientConfig => ({
  learning_rate,
  candidates: candidates.length > 0 ? candidates : (suite?.artifacts ?? []).map(({ name }) => name),
})

/** What was not written is left out, so that a spec of an earlier version has the same hash. */
function readOf(read: ReadSpec['measure']['read']): ReadFrom {
  if (typeof read === 'string') return isPreset(read) ? { preset: read } : read
  const { regex, json, preset } = read
  const from = read.from === 'stderr' ? { from: read.from } : {}
  const file = read.file === null ? {} : { file: read.file }
  const metrics = read.metrics === null ? {} : { metrics: read.metrics }
  if (regex !== null) return { regex, ...from }
  if (json !== null) return { json, ...metrics, ...file, ...from }
  if (preset === null) throw new Error('measure.read was not checked')
  return { preset, ...file }
}

const isPreset = (word: string): word is PresetName => PRESET_NAMES.some((name) => name === word)

const STEP_TIMEOUT_MS = 600_000

function stepOf(read: ReadSpec['measure']['before']): CommandConfig | null {
  if (read === null) return null
  if (typeof read === 'string' || Array.isArray(read)) return { command: read, timeoutMs: STEP_TIMEOUT_MS }
  return { command: read.command, timeoutMs: read.timeout }
}

/** What a judge may cost when the spec does not say it. */
const JUDGE_USD = 5

function budgetOf({ budget: { judge_usd, ...budget }, judge }: ReadSpec): Spec['budget'] {
  return judge === null ? budget : { ...budget, judge_usd: judge_usd ?? JUDGE_USD }
}

function judgeOf({
  mode,
  criteria,
  rubric,
  timeout,
  writer: _,
  same_model: __,
  ...read
}: ReadJudge): JudgeConfig {
  const scoring: Scoring =
    mode === 'rubric'
      ? { mode, rubric: rubric ?? '' }
      : { mode, criteria: criteria.map((one) => ({ ...one, weight: one.weight ?? 1 / criteria.length })) }
  return { ...read, timeoutMs: timeout, scoring, prompt: PROMPT_VERSION }
}

function executorOf(read: NonNullable<ReadSpec['executor']>): ExecutorConfig {
  const { submit, status, cancel } = read
  return {
    kind: read.kind,
    partition: read.partition,
    cores: read.cores ?? 'node',
    limitMs: read.limit,
    constraint: read.constraint,
    options: read.options,
    jobs: read.jobs,
    countQueue: read.count_queue,
    folder: read.folder,
    commands: submit && status && cancel && { submit, status, cancel },
  }
}

function loopOf({ prompts, driver, autonomous, briefs, ...loop }: ReadSpec['loop']): LoopConfig {
  return {
    ...loop,
    ...(Object.keys(prompts).length === 0 ? {} : { prompts }),
    ...(briefs === 'both' ? {} : { briefs }),
    ...(driver === null ? {} : { driver }),
    ...(autonomous === null ? {} : { autonomous }),
  }
}

function agentOf(read: NonNullable<ReadSpec['agent']>): AgentConfig {
  return {
    host: read.host,
    command: read.command,
    timeoutMs: read.timeout,
    silenceMs: read.silence,
    concurrency: read.concurrency,
    model: read.model,
    effort: read.effort,
    roles: Object.fromEntries(
      Object.entries(read.roles).map(([role, { timeout, ...rest }]) => [
        role,
        { ...rest, timeoutMs: timeout },
      ]),
    ),
    permissions: read.permissions,
    sandbox: read.sandbox,
    fallback: read.fallback,
    tune: {
      parameters: read.tune.parameters.map(({ name, pointer, pattern, ...rest }) => ({
        ...(name === null ? {} : { name }),
        ...(pointer === null ? {} : { pointer }),
        ...(pattern === null ? {} : { pattern }),
        ...rest,
      })),
    },
  }
}
