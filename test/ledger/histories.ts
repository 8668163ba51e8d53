/** Histories of a run at random: what three writers propose who are late, as real ones are. */
import fc from 'fast-check'
import type { Draft, Event } from '../../cli/ledger/events.ts'
import { fold } from '../../cli/ledger/fold.ts'
import { emptyState, type State } from '../../cli/ledger/state.ts'
import {
  audited,
  confirmed,
  created,
  discarded,
  judged,
  keptNode,
  noted,
  pruned,
  restored,
  runStarted,
  sealed,
  stamped,
  started,
} from './drafts.ts'

const CAPS = { experiments: 4, max_attempts: 2, failures: 2 }

/** How often each is tried, against the others. */
const WEIGHTS = {
  ...{ new: 2, seal: 4, run: 6, 'take over': 1, judge: 5, reject: 1, confirm: 1, audit: 1 },
  ...{ discard: 1, prune: 1, restore: 2, note: 1, epoch: 1 },
}
const VERBS = Object.entries(WEIGHTS).flatMap(([verb, weight]) => Array.from({ length: weight }, () => verb))

/** One turn of one writer: what it does, to which experiment, and the details. */
interface Turn {
  writer: number
  verb: number
  node: number
  other: number
  value: number
  blind: boolean
  key: string | undefined
}

const turn: fc.Arbitrary<Turn> = fc.record({
  writer: fc.nat(2),
  verb: fc.nat(VERBS.length - 1),
  node: fc.nat(3),
  other: fc.nat(9),
  value: fc.integer({ min: -3, max: 12 }),
  blind: fc.nat(4).map((n) => n === 0),
  key: fc.oneof({ weight: 15, arbitrary: fc.constant(undefined) }, fc.constantFrom('k1', 'k2', 'k3')),
})

/**
 * Three writers, each of which knows what stood in the file when it wrote last: it continues from there, or proposes
 * blindly. That is how real writers are late, and most proposals are neither surely void nor surely accepted.
 */
export const history: fc.Arbitrary<Event[]> = fc
  .array(fc.noBias(turn), { minLength: 1, maxLength: 200, size: 'max' })
  .map((turns) => {
    const lines = [runStarted(CAPS), ...keptNode('exp_0000', null, 10)].map((draft, n) =>
      stamped(draft, `b${n}`),
    )
    const views = [0, 1, 2].map(() => ({ state: replayed(lines), read: lines.length }))
    for (const [n, one] of turns.entries()) {
      const view = views[one.writer % views.length]
      if (!view) continue
      const draft = proposed(one, view.state)
      lines.push({ ...stamped(draft, `w${n}`), ...(one.key === undefined ? {} : { key: one.key }) })
      for (; view.read < lines.length; view.read++) fold(view.state, lines[view.read] as Event)
    }
    return lines
  })

const keptIn = (state: State): string[] =>
  [...state.experiments.values()].filter(({ status }) => status === 'kept').map(({ id }) => id)

function proposed({ verb, node, other, value, blind }: Turn, view: State): Draft {
  const id = `exp_000${node}`
  const last = view.experiments.get(id)?.attempts.at(-1)
  const attempt = blind ? 1 + (other % 3) : (last?.attempt ?? 1)
  const pick = <T>(...choices: [T, ...T[]]): T => choices[other % choices.length] ?? choices[0]
  switch (VERBS[verb]) {
    case 'new':
      return created(id, (!blind && keptIn(view).at(-1)) || `exp_000${other % 5}`)
    case 'seal':
      return sealed(id, blind ? attempt : (last?.attempt ?? 0) + 1)
    case 'run':
      return started(id, attempt)
    case 'take over':
      return started(id, attempt, blind ? 'nobody' : (last?.claim?.id ?? 'nobody'))
    case 'judge': {
      const status = pick('kept', 'rejected', 'failed')
      const failure = status === 'failed' ? (value > 8 ? 'environment' : 'eval') : null
      const known = status === 'failed' ? null : value
      return judged(id, status, { attempt, failure_class: failure, value: known, signature: failure })
    }
    case 'reject':
      return judged(id, 'rejected', { attempt, reason: 'empty' })
    case 'confirm':
      return confirmed(id, other < 5)
    case 'audit':
      return audited(id, pick('passed', 'flagged', 'revoked'))
    case 'discard':
      return discarded(id)
    case 'prune':
      return pruned(id)
    case 'restore':
      return restored(id)
    case 'epoch':
      return { type: 'epoch_opened', epoch: view.epoch + (blind ? 0 : 1), why: '' }
    default:
      return noted(id)
  }
}

