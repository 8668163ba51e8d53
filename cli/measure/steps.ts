/** Writes an attempt's record step by step, and reads what an earlier process of the same attempt measured. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { figure } from '../evaluate/figure.ts'
import type { Comparison, GatePhase, GateResult, Sample, Side, Stage, StepName } from '../ledger/events.ts'
import { BASELINE, type Experiment, lastKept } from '../ledger/state.ts'
import { gatesOf, readSteps, recordStep, samplesOf } from '../ledger/steps.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import type { Problem } from '../result.ts'
import { encrypt, encryptForJob, unseal } from '../run/holdout.ts'
import type { RunRecord, Surroundings } from '../run/open.ts'
import {
  type Decision,
  type DecisionName,
  type DecisionOf,
  decisionsIn,
  stepOfDecision,
} from './decisions.ts'

type RecordedRun = Pick<Surroundings, 'env' | 'tell' | 'clock' | 'heldOut'>

/** The record as a trial reads and writes it. */
export interface AttemptRecord {
  /** Records progress or the result of a step, for readers only; no verdict depends on it. */
  step(step: StepName, state: 'began' | 'ended' | 'skipped', detail?: unknown): void
  /** Records a decision on which the verdict depends. */
  decide(decision: Decision): void
  /** All decisions of that name that an earlier process of this attempt, or this one, wrote down, in order. */
  decided<N extends DecisionName>(name: N): DecisionOf<N>[]
  sample(sample: Sample): void
  gate(gate: GateResult): void
  paidSample(stage: Stage, pair: number, side: Side): Sample | null
  paidGate(name: string, phase: GatePhase): GateResult | null
  /** How many samples there are, of all sides and stages. */
  readonly taken: number
}

export class Recorder implements AttemptRecord {
  readonly folder: string
  readonly file: string
  readonly #run: RecordedRun
  readonly #experiment: string
  readonly #samples: Sample[]
  readonly #gates: GateResult[]
  readonly #decisions: Decision[]

  readonly #writes: boolean
  readonly #tells: boolean

  /** Without `writes`, steps are kept in memory only; without `tells`, no progress is reported. */
  constructor(
    run: RecordedRun,
    { experiment, folder }: { experiment: string; folder: string },
    { writes = true, tells = writes }: { writes?: boolean; tells?: boolean } = {},
  ) {
    this.#run = run
    this.#experiment = experiment
    this.folder = folder
    this.file = stepsFile(folder)
    this.#writes = writes
    this.#tells = tells
    if (writes) mkdirSync(join(this.folder, 'samples'), { recursive: true })
    const steps = readSteps(this.file)
    this.#samples = samplesOf(steps).filter((sample) => sample.fault?.reason !== 'aborted')
    this.#gates = gatesOf(steps)
    this.#decisions = decisionsIn(steps)
  }

