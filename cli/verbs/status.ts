/** `status`: where the run stands: baseline, best, counts and budget. */
import { counted, gainOf, gainText, shown } from '../evaluate/figure.ts'
import { BASELINE } from '../ledger/state.ts'
import { approvalLines } from '../loop/parked.ts'
import { call, next, type Said } from '../next.ts'
import { ok } from '../result.ts'
import { CAPS, type Cap, type Used } from '../run/budget.ts'
import { type EditedSpec, editedSpec } from '../run/edited-spec.ts'
import { asText } from '../terminal/lines.ts'
import { suiteLines } from '../terminal/suite-table.ts'
import { plain } from '../text.ts'
import { jobLine } from '../view/jobs.ts'
import { judgingLine } from '../view/judging.ts'
import type { SuiteView } from '../view/page-model.ts'
import { type StatusData, statusOf } from '../view/run.ts'
import { suiteView } from '../view/suite.ts'
import { onRun } from './verb.ts'

export const run = onRun(async (opened, _args, context) => {
  const data = { ...statusOf(opened), spec: await editedSpec(opened) }
  const suite = suiteView(opened)
  return ok({
    data: suite === null ? data : { ...data, suite },
    text: () => [
      ...describe(data, opened.started.name),
      ...(suite === null
        ? []
        : [suiteLine(suite), ...suiteLines(suite, context.columns - 2).map((line) => `  ${asText(line)}`)]),
    ],
    wrap: true,
  })
})

const suiteLine = ({ suite, learning_rate: rate }: SuiteView): string =>
  `  suite: ${plain(suite, 100)}${rate === null ? '' : `, learning rate ${shown(rate)}`}`

function describe(data: StatusData & { spec: EditedSpec | null }, name: string): Said[] {
  const { metric, budget } = data
  const counts = Object.entries(data.counts).flatMap(([status, count]) =>
    count > 0 ? [`${count} ${status}`] : [],
  )
  return [
    `${data.run}  ${name}`,
    next`  ${metric.name} (${metric.direction}${metric.target === null ? '' : `, target ${shown(metric.target)}`}): ${standing(data)}`,
    ...(data.targets ?? []).map(
      ({ metric: name, op, value, actual, met }) =>
        `  target: ${plain(name, 100)} ${op} ${value}: ${met ? 'met' : `not met, ${typeof actual === 'number' ? shown(actual) : (actual ?? 'unknown')}`}`,
    ),
    `  experiments: ${counts.join(', ')}`,
    `  budget: ${CAPS.every((cap) => budget[cap].limit === null) ? 'none is set; used: ' : ''}${CAPS.flatMap((cap) => spent(budget[cap], cap) ?? []).join(', ')}`,
    ...(data.judging ? [`  ${judgingLine(data.judging)}`] : []),
    `  loop: ${driverOf(data)}${data.round === null ? '' : `, round ${data.round}`}${data.stop ? `; stop reason: ${data.stop}${data.stop_cause ? ` (${plain(data.stop_cause, 300)})` : ''}` : ''}`,
    ...(data.best?.other_machine
      ? [
          `  ${data.best.experiment} was measured on another machine than the baseline: ${plain(data.best.other_machine, 300)}`,
        ]
      : []),
    ...(data.jobs ?? []).map((job) => `  ${jobLine(job)}`),
    ...held(data),
    ...doubts(data),
    ...approvalLines(data.parked ?? []).map(indented),
    ...data.stuck.flatMap(({ message, hint }) => [`  ${plain(message, 300)}`, next`    ${hint}`]),
    ...(data.stuck_more === undefined ? [] : [`  and ${data.stuck_more} more like these`]),
    ...specLines(data.spec),
  ]
}

const indented = (line: Said): Said => (typeof line === 'string' ? `  ${line}` : next`  ${line}`)

function driverOf({ driver, turn }: StatusData): string {
  if (driver) return `${driver.name} drives it (pid ${driver.pid})`
  if (!turn?.live) return 'no driver'
  const which = turn.mine ? 'this session' : `session ${plain(turn.session, 100)}`
  return `${which} of ${turn.host} drives it, last seen ${turn.last}`
}

