/** Verbs that record a decision and measure nothing: each is one call on the run and the text about its answer. */
import { shown } from '../evaluate/figure.ts'
import type { AnnotateAnswer, ListedRemarks } from '../experiment/manual-decisions.ts'
import { type Idea, PRIORITIES } from '../ledger/events.ts'
import { remarkText, type Steer } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import type { TakesEffect } from '../run/config.ts'
import type { NoteData } from '../run/steer.ts'
import type { VerbModule } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { shownSetting } from './config.ts'
import { listOf, readInput, textField, textsField, verb } from './verb.ts'

type ListedNotes = ReturnType<typeof import('../run/steer.ts').listNotes>
interface ListedSteers {
  steering: Steer[]
  truncated: boolean
}

const settle = () => import('../experiment/manual-decisions.ts')
const steering = () => import('../run/steer.ts')
/** From when a changed key holds. */
const SINCE: Readonly<Record<TakesEffect, string>> = {
  now: 'now',
  'next round': 'the next round',
  'next start': 'the next start of the loop',
}

const list = [
  // -------------------------------------------------------------- about one experiment

  verb('annotate', {
    run: async (
      run,
      { positionals: [id, text], flags, key },
    ): Promise<Result<AnnotateAnswer | ListedRemarks>> => {
      const { annotate, listRemarks } = await settle()
      if (text !== undefined && !says(text))
        return fail({
          kind: 'usage',
          code: 'empty_text',
          message: 'assay annotate needs a TEXT that says something',
          hint: next`${call('annotate', id ?? 'ID', 'TEXT')}; without TEXT it lists the remarks`,
        })
      return id !== undefined && text !== undefined
        ? annotate(run, id, { text, ...flags, key })
        : listRemarks(run, { experiment: id ?? null, tag: flags.tag })
    },
    say: (found) => {
      if (!('remarks' in found)) {
        const { experiment, task } = found
        return `noted on ${experiment}${task === null ? '' : `, task ${plain(task, 100)}`}`
      }
      if (found.remarks.length === 0) return next`there are no remarks: ${call('annotate', 'ID', 'TEXT')}`
      return found.remarks.map((one) => `${one.at.slice(0, 16)}  ${plain(remarkText(one), 500)}`)
    },
  }),

  verb('discard', {
    run: async (run, { positionals: [id], flags, key }) =>
      (await settle()).discard(run, id, {
        why: flags.reason ?? '',
        failureClass: flags['failure-class'],
        key,
      }),
    say: ({ experiment }) => `${experiment} is discarded`,
  }),

  verb('prune', {
    run: async (run, { positionals: [id], flags, key }) =>
      (await settle()).prune(run, id, { why: flags.reason, key }),
    say: ({ experiment }) =>
      next`${experiment} is pruned: it gets no more children, and its score still counts. Undo: ${call('restore', experiment)}`,
  }),

  verb('pin', {
    run: async (run, { positionals: [id], flags, key }) =>
      (await import('../loop/pins.ts')).pin(run, id, { why: flags.reason, key }),
    say: ({ experiment, pinned, k }) => [
      next`${experiment} is pinned: each round offers it as a parent. Undo: ${call('unpin', experiment)}`,
      ...(pinned.length > k
        ? [`  ${pinned.length} experiments are pinned and search.k is ${k}: a round offers the best of them`]
        : []),
    ],
  }),

  verb('unpin', {
    run: async (run, { positionals: [id], flags, key }) =>
      (await import('../loop/pins.ts')).unpin(run, id, { why: flags.reason ?? '', key }),
    say: ({ experiment, changed }) =>
      changed
        ? `${experiment} is not pinned any more`
        : `${experiment} is not pinned: there is nothing to undo`,
  }),

  verb('revoke', {
    run: async (run, { positionals: [id], flags, key }) =>
      (await settle()).revoke(run, id, { why: flags.reason, key }),
    say: ({ experiment, changed }) =>
      changed
        ? next`${experiment} is revoked, and what is built on it no longer counts. Undo: ${call('restore', experiment)}`
        : `${experiment} is revoked already`,
  }),

  verb('restore', {
    run: async (run, { positionals: [id], flags, key }) =>
      (await settle()).restore(run, id, { why: flags.reason ?? '', key }),
    say: ({ experiment, status, changed }) =>
      changed ? `${experiment} is ${status} again` : `${experiment} is ${status}: there is nothing to undo`,
  }),

  verb('gate add', {
    run: async (run, { positionals: [id], flags, key }) => {
      const [{ addGate }, { keepingTurn }] = await Promise.all([
        import('../experiment/gate.ts'),
        import('../run/driver.ts'),
      ])
      const { name, command, phase, timeout, reason } = flags
      const gate = { name, command, phase: phase ?? 'before', timeoutMs: timeout ?? 5 * 60_000 } as const
      return keepingTurn(run, id, () => addGate(run, id, { gate, why: reason, key }))
    },
    say: ({ experiment, gate, passed_on }) =>
      `gate ${plain(gate, 100)} passes on ${passed_on}; from now on it binds ${experiment} and everything below it`,
  }),

  verb('gate remove', {
    run: async (run, { positionals: [id], flags, key }) =>
      (await import('../experiment/gate.ts')).removeGate(run, id, {
        name: flags.name,
        why: flags.reason ?? '',
        key,
      }),
    say: ({ experiment, gate }) =>
      `gate ${plain(gate, 100)} no longer binds ${experiment} and what is below it`,
  }),

  // -------------------------------------------------------------- to the agents of the next rounds

  verb('note', {
    run: async (run, { positionals: [text], flags, key }): Promise<Result<NoteData | ListedNotes>> => {
      const { listNotes, note } = await steering()
      return says(text)
        ? note(run, { text, kind: flags.kind ?? 'note', experiment: flags.experiment, key })
        : ok(listNotes(run, flags.kind, flags.limit ?? 50))
    },
    say: (found) => {
      if ('kind' in found)
        return found.kind === 'objection'
          ? 'noted (objection): status, report and finish show it to people; agents do not get it'
          : `noted (${found.kind}); the next rounds are given it`
      if (found.notes.length === 0) return next`nothing has been noted: ${call('note', 'TEXT')}`
      return [
        ...(found.truncated ? ['… there are older ones: --limit N'] : []),
        ...found.notes.map(({ at, kind, text }) => `${at.slice(0, 16)}  ${kind}  ${plain(text, 500)}`),
      ]
    },
  }),

  verb('steer', {
    run: async (run, { positionals: [first, second], key }): Promise<Result<Steer | ListedSteers>> => {
      const experiment = first !== undefined && /^exp_\d+$/.test(first) ? first : null
      const text = experiment === null ? first : second
      if (experiment === null && second !== undefined) return notOneText(first ?? '')
      if (says(text)) return (await steering()).steer(run, { experiment, text, key })
      const found = run.ledger.state.steers.filter(
        (one) => experiment === null || one.experiment === experiment,
      )
      const shown = found.slice(-50)
      return ok({ steering: shown, truncated: found.length > shown.length })
    },
    say: (found) => {
      if (!('steering' in found)) return `said; ${whereTo(found)}`
      if (found.steering.length === 0)
        return next`this run has no instructions of a person: ${call('steer', 'TEXT')}`
      return found.steering.map((one) => `${one.at.slice(0, 16)}  ${whereTo(one)}: ${plain(one.text, 300)}`)
    },
  }),

  verb('propose', {
    reads: async (context, args) => {
      const input = await readInput(context, args, IDEAS)
      return input.ok ? listOf(input.value, 'ideas', IDEAS, readIdea) : input
    },
    run: async (run, { input, key }) => {
      const { propose } = await import('../loop/ideas.ts')
      return propose(run, input, key)
    },
    say: ({ accepted, refused }) => [
      `${accepted.length} accepted${accepted.length === 0 ? '' : `: ${accepted.map(({ id }) => id).join(', ')}`}`,
      ...refused.map(({ index, reason, message }) => `idea ${index + 1} refused (${reason}): ${message}`),
    ],
  }),

  verb('backlog approve', {
    run: async (run, { positionals, key }) =>
      (await import('../loop/ideas.ts')).approveIdeas(run, positionals, key),
    say: ({ ideas }) => `approved: ${ideas.join(', ')}`,
  }),

  verb('backlog drop', {
    run: async (run, { positionals, flags, key }) =>
      (await import('../loop/ideas.ts')).dropIdeas(run, positionals, { why: flags.reason, key }),
    say: ({ ideas }) => `dropped: ${ideas.join(', ')}`,
  }),

  // -------------------------------------------------------------- about the run as a whole

  verb('config set', {
    run: async (run, { positionals: [name, text], flags, key }) =>
      (await import('../run/config.ts')).setKey(run, { name, text, why: flags.reason, key }),
    say: ({ path, value, before, takes_effect, stop }) => [
      `${path}: ${shownSetting(value)} (it was ${shownSetting(before)}), from ${SINCE[takes_effect]} on`,
      ...(stop ? [`  the loop would stop: ${stop}`] : []),
    ],
  }),

  verb('config sync', {
    run: async (run, { flags, key }) =>
      (await import('../run/config.ts')).syncSpec(run, { why: flags.reason, key }),
    say: ({ file, changes, stop }) => [
      ...(changes.length === 0 ? [`${plain(file, 200)} holds no edit that the run does not have`] : []),
      ...changes.map(
        ({ path, value, before, takes_effect }) =>
          `${path}: ${shownSetting(before)} -> ${shownSetting(value)}, from ${SINCE[takes_effect]} on`,
      ),
      ...(stop ? [`  the loop would stop: ${stop}`] : []),
    ],
  }),

  verb('epoch open', {
    run: async (run, { flags, key }) =>
      (await import('../experiment/epoch.ts')).openEpoch(run, { why: flags.reason, key }),
    exit: ({ verdict }) => (verdict.status === 'kept' ? 0 : 4),
    say: ({ epoch, baseline, outdated, outdated_count, verdict }) => [
      ...(verdict.status === 'kept'
        ? [`epoch ${epoch}: the baseline is ${shown(baseline.value)} (${shown(baseline.before)} before)`]
        : [
            `epoch ${epoch} is open, but its baseline could not be measured: ${plain(verdict.message, 500)}`,
            next`  repair the cause, then: ${call('run', baseline.experiment)}`,
          ]),
      ...(outdated_count === 0
        ? []
        : [
            `  kept in earlier epochs, and neither a parent nor the best until measured again (${outdated_count}):`,
            ...outdated.slice(0, 10).map(({ experiment }) => next`  ${call('confirm', experiment)}`),
          ]),
    ],
  }),
]