  step(step: StepName, state: 'began' | 'ended' | 'skipped', detail?: unknown): void {
    if (state === 'began' && this.#tells) this.#run.tell({ type: 'step', experiment: this.#experiment, step })
    this.#write({ step, state, ...(detail === undefined ? {} : { detail }) })
  }

  decide(decision: Decision): void {
    const { step, state, detail } = stepOfDecision(decision)
    this.step(step, state, detail)
    this.#decisions.push(decision)
    if (decision.is === 'batch' && this.#tells) this.#tellBatch(decision)
  }

  #tellBatch({ stage, pair, d, judged, asked }: DecisionOf<'batch'>): void {
    const found =
      judged.length === 0
        ? `all ${asked.length} answers are equal`
        : `${figure(Math.abs(d))} ${d < 0 ? 'worse' : 'better'} in ${judged.length} of ${asked.length} answers`
    const message = `${this.#experiment}: ${stage} ${pair + 1}, judged: ${found}`
    this.#run.tell({ type: 'log', message })
  }

  decided<N extends DecisionName>(name: N): DecisionOf<N>[] {
    return this.#decisions.filter((one): one is DecisionOf<N> => one.is === name)
  }

  sample(sample: Sample): void {
    const written = sample.stage === 'holdout' ? this.#sealed(sample) : sample
    const { stage: of, pair, side, value, wall_ms } = written
    const experiment = this.#experiment
    if (this.#tells) this.#run.tell({ type: 'sample', experiment, stage: of, pair, side, value, wall_ms })
    this.#write({ step: 'sample', sample: bounded(written) })
    this.#samples.push(sample)
  }

  gate(gate: GateResult): void {
    this.#write({ step: 'gate', gate })
    this.#gates.push(gate)
  }

  /** A sample that was taken before, by this process or by one that died. */
  paidSample(stage: Stage, pair: number, side: Side): Sample | null {
    const found = this.#samples.find((one) => one.stage === stage && one.pair === pair && one.side === side)
    return found ? this.#opened(found) : null
  }

  /** Values on held-out data are encrypted, since agents can read the record and could optimise for that data. */
  #sealed(sample: Sample): Sample {
    const { value, cpu_ms, peak_mb } = sample
    const { env, heldOut } = this.#run
    const text = JSON.stringify({ value, cpu_ms, peak_mb })
    const sealed = typeof heldOut === 'object' ? encryptForJob(heldOut.seal, text) : encrypt(env, text)
    return { ...sample, value: null, cpu_ms: null, peak_mb: null, sealed }
  }

  #opened({ sealed, ...sample }: Sample): Sample {
    if (sealed === undefined) return sample
    const text = unseal(this.#run.env, sealed)
    if (text === null) throw new RecordLost(sealedElsewhere)
    return { ...sample, ...(JSON.parse(text) as Pick<Sample, 'value' | 'cpu_ms' | 'peak_mb'>) }
  }

  get taken(): number {
    return this.#samples.length
  }

  paidGate(name: string, phase: GatePhase): GateResult | null {
    return this.#gates.find((one) => one.name === name && one.phase === phase) ?? null
  }

  #write(draft: Parameters<typeof recordStep>[1]): void {
    if (!this.#writes) return
    const written = recordStep(this.file, draft, this.#run.clock())
    // A step that cannot be recorded must not count: the attempt ends here, and a later process can take over its claim.
    if (!written.ok) throw new RecordLost(written.problem)
  }
}

/** A benchmark may print a line of any length; the record limits it. */
function bounded(sample: Sample): Sample {
  const { fault } = sample
  if (!fault) return sample
  const { raw } = fault
  return {
    ...sample,
    fault: {
      ...fault,
      message: fault.message.slice(0, 1000),
      ...(raw === undefined ? {} : { raw: raw.slice(0, 500) }),
    },
  }
}

const sealedElsewhere: Problem = {
  kind: 'refused',
  code: 'sealed_elsewhere',
  message: 'the values on held-out data are encrypted with a key that is not on this machine',
  hint: 'run the command as the same user and on the same machine as the measurement: the key is in ~/.local/state/assay/key',
}

/** The record could not be written (a full disk, a read-only folder); the command answers with the problem. */
export class RecordLost extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

// ---------------------------------------------------------------- samples that are recorded, and how far a measurement is

export function recordedSamples(
  { paths }: Pick<RunRecord, 'paths'>,
  experiment: string,
  attempt: number,
): Sample[] {
  return samplesOf(readSteps(stepsFile(attemptFolder(paths, experiment, attempt))))
}

/** The first sample of the baseline's verdict, with which each candidate's answer is compared. */
export function baselineSample(run: Pick<RunRecord, 'ledger' | 'paths'>): Sample | null {
  const node: Experiment | undefined = run.ledger.state.experiments.get(BASELINE)
  const judged = node && lastKept(node)
  return judged ? (recordedSamples(run, BASELINE, judged.attempt)[0] ?? null) : null
}

export interface JudgingProgress {
  stage: Sample['stage']
  /** Samples or pairs of the stage that have ended. */
  done: number
  /** Pairs that the stage may take; null where that is not known. */
  most: number | null
  /** The time to reach `most` at the pace so far; null where either is unknown. */
  seconds_left: number | null
}

/** How far the judging of an attempt is; null before its first sample. */
export function progressOf(
  run: Pick<RunRecord, 'paths'> & { spec: Pick<RunRecord['spec'], 'noise'> },
  experiment: string,
  attempt: number,
): JudgingProgress | null {
  const samples = recordedSamples(run, experiment, attempt)
  const stage = samples.at(-1)?.stage
  if (stage === undefined) return null
  const candidates = samples.filter((one) => one.stage === stage && one.side === 'candidate')
  const paired = samples.some((one) => one.stage === stage && one.side === 'parent')
  const done = candidates.length
  const most = paired && stage === 'judge' ? run.spec.noise.pairs.max : null
  const [first, last] = [candidates[0], samples.at(-1)]
  const took = first && last ? Date.parse(last.ended) - Date.parse(first.started) : 0
  const left = most === null || done === 0 ? null : ((most - done) * took) / done / 1000
  return { stage, done, most, seconds_left: left === null ? null : Math.max(0, Math.round(left)) }
}

/** One stage of pairs, as it ended. */
export interface StageFact {
  stage: 'judge' | 'confirm' | 'best'
  comparison: Comparison
}

/** The stages of an attempt that was judged under noise, in order. */
export function recordedComparisons(
  { paths }: Pick<RunRecord, 'paths'>,
  experiment: string,
  attempt: number,
): StageFact[] {
  const found: StageFact[] = []
  let stage: StageFact['stage'] | null = null
  for (const line of readSteps(stepsFile(attemptFolder(paths, experiment, attempt)))) {
    const detail = 'detail' in line ? (line.detail as Partial<StageFact & Comparison> | null) : null
    if (detail?.stage) stage = detail.stage
    else if (detail?.inputs && stage !== null) {
      found.push({ stage, comparison: detail as Comparison })
      stage = null
    }
  }
  return found
}
