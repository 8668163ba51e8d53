/** `round open`, `findings`, `briefs`, `close` and `next`: the steps of one turn of the loop, for a driver that is not the CLI. */
import { counted } from '../evaluate/figure.ts'
import { FINDING_KINDS } from '../loop/answer-schemas.ts'
import { takeBriefs, type WrittenBrief } from '../loop/briefs.ts'
import { closeRound, type LaneReport } from '../loop/close.ts'
import { checkFindings, type ScanFinding } from '../loop/findings.ts'
import { nextOf } from '../loop/next-tasks.ts'
import { openRound } from '../loop/open.ts'
import type { RoundRef } from '../loop/round.ts'
import type { Said } from '../next.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { describeNext } from './task.ts'
import { listOf, onRun, readInput, textField, textsField } from './verb.ts'

const BRIEFS =
  '{"briefs":[{"parent":"exp_0000","objective":"…","kind":"…","boundaries":[],"pointers":[],"hard":false}]}'
const FINDINGS =
  '{"findings":[{"kind":"wall","message":"…","evidence":[{"experiment":"exp_0003","quote":"…"}]}]}'
const LANES = '{"lanes":[{"lane":1,"learnings":[],"suggestions":[]}]}'

export const run = onRun((opened, args, context) => {
  switch (args.sub) {
    case 'open':
      return answerOf(openRound(opened, args.on('take-over')), ({ round, parents, stop, warnings }) =>
        stop
          ? `the loop is over: ${stop}`
          : [
              `round ${round}: parents ${parents.map(({ experiment }) => experiment).join(', ')}`,
              ...warnings.map((warning) => `warning: ${warning}`),
            ],
      )
    case 'next':
      return next(args, opened)
    case 'findings':
      return findings(context, args, opened)
    case 'briefs':
      return briefs(context, args, opened)
    default:
      return close(context, args, opened)
  }
})

async function next(args: Parsed, opened: OpenRun): Promise<Result<VerbAnswer>> {
  const answer = await nextOf(opened, {
    lane: args.integer('lane'),
    waitMs: args.duration('wait') ?? 0,
    until: args.integer('until'),
    takeOver: args.on('take-over'),
  })
  return answerOf(answer, describeNext)
}

async function briefs(context: Context, args: Parsed, opened: OpenRun): Promise<Result<VerbAnswer>> {
  const input = await readInput(context, args, BRIEFS)
  if (!input.ok) return input
  const list = listOf(input.value, 'briefs', BRIEFS, (item) => ({ brief: readBrief(item) }))
  if (!list.ok) return list
  return answerOf(
    await takeBriefs(
      opened,
      roundRefOf(args),
      list.value.map(({ brief }) => brief),
    ),
    ({ lanes, refused }) => `${counted(lanes.length, 'lane')}, ${counted(refused.length, 'brief')} refused`,
  )
}

async function findings(context: Context, args: Parsed, opened: OpenRun): Promise<Result<VerbAnswer>> {
  const input = await readInput(context, args, FINDINGS)
  if (!input.ok) return input
  const list = listOf(input.value, 'findings', FINDINGS, (item) => ({ finding: readFinding(item) }))
  if (!list.ok) return list
  const data = checkFindings(
    opened,
    list.value.map(({ finding }) => finding),
  )
  return ok({
    data,
    text: () => [
      `${counted(data.findings.length, 'finding')} proved by the output of the experiments`,
      ...data.dropped.map(({ index, message }) => `finding ${index + 1} dropped: ${message}`),
    ],
  })
}

async function close(context: Context, args: Parsed, opened: OpenRun): Promise<Result<VerbAnswer>> {
  const input = await readInput(context, args, LANES)
  if (!input.ok) return input
  const lanes = listOf(input.value, 'lanes', LANES, readLane)
  if (!lanes.ok) return lanes
  return answerOf(
    await closeRound(opened, roundRefOf(args), lanes.value),
    ({ round, improved, stall, stop }) =>
      [
        `round ${round} closed: ${improved ? 'a new best' : `no new best, stall ${stall}`}`,
        ...(stop ? [`the loop is over: ${stop}`] : []),
      ].join('; '),
  )
}

function answerOf<T>(result: Result<T>, text: (data: T) => Said | Said[]): Result<VerbAnswer> {
  return result.ok ? ok({ data: result.value, text: () => text(result.value) }) : result
}

const roundRefOf = (args: Parsed): RoundRef => ({
  token: args.text('token') ?? '',
  round: args.integer('round'),
})

/** Text says why it cannot be read. */
function readBrief(item: Record<string, unknown>): WrittenBrief | string {
  const parent = textField(item, 'parent')
  const objective = textField(item, 'objective')
  const repair = textField(item, 'repair')
  const artifact = textField(item, 'from_artifact')
  const combine = textField(item, 'combine')
  const idea = textField(item, 'idea')
  if (parent === null && repair === null && artifact === null && combine === null && idea === null)
    return 'it needs a "parent"'
  if (objective === null || objective.trim() === '') return 'it needs an "objective"'
  return {
    parent,
    kind: (textField(item, 'kind') ?? 'edit').slice(0, 100),
    objective: objective.slice(0, 2000),
    boundaries: bounded(textsField(item, 'boundaries')),
    pointers: bounded(textsField(item, 'pointers')),
    hard: item.hard === true,
    ...(repair === null ? {} : { repair }),
    ...(artifact === null ? {} : { from_artifact: artifact }),
    ...(combine === null ? {} : { combine }),
    ...(idea === null ? {} : { idea }),
  }
}

/** Text says why it cannot be read. */
function readFinding(item: Record<string, unknown>): ScanFinding | string {
  const message = textField(item, 'message')
  if (message === null || message.trim() === '') return 'it needs a "message"'
  const kind = FINDING_KINDS.find((one) => one === item.kind)
  if (kind === undefined) return `its "kind" must be one of: ${FINDING_KINDS.join(', ')}`
  const evidence = Array.isArray(item.evidence) ? item.evidence : []
  return {
    kind,
    message,
    evidence: evidence.flatMap((one: unknown) => {
      const { experiment, quote } = (one ?? {}) as Record<string, unknown>
      return typeof experiment === 'string' && typeof quote === 'string' ? [{ experiment, quote }] : []
    }),
  }
}

function readLane(item: Record<string, unknown>): LaneReport | string {
  if (typeof item.lane !== 'number') return 'it needs a "lane"'
  return {
    lane: item.lane,
    learnings: textsField(item, 'learnings'),
    suggestions: textsField(item, 'suggestions'),
  }
}

const bounded = (texts: string[]): string[] => texts.slice(0, 20).map((text) => text.slice(0, 500))
