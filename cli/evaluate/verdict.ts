import type {
  Comparison,
  Direction,
  FailureClass,
  GateResult,
  JudgedStatus,
  Reason,
  SampleFault,
  Side,
} from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'
import { unreachable } from '../result.ts'
import { crowdIn, inWords, isCandidates, type Objection } from './crowd.ts'
import { figure } from './figure.ts'
import { median } from './stats.ts'

/** What was found on the way to a verdict. A step that did not run is null or empty. */
export interface VerdictFacts {
  /** Whose direction and name the message uses. */
  metric: { name: string; direction: Direction }
  /** The baseline is compared with nothing. */
  baseline: boolean
  value: number | null
  parentValue: number | null
  /** Why `worktree.setup` failed; null when it did not. */
  setup: SampleFault | null
  /** Why `worktree.build` failed, and whether the unchanged parent's fails too. */
  build: { fault: SampleFault; parentToo: boolean } | null
  /** In the order they ran. `fault` as `runGate` answers it. */
  gates: (Pick<GateResult, 'name' | 'phase' | 'passed' | 'exit' | 'timed_out'> & {
    fault?: SampleFault | null
    /** It did not pass, and the unchanged parent, which passed it before, does not pass it now either. */
    parentToo?: boolean
  })[]
  /** Of the samples, in the order they were taken. */
  faults: { side: Side; fault: SampleFault }[]
  constraints: Objection[]
  comparison: Comparison | null
  /** On a tie: the tie-breaker that decided, and for whom. */
  tieBreak: { metric: string; better: boolean; message: string } | null
  /** The would-be keep measured again; null when that is not asked for. */
  confirm: Comparison | null
  /** Protected metrics that got worse than allowed. */
  protected: Objection[]
  /** Why nothing more was asked: what the candidate is built on was revoked meanwhile. */
  dependency: string | null
  /** How a new best did on held-out data; null when that was not asked. */
  holdout: ({ passed: boolean } & Objection) | null
}

export interface Verdict {
  status: JudgedStatus
  /** null for a baseline that holds. */
  reason: Reason | null
  /** null for what is kept. */
  failure_class: FailureClass | null
  /** One sentence for people, with the numbers. */
  message: string
}

/** The one decision on an attempt: the first step that speaks against it, in the order in which the steps run. */
export function decideVerdict(facts: VerdictFacts): Verdict {
  return (
    interrupted(facts) ??
    orphaned(facts) ??
    unprepared(facts) ??
    stopped(facts, 'before') ??
    unmeasured(facts) ??
    violated(facts) ??
    outcome(facts)
  )
}

const failed = (reason: Reason, failureClass: FailureClass, message: string): Verdict => ({
  status: 'failed',
  reason,
  failure_class: failureClass,
  message,
})
const rejected = (reason: Reason, failureClass: FailureClass, message: string): Verdict => ({
  status: 'rejected',
  reason,
  failure_class: failureClass,
  message,
})
const kept = (reason: Reason | null, message: string): Verdict => ({
  status: 'kept',
  reason,
  failure_class: null,
  message,
})

/** An interruption anywhere says nothing about the candidate. */
function interrupted({ setup, build, gates, faults }: VerdictFacts): Verdict | null {
  const all = [setup, build?.fault, ...gates.map((gate) => gate.fault), ...faults.map(({ fault }) => fault)]
  const found = all.find((fault) => fault?.reason === 'aborted')
  return found ? failed('aborted', 'environment', `not judged: ${found.message}`) : null
}

/** It says nothing about the candidate either, and whatever was measured can no longer count. */
function orphaned({ dependency }: VerdictFacts): Verdict | null {
  return dependency === null
    ? null
    : rejected('dependency', 'environment', `not judged to the end: ${dependency}`)
}

function unprepared({ setup, build }: VerdictFacts): Verdict | null {
  if (setup !== null) return failed('environment', 'environment', `worktree.setup failed: ${setup.message}`)
  if (build === null) return null
  const { fault, parentToo } = build
  if (parentToo)
    return failed(
      'environment',
      'environment',
      `the build fails for the unchanged parent too: ${fault.message}`,
    )
  if (fault.reason === 'environment')
    return failed('environment', 'environment', `the build: ${fault.message}`)
  return failed(fault.reason, 'build', `the build failed: ${fault.message}`)
}

function stopped({ gates }: VerdictFacts, phase: GateResult['phase']): Verdict | null {
  const gate = gates.find((one) => one.phase === phase && !one.passed)
  if (gate === undefined) return null
  if (gate.fault?.reason === 'environment')
    return failed('environment', 'environment', `gate ${gate.name} could not run: ${gate.fault.message}`)
  const how = gate.timed_out
    ? 'ran into its time limit'
    : gate.exit === null
      ? 'was ended by a signal'
      : `exit ${gate.exit}`
  const why = gate.fault?.message ?? how
  if (gate.parentToo)
    return failed(
      'environment',
      'environment',
      `gate ${gate.name} did not pass: ${why}; the unchanged parent does not pass it now either`,
    )
  return rejected('gate', 'hypothesis', `gate ${gate.name} did not pass: ${why}`)
}