export function replayed(events: Event[]): State {
  const state = emptyState()
  for (const event of events) fold(state, event)
  return state
}

/** The same history with more in it: rounds, notes, remarks, gates, merges and all else that a state keeps. */
export const richHistory: fc.Arbitrary<Event[]> = fc
  .tuple(history, fc.array(fc.nat(99), { minLength: 400, maxLength: 400 }))
  .map(([events, numbers]) => {
    const state = emptyState()
    const lines: Event[] = []
    const add = (event: Event) => {
      lines.push(event)
      fold(state, event)
    }
    for (const [n, event] of events.entries()) {
      const number = numbers[(2 * n) % numbers.length] ?? 0
      add(decorated(event, number))
      const [choice, other] = [numbers[(2 * n + 1) % numbers.length] ?? 0, number % 10]
      for (const [part, draft] of beside(state, choice % 24, other).entries())
        add({ ...stamped(draft, `x${n}.${part}`), at: new Date(n * 1000).toISOString() })
    }
    return lines
  })

function decorated(event: Event, number: number): Event {
  if (event.type === 'judged')
    return {
      ...event,
      ...(number < 15 ? { lost_to: `exp_000${number % 4}` } : {}),
      ...(number % 3 === 0 ? { held_out: true as const, tasks: { a: number, b: 0 } } : {}),
      ...(number % 4 === 0 ? { gates: [{ name: 'g', phase: 'before' as const, passed: number > 50 }] } : {}),
      ...(number % 5 === 0 ? { doubt: 'seen twice', lasting_doubt: 'twice' } : {}),
      ...(number === 99 ? { aborted: { fix: 'the disk' }, reason: 'aborted' as const } : {}),
    }
  if (event.type === 'sealed' && number < 50) return { ...event, tree: 'one tree for several' }
  if (event.type === 'confirmed' && number < 8) return { ...event, varied: 'two values', value: number }
  return event
}