function standing(data: StatusData): Said {
  const { baseline, best, epoch } = data
  if (!best && epoch > 1) return next`no baseline of epoch ${epoch} yet: ${call('run', BASELINE)}`
  if (!best)
    return next`no baseline yet; build the benchmark in its worktree (${call('path', BASELINE)} names it), then ${call('run', BASELINE)}`
  const first = `${shown(baseline.value)} at the baseline`
  return best.experiment === baseline.experiment
    ? `${first}, nothing better yet`
    : `${first}, ${shown(best.value)} at ${best.experiment}${gain(data)}`
}

function held({ paused, pins = [], steering, waiting }: StatusData): Said[] {
  return [
    ...(waiting === null
      ? []
      : [
          next`  waiting for ${waiting.host} until ${waiting.until}: ${plain(waiting.why, 300)}; end it with: ${call('loop', 'stop')}`,
        ]),
    ...(paused === null
      ? []
      : [next`  paused: ${plain(paused, 300)}; continue with: ${call('loop', 'resume')}`]),
    ...pins.map(({ experiment, why, parent }) =>
      parent
        ? `  pinned: ${experiment}: ${plain(why, 200)}`
        : next`  pinned, but no parent now: ${experiment}; the reason: ${call('show', experiment)}`,
    ),
    ...(steering.waiting === 0
      ? []
      : [next`  steering: ${steering.waiting} not delivered yet, see ${call('steer')}`]),
  ]
}

function doubts({
  epoch,
  outdated,
  doubts: found,
  doubts_more = 0,
  objections = [],
  notes,
}: StatusData): Said[] {
  return [
    ...(epoch === 1 && outdated === 0
      ? []
      : [
          next`  epoch ${epoch}: ${counted(outdated, 'experiment')} kept in earlier epochs; to use one again: ${call('confirm', 'ID')}`,
        ]),
    ...found.map(({ experiment, hint }) => next`  in doubt: ${experiment}; ${hint}`),
    ...(doubts_more === 0 ? [] : [next`  in doubt: ${doubts_more} more, see ${call('tree')}`]),
    ...objections.map(
      ({ experiment, text }) =>
        `  objection${experiment === null ? '' : ` on ${experiment}`}: ${plain(text, 300)}`,
    ),
    ...(notes === 0 ? [] : [next`  notes: ${notes}, see ${call('note')}`]),
  ]
}

function specLines(spec: EditedSpec | null): Said[] {
  if (!spec) return []
  const what = {
    edited: `was edited since init (${[...spec.frozen, ...spec.knobs.map(({ path }) => path), ...spec.other].join(', ')}); the run does not use these edits by itself`,
    invalid: 'was edited since init and has errors now; the run keeps the spec that it began with',
    missing: 'is gone; the run keeps the spec that it began with',
  }[spec.state]
  return [`  ${plain(spec.file, 200)} ${what}`, next`    ${spec.hint}`]
}

function gain({ metric, baseline, best }: StatusData): string {
  const text = gainText(gainOf(baseline.value, best?.value ?? null, metric.direction))
  return text === '' ? '' : ` (${text})`
}

const NOUNS = { experiments: 'experiment', hours: 'hour', failures: 'failure', tokens: 'token' }

/** null for money without a cap of which none was spent. */
function spent({ used, limit, at_least }: Used, cap: Cap): string | null {
  if ((cap === 'tokens' || cap === 'usd') && limit === null && used === 0) return null
  const unknown = at_least ? 'at least ' : ''
  if (cap === 'usd') return `${unknown}$${shown(used)}${limit === null ? '' : ` of $${shown(limit)}`}`
  const noun = NOUNS[cap]
  const amount = cap === 'hours' ? Number(used.toFixed(2)) : used
  return `${unknown}${limit === null ? counted(amount, noun) : `${shown(amount)} of ${counted(limit, noun)}`}`
}