export const DECISIONS: Readonly<Record<string, VerbModule>> = Object.fromEntries(
  list.map((one) => [one.name, one]),
)

/** Whether a TEXT was given, and says something. */
const says = (text: string | undefined): text is string => text !== undefined && text.trim() !== ''

const notOneText = (word: string): Result<never> =>
  fail({
    kind: 'usage',
    code: 'bad_value',
    message: `${plain(word, 40)} is not the id of an experiment`,
    hint: next`put the words in quotes: ${call('steer', 'exp_0007', 'Leave the parser alone')}`,
  })

function whereTo({ experiment, delivered }: Steer): string {
  if (delivered === null)
    return experiment === null ? 'waits for the next round' : `waits for the next agent of ${experiment}`
  return delivered.round === null
    ? `delivered to ${plain(delivered.role, 40)} of ${delivered.experiment}`
    : `delivered to round ${delivered.round}`
}

const IDEAS =
  '{"ideas":[{"hypothesis":"…","kind":"…","priority":"high","dependencies":[],"parent":"exp_0003","uplift":0.05,"confidence":0.6,"sources":[]}]}'

function readIdea(item: Record<string, unknown>): Idea | string {
  const hypothesis = textField(item, 'hypothesis')
  if (hypothesis === null) return 'it needs a "hypothesis"'
  const [parent, kind] = [textField(item, 'parent'), textField(item, 'kind')]
  const priority = PRIORITIES.find((one) => one === item.priority)
  if (priority === undefined && item.priority !== undefined && item.priority !== null)
    return `its "priority" must be one of: ${PRIORITIES.join(', ')}`
  const dependencies = textsField(item, 'dependencies')
  const number = (name: string) => (typeof item[name] === 'number' ? { [name]: item[name] as number } : {})
  return {
    hypothesis,
    ...(parent === null || parent === '' ? {} : { parent }),
    ...(kind === null ? {} : { kind }),
    ...(priority === undefined ? {} : { priority }),
    ...(dependencies.length === 0 ? {} : { dependencies }),
    ...number('uplift'),
    ...number('confidence'),
    ...(Array.isArray(item.sources) ? { sources: textsField(item, 'sources').slice(0, 10) } : {}),
  }
}