/** Events that a run of the loop has beside its experiments. */
function beside(state: State, choice: number, other: number): Draft[] {
  const experiment = `exp_000${other % 5}`
  const round = state.rounds.at(-1)
  const token = `t${round?.round ?? 0}`
  const next = `exp_${String(state.experiments.size + 10).padStart(4, '0')}`
  const kept = keptIn(state)
  const usage = { tokens_in: 5, tokens_out: other, usd: other > 7 ? null : 0.1 }
  switch (choice) {
    case 0:
      return [
        {
          ...{ type: 'round_opened', round: state.rounds.length + 1, token: `t${state.rounds.length + 1}` },
          ...{ width: 2, depth: 1, parents: [], policy: 'argmax', seed: 1, ideate: null },
        },
      ]
    case 1: {
      const brief = {
        parent: 'exp_0000',
        kind: 'k',
        objective: 'o',
        boundaries: [],
        pointers: [],
        hard: false,
      }
      const lane = { lane: 1, parent: 'exp_0000', experiment: next, brief: { ...brief, idea: 'idea_0001' } }
      return [{ type: 'round_briefed', round: round?.round ?? 1, token, lanes: [lane], refused: [] }]
    }
    case 2: {
      const texts = { learnings: [`learnt ${other}`], suggestions: ['a', 'b'], prune: [] }
      const ended = { round: round?.round ?? 1, token, improved: false, best: 'exp_0000', stall: other }
      return [{ type: 'round_closed', ...ended, ...texts }]
    }
    case 3:
      return [{ type: 'noted', kind: 'learning', experiment, text: `note ${other}` }]
    case 4:
      return [{ type: 'noted', kind: 'objection', experiment: null, text: 'wrong' }]
    case 5:
      return [{ type: 'annotated', experiment, task: other > 5 ? 'a' : null, tag: 'profile', text: 'slow' }]
    case 6: {
      const gate = { name: `g${other}`, command: 'true', phase: 'after' as const, timeoutMs: 5 }
      return [{ type: 'gate_added', experiment, gate, why: '' }]
    }
    case 7:
      return [{ type: 'gate_removed', experiment, name: `g${other}`, why: '' }]
    case 8:
      return [
        { type: 'usage', role: 'implement', host: 'h', experiment, round: null, ms: 1, outcome: 'ok', usage },
      ]
    case 9:
      return [
        {
          ...{
            type: 'task_answered',
            task: `r1/l1/d1/implement.${state.answers.size}`,
            round: 1,
            experiment,
          },
          ...{ sha256: null, answer: other > 5 ? { objection: 'it lies', predicted: '20 %' } : { a: other } },
        },
      ]
    case 10:
      if (kept.length < 2) return []
      return [{ ...created(next, kept.at(-1) ?? null), parents: kept.slice(-2), merge: true }]
    case 11:
      return [{ ...created(next, 'exp_0000', { round: 1, lane: 2, depth: 1 }), arm: 'baseline' }]
    case 12:
      return [
        { ...created(next, kept.at(-1) ?? 'exp_0000'), repair: experiment },
        ...keptNode(next, null, 4).slice(1),
      ]
    case 13:
      return [
        {
          ...{ type: 'proposed', round: null, refused: [] },
          accepted: [
            { hypothesis: `idea of ${experiment}` },
            { hypothesis: 'more', dependencies: ['left-pad'] },
          ],
        } as unknown as Draft,
      ]
    case 14:
      return [{ type: 'steered', experiment: other > 5 ? experiment : null, text: 'faster' }]
    case 15:
      return [{ type: 'conflicted', experiments: kept.slice(0, 2), files: ['a'] } as unknown as Draft]
    case 16:
      return [{ type: 'noted', kind: 'infrastructure', experiment, text: 'no disk' }]
    case 17:
      return [{ type: 'paused', why: 'lunch' }, { type: 'resumed', why: '' } as unknown as Draft]
    case 18: {
      const job = {
        executor: 'slurm' as const,
        job_key: 'k',
        job: '7',
        folder: '/f',
        config: { kind: 'slurm' },
        as_of: 'e1',
      }
      return [{ type: 'dispatched', experiment, attempt: other % 4, ...job }]
    }
    case 19:
      return [{ type: 'placed', experiment, attempt: other % 4, node: 'n1' }]
    case 20:
      return [{ type: 'pinned', experiment: kept.at(-1) ?? experiment, why: `reason ${other}` }]
    case 21:
      return [{ type: 'unpinned', experiment, why: '' }]
    case 22: {
      const about = { experiment: kept[0] ?? experiment, attempt: 1, confirmation: 1 + (other % 3) }
      const begun = { against: 'exp_0000', look: 1, epoch: 1, nonce: 'aa' }
      const job = { executor: 'slurm' as const, job_key: 'c', job: '8', folder: '/f', config: {}, as_of: 'x' }
      return [
        { type: 'confirmation_started', ...about, ...begun },
        { type: 'dispatched', ...about, ...job },
        ...(other < 3 ? [{ type: 'placed' as const, ...about, node: 'n1' }] : []),
        ...(other > 5
          ? [
              {
                type: 'confirmation_ended' as const,
                experiment: about.experiment,
                confirmation: about.confirmation,
                why: 'lost',
              },
            ]
          : []),
      ]
    }
    default:
      return []
  }
}