function unmeasured({ faults, baseline }: VerdictFacts): Verdict | null {
  const parents = faults.find(({ side, fault }) => side === 'parent' || fault.reason === 'environment')
  if (parents !== undefined) {
    const who = parents.side === 'parent' && !baseline ? 'the unchanged parent fails too: ' : ''
    return failed('environment', 'environment', `not measured: ${who}${parents.fault.message}`)
  }
  const [first] = faults
  if (first === undefined) return null
  const { reason, message, raw, failure_class: place } = first.fault
  const line = reason === 'metric_error' && raw !== undefined ? `; the line was: ${raw.slice(0, 200)}` : ''
  return failed(reason, place ?? 'eval', `not measured: ${message}${line}`)
}

function violated({ constraints }: VerdictFacts): Verdict | null {
  const [first, ...rest] = constraints.filter(isCandidates)
  if (first === undefined) return null
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`
  return rejected('constraint', 'hypothesis', `constraint ${first.message}${more}`)
}

function outcome(facts: VerdictFacts): Verdict {
  const { baseline, comparison, metric, value } = facts
  if (baseline)
    return (
      stopped(facts, 'after') ?? machines(facts) ?? kept(null, `baseline: ${metric.name} = ${figure(value)}`)
    )
  if (comparison === null) throw new Error('a measured candidate was not compared with its parent')
  switch (comparison.outcome) {
    case 'improved':
      return objection(facts, unconfirmed) ?? kept('improved', by(facts, facts.confirm ?? comparison))
    case 'tie':
      return facts.tieBreak?.better
        ? (objection(facts, worseOnConfirm) ??
            kept('tie_broken', `${by(facts, comparison)}; ${facts.tieBreak.message}`))
        : rejected('tie', 'hypothesis', tieMessage(facts, comparison))
    case 'not_better':
      return rejected('not_better', 'hypothesis', by(facts, comparison))
    case 'inconclusive':
      return (
        crowded(facts, comparison) ??
        rejected('inconclusive', 'eval', `${by(facts, comparison)}, but ${unclearAs(comparison)}`)
      )
    default:
      return unreachable(comparison.outcome)
  }
}

/** What can still speak against a candidate that compares well, in the order in which it is asked. */
function objection(facts: VerdictFacts, again: (facts: VerdictFacts) => Verdict | null): Verdict | null {
  const stop = stopped(facts, 'after') ?? again(facts)
  if (stop) return stop
  const regression = facts.protected.find(isCandidates)
  if (regression) return rejected('protected', 'hypothesis', `it is better, but ${regression.message}`)
  const { holdout } = facts
  if (holdout?.passed === false && isCandidates(holdout))
    return rejected(
      'holdout',
      'hypothesis',
      `it is better where it could look, but on held-out data ${holdout.message}, against the baseline`,
    )
  return machines(facts)
}

const HELD_OUT = 'it is better where it could look, and was tried on held-out data'

/** What was found against it and is the machine's: the idea is open, and no attempt is used up. */
function machines({ constraints, protected: regressions, holdout }: VerdictFacts): Verdict | null {
  const found = [
    ...constraints.map((one) => ({ ...one, message: `constraint ${one.message}` })),
    ...regressions.map((one) => ({ ...one, message: `it is better; ${one.message}` })),
    ...(holdout ? [{ ...holdout, message: HELD_OUT }] : []),
  ].find((one) => !isCandidates(one))
  return found ? unclear(found) : null
}

const unclear = (found: Objection): Verdict => rejected('inconclusive', 'environment', inWords(found))

function unconfirmed(facts: VerdictFacts): Verdict | null {
  const { confirm } = facts
  if (confirm === null || confirm.outcome === 'improved') return null
  const crowd = crowded(facts, confirm)
  if (crowd) return crowd
  return rejected(
    'unconfirmed',
    'hypothesis',
    `it looked better, but measuring again did not confirm it: ${change(facts, confirm)}`,
  )
}

/** The machine is to blame: the idea is open, and no attempt is used up. */
function crowded(facts: VerdictFacts, comparison: Comparison): Verdict | null {
  const because = crowdIn(comparison)
  return because === null ? null : unclear({ message: by(facts, comparison), crowd: because })
}

function worseOnConfirm(facts: VerdictFacts): Verdict | null {
  const outcome = facts.confirm?.outcome
  return outcome === undefined || outcome === 'tie' || outcome === 'improved' ? null : unconfirmed(facts)
}

const unclearAs = ({ inputs }: Comparison): string =>
  inputs.why === 'not_typical'
    ? 'only some pairs got better: the typical one (the median) did not'
    : 'noise hides whether that is real'

function tieMessage(facts: VerdictFacts, comparison: Comparison): string {
  const breaker = facts.tieBreak === null ? '' : `; ${facts.tieBreak.message}`
  return `a tie with ${comparison.against}: ${change(facts, comparison)}${breaker}`
}

/** `ms = 90: 10 better (10 %, minimize) against exp_0003 (100)` */
function by(facts: VerdictFacts, comparison: Comparison): string {
  const { metric, value, parentValue } = facts
  return `${metric.name} = ${figure(value)}: ${change(facts, comparison)} against ${comparison.against} (${figure(parentValue)})`
}

function change({ metric, parentValue }: VerdictFacts, comparison: Comparison): string {
  const { improvement_abs: absolute, interval } = comparison
  if (absolute === 0 && interval === null) return 'no change'
  const details = [
    ...percentage(comparison, parentValue),
    ...(interval === null ? [] : [`interval ${figure(interval[0])} to ${figure(interval[1])}`]),
    metric.direction,
  ]
  const better = absolute >= 0 ? 'better' : 'worse'
  const by = Number.isFinite(absolute)
    ? `${figure(Math.abs(absolute))} ${better}`
    : `${better} by more than a number can hold`
  return `${by} (${details.join(', ')})`
}

function percentage({ improvement, improvement_abs }: Comparison, parentValue: number | null): string[] {
  const percent = improvement === null ? null : Math.abs(improvement) * 100
  if (percent !== null && Number.isFinite(percent)) return [`${figure(percent)} %`]
  // Of 0 there is no part.
  const over = parentValue && !Number.isFinite((improvement_abs / parentValue) * 100)
  return over ? ['its percentage is too large for a number'] : []
}

// ---------------------------------------------------------------- remarks
// What a verdict adds to its sentence: true and worth reading, but no reason to reject.

export interface Remarked {
  status: JudgedStatus
  metric: { direction: Direction; target: number | null }
  value: number | null
  /** Of the parent and of the baseline, in the same epoch. */
  parentValue: number | null
  baselineValue: number | null
  /** The earlier experiment with the same score on every task, and how many tasks there are. */
  sameAs: { experiment: string; tasks: number } | null
  /** A sample said a time or a size below 0. */
  belowZero?: boolean
  /** Values in the order in which they were measured; absent in runs that began before this was looked at. */
  series?: { own: readonly number[]; parents: readonly number[] }
}

/** The share of the distance from the baseline to a perfect score that one candidate may cover; more is rarely an optimisation. */
const LEAP = 0.5

/** To be put behind the message; empty when there is nothing to remark. */
export function remarksOn(facts: Remarked): string {
  const { sameAs } = facts
  return [
    ...(facts.belowZero && facts.status === 'kept'
      ? [
          '; a time or a size below 0 cannot be: look at what the benchmark really measures before you trust it',
        ]
      : []),
    ...(!facts.belowZero && suspiciouslyPerfect(facts)
      ? ['; suspiciously perfect in one step: look at what it really does before you trust it']
      : []),
    ...remembering(facts),
    ...(sameAs === null
      ? []
      : [`; the same score as ${sameAs.experiment} on each of the ${sameAs.tasks} tasks`]),
  ].join('')
}

/** Beyond how much worse the parent's own first sample is: every program warms up. */
const COLD = 5
const FEWEST = 3

/** A first sample that is far worse than all later ones, where the parent's is not: something was kept for them. */
function remembering({ status, metric, series }: Remarked): string[] {
  if (status !== 'kept' || !series || series.own.length < FEWEST) return []
  const [own, parents] = [coldness(metric.direction, series.own), coldness(metric.direction, series.parents)]
  if (own === null || own < COLD * Math.max(1, parents ?? 1)) return []
  const [first = 0, ...rest] = series.own
  return [
    `; its first sample gave ${figure(first)} and the others about ${figure(median(rest))}: it may remember answers between samples`,
  ]
}

/** How many times worse the first value is than the middle of the others; null when that cannot be told. */
function coldness(direction: Direction, [first, ...rest]: readonly number[]): number | null {
  const later = rest.length === 0 ? null : median(rest)
  if (first === undefined || later === null || first <= 0 || later <= 0) return null
  return direction === 'minimize' ? first / later : later / first
}

/** Kept, and at the target (or at 0 where less is better) after a leap, not after the last of many steps. */
function suspiciouslyPerfect({ status, metric, value, parentValue, baselineValue }: Remarked): boolean {
  if (status !== 'kept' || value === null || parentValue === null || baselineValue === null) return false
  const { direction, target } = metric
  const perfect =
    (target !== null && betterBy(direction, value, target) >= 0) || (value === 0 && direction === 'minimize')
  const step = betterBy(direction, value, parentValue)
  return perfect && step > 0 && step >= LEAP * betterBy(direction, value, baselineValue)
}

/**
 * Equal for identical failures: reason, exit (or signal) and the last stderr line without its digits, which are
 * line numbers, times, pids. Three equal ones in a row stop a run.
 */
export function failureSignature(failure: {
  reason: string
  exit: number | null
  signal?: string | null
  /** The last line of stderr, or the message when it said nothing. */
  line: string
}): string {
  const line = failure.line.replace(/\d+/g, '').replace(/\s+/g, ' ').trim().slice(0, 200)
  return `${failure.reason}|${failure.exit ?? failure.signal ?? '-'}|${line}`
}
