/** What one candidate costs, from what the baseline took, and how many the budget buys. */
import type { StepLine } from '../ledger/events.ts'
import { BASELINE, lastJudged } from '../ledger/state.ts'
import { gatesOf, readSteps, samplesOf } from '../ledger/steps.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import type { RunRecord } from '../run/open.ts'

export interface Cost {
  /** Mean of the baseline's samples, with everything around them. */
  sample_ms: number
  /** Of one side. */
  build_ms: number
  gates_ms: number
  /** Samples of one candidate: the fewest for a rejection, and the number for a keep. */
  samples: [number, number]
  /** Rejected at its first sample; kept. Without the time of the agent. */
  best_ms: number
  worst_ms: number
  /** How many candidates the budget pays for if each is as expensive as possible, by experiments and by hours; null = no such cap. */
  buys: number | null
}

/** null before the baseline is judged. */
export function costOf(run: RunRecord): Cost | null {
  const node = run.ledger.state.experiments.get(BASELINE)
  const judged = node && lastJudged(node)
  if (!judged) return null
  const steps = readSteps(stepsFile(attemptFolder(run.paths, BASELINE, judged.attempt)))
  const samples = samplesOf(steps).filter(({ stage }) => stage === 'calibrate')
  if (samples.length === 0) return null
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  const sample = sum(samples.map(spent)) / samples.length
  const gates = gatesOf(steps)
  const before = sum(gates.filter(({ phase }) => phase === 'before').map(({ wall_ms }) => wall_ms))
  const after = sum(gates.map(({ wall_ms }) => wall_ms)) - before
  const build = run.spec.worktree.build ? buildMs(steps) : 0
  const { mode } = run.ledger.state.noise
  const [least, most] = mode === 'paired' ? pairedSamples(run) : [1, 2]
  // The other side of a pair is built as well.
  const builds = (mode === 'paired' ? 2 : 1) * build
  const worst = builds + before + after + most * sample
  return {
    sample_ms: Math.round(sample),
    build_ms: Math.round(build),
    gates_ms: Math.round(before + after),
    samples: [least, most],
    best_ms: Math.round(builds + before + least * sample),
    worst_ms: Math.round(worst),
    buys: buys(run, worst),
  }
}

/** A clear keep is judged and confirmed in about so many pairs; an unclear one may take `noise.pairs.max` for each. */
const KEEP_PAIRS = 14

/** Both sides of each pair. */
function pairedSamples(run: RunRecord): [number, number] {
  const { min, max } = run.spec.noise.pairs
  return [2 * min, 2 * Math.min(KEEP_PAIRS, 2 * max)]
}

const spent = ({ started, ended, wall_ms }: { started: string; ended: string; wall_ms: number }): number =>
  Math.max(wall_ms, Date.parse(ended) - Date.parse(started))

/** Setup is in it when it ran: it is paid once for a checkout, so this is an upper bound. */
function buildMs(steps: StepLine[]): number {
  const at = (state: string) =>
    steps.find((line) => line.step === 'build' && 'state' in line && line.state === state)?.at
  const [began, ended] = [at('began'), at('ended')]
  return began && ended ? Date.parse(ended) - Date.parse(began) : 0
}

function buys(run: RunRecord, worstMs: number): number | null {
  const { knobs } = run.ledger.state
  const caps = [
    ...(knobs?.experiments == null ? [] : [knobs.experiments]),
    ...(knobs?.hours == null ? [] : [Math.floor((knobs.hours * 3_600_000) / Math.max(worstMs, 1))]),
  ]
  return caps.length === 0 ? null : Math.min(...caps)
}
