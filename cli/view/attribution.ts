/** What an attribution found, for people and programs: the parts of a diff with what each is worth. */
import { counted, duration, NO_FIGURE, percent } from '../evaluate/figure.ts'
import type { AttributionOutlook } from '../experiment/attribute.ts'
import { bestOf } from '../ledger/best.ts'
import type { Attributed, AttributedUnit, AttributionPlan, EditPlace, UnitFinding } from '../ledger/events.ts'
import { type Attribution, attributionOf, lastJudged, type State } from '../ledger/state.ts'
import { call, next, type Said } from '../next.ts'
import { unreachable } from '../result.ts'
import { plain } from '../text.ts'

export interface PartView extends AttributedUnit {
  state: UnitFinding['state']
  /** As a share: how much is lost without it; larger than it really is when it was chosen because it pays. */
  estimate: number | null
  interval: readonly [number, number] | null
  /** The parts that were left out in the same test, itself included. */
  together: readonly string[]
  /** What its test came to; null before it. */
  message: string | null
}

export interface AttributionView {
  attribution: number
  experiment: string
  parent: string
  /** False while tests are left: then the parts that have no test yet are `not_tested`. */
  ended: boolean
  tests: number
  pairs: number
  /** Whether the pairs were used up before all parts were tested. */
  cut: boolean
  plan: AttributionPlan
  /** In the order of the diff. */
  parts: PartView[]
  /** Lines added and removed; `kept` of what is left. */
  lines: { all: number; kept: number }
  interactions: { units: readonly string[]; beyond: number }[]
  /** The experiment with what is left; null when nothing was left out, or before the end. */
  reduced: { experiment: string; status: string; reason: string | null; value: number | null } | null
  summary: string
}

/** Of the last attribution of the experiment; null when there was none. */
export function attributionView(state: State, experiment: string): AttributionView | null {
  const found = attributionOf(state, experiment)
  return found && viewOfAttribution(state, found)
}

/** Of the best, or of the experiment whose smaller diff the best is; null when its parts were not tested. */
export function attributionOfBest(state: State): AttributionView | null {
  const best = bestOf(state)
  return best && attributionView(state, best.created.reduces?.experiment ?? best.id)
}

export function viewOfAttribution(state: State, { started, tests, ended }: Attribution): AttributionView {
  const findings = new Map((ended?.units ?? soFar(tests, started.plan)).map((unit) => [unit.id, unit]))
  const parts = [...started.units]
    .sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)))
    .map((unit): PartView => {
      const {
        state = 'not_tested',
        estimate = null,
        interval = null,
        together = [unit.id],
      } = findings.get(unit.id) ?? {}
      const test = tests.findLast(({ without }) => without.join() === together.join())
      return { ...unit, state, estimate, interval, together, message: test?.message ?? null }
    })
  const linesOf = (some: readonly PartView[]) => some.reduce((sum, { lines }) => sum + lines, 0)
  const node = ended?.reduced ? state.experiments.get(ended.reduced) : undefined
  const view = {
    attribution: started.attribution,
    experiment: started.experiment,
    parent: started.parent,
    ended: ended !== null,
    tests: tests.length,
    pairs: tests.reduce((sum, { pairs }) => sum + pairs, 0),
    cut: ended?.cut ?? false,
    plan: started.plan,
    parts,
    lines: { all: linesOf(parts), kept: linesOf(parts.filter((part) => part.state !== 'dead_weight')) },
    interactions: ended?.interactions ?? [],
    reduced: node
      ? {
          experiment: node.id,
          status: node.status,
          reason: lastJudged(node)?.reason ?? null,
          value: node.value,
        }
      : null,
  }
  return { ...view, summary: summaryOf(view) }
}

/** Before the end: what the tests of single parts say. */
function soFar(tests: readonly Attributed[], { careful }: AttributionPlan): UnitFinding[] {
  return tests.flatMap(({ without, outcome, estimate, interval }) =>
    without.map((id) => ({ id, state: stateOf(outcome, careful), estimate, interval, together: without })),
  )
}

function stateOf(outcome: Attributed['outcome'], careful: boolean): UnitFinding['state'] {
  switch (outcome) {
    case 'improved':
      return 'pays'
    case 'broken':
      return 'needed'
    case 'inconclusive':
      return careful ? 'not_told_apart' : 'dead_weight'
    case 'not_better':
    case 'same':
    case 'worse':
      return 'dead_weight'
    default:
      return unreachable(outcome)
  }
}

function summaryOf(view: Omit<AttributionView, 'summary'>): string {
  const { ended, experiment, parts, lines, reduced, tests, cut } = view
  if (!ended) return `${counted(tests, 'test')} done, and the search goes on`
  const needed = parts.filter(({ state }) => state === 'pays' || state === 'needed').map(({ id }) => id)
  const surely =
    needed.length === 0 ? 'no part was found to be needed' : `surely needed: ${needed.join(', ')}`
  const until = cut ? ', and the pairs were used up before all parts were tested' : ''
  if (reduced === null) return `no part of ${experiment} can be left out; ${surely}${until}`
  if (reduced.status === 'kept' || reduced.status === 'pruned')
    return `the same gain with ${lines.kept} of ${lines.all} lines: ${reduced.experiment}${until}`
  const why = reduced.reason === null ? '' : ` (${reduced.reason.replaceAll('_', ' ')})`
  return `${experiment} stays as it is: what is left of it, ${reduced.experiment}, was ${reduced.status}${why}; ${surely}${until}`
}

/** Where a part stands, such as `src/a.c:10-14`, and what git found around it. */
export const placeOf = ({ edits, around }: Pick<AttributedUnit, 'edits' | 'around'>): string =>
  `${edits.map(lineOf).join(', ')}${around === '' ? '' : ` (${plain(around, 60)})`}`

function lineOf({ path, kind, new: to, old }: EditPlace): string {
  const name = plain(path, 200)
  if (kind !== 'hunk') return kind === 'mode' ? `${name} (its mode)` : name
  const [from, lines] = to?.[1] ? to : (old ?? [1, 1])
  return lines > 1 ? `${name}:${from}-${from + lines - 1}` : `${name}:${from}`
}

/** `pays +4.1 % (2…6.3)`. */
export function worthOf({ state, estimate, interval, message, together }: PartView): string {
  const both = together.length > 1 ? ` (with ${together.join(', ')})` : ''
  switch (state) {
    case 'pays':
      return `pays ${gain(estimate)}${range(interval)}${both}`
    case 'dead_weight':
      return `dead weight${both}`
    case 'needed':
      return message?.startsWith('worktree.')
        ? 'needed to build'
        : `needed${message === null ? '' : `: ${plain(message, 120)}`}`
    case 'not_told_apart':
      return `not told apart${estimate === null ? '' : `: ${gain(estimate)}${range(interval)}`}${both}`
    case 'not_tested':
      return 'not tested'
    default:
      return unreachable(state)
  }
}

const gain = (share: number | null): string =>
  share === null ? NO_FIGURE : `${share < 0 ? '−' : '+'}${percent(Math.abs(share))}`

const range = (interval: PartView['interval']): string =>
  interval === null ? '' : ` (${interval.map((share) => percent(share).replace(' %', '')).join('…')})`

/** One line for each part, and what two of them are worth together. */
export const partLines = (view: AttributionView): string[] => [
  ...view.parts.map(
    (part) => `${part.id}  ${worthOf(part)}  ${counted(part.lines, 'line')} at ${placeOf(part)}`,
  ),
  ...togetherLines(view),
]

export const togetherLines = ({ interactions }: AttributionView): string[] =>
  interactions.map(
    ({ units, beyond }) => `${units.join(' and ')} together: ${gain(beyond)} beyond what each pays alone`,
  )

export function describeAttribution(view: AttributionView): Said[] {
  const { experiment, parent, tests, pairs, reduced, lines } = view
  const taken = view.ended ? [] : [next`  go on: ${call('attribute', experiment)}`]
  return [
    `${experiment} against ${parent}: ${counted(view.parts.length, 'part')}, ${lines.all} lines; ${counted(tests, 'test')}, ${counted(pairs, 'pair')}`,
    ...partLines(view).map((line) => `  ${line}`),
    `  ${view.summary}`,
    ...taken,
    ...(reduced?.status === 'kept' ? [next`  look at it: ${call('diff', reduced.experiment)}`] : []),
  ]
}

export function describeOutlook(outlook: AttributionOutlook): Said[] {
  const { experiment, parent, units, plan, expected_pairs, expected_ms, goes_on } = outlook
  const time = expected_ms === null ? '' : `, about ${duration(expected_ms)} of samples`
  return [
    `${experiment} against ${parent}: ${counted(units.length, 'part')}, in the order in which they would be tried`,
    ...units.map((unit) => `  ${unit.id}  ${counted(unit.lines, 'line')} at ${placeOf(unit)}`),
    `  about ${counted(expected_pairs, 'pair')} when one part pays${time}; at most ${plan.pairs} for the tests`,
    goes_on === null
      ? next`  to test them: ${call('attribute', experiment)}`
      : next`  attribution ${goes_on} was begun and goes on: ${call('attribute', experiment)}`,
  ]
}
