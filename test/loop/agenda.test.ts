import { describe, expect, test } from 'vitest'
import type { TaskAnswered } from '../../cli/ledger/events.ts'
import { agendaOf, type Facts, nextTasks } from '../../cli/loop/agenda.ts'
import type { Spec } from '../../cli/spec/spec.ts'
import { History } from './history.ts'

const SPEC = { agent: null } as Spec
const FACTS: Facts = { batches: [], lost: new Set(), merges: false }
const idsIn = (history: History, facts = FACTS) => nextTasks(history.state, SPEC, facts).map(({ id }) => id)
const effectsIn = (history: History, facts = FACTS) => agendaOf(history.state, SPEC, facts).effects

function answer(history: History, task: string, given: TaskAnswered['answer'], sha256: string | null = 'a') {
  return history.add({ type: 'task_answered', task, round: 1, experiment: null, sha256, answer: given })
}

function created(history: History, lane = 1, depth = 1, parent = 'exp_0000', experiment = 'exp_0001') {
  const key = `r1/l${lane}/d${depth}/new`
  return history.add({ type: 'created', experiment, parent, hypothesis: key, round: 1, lane, depth, key })
}

const SEALED = {
  type: 'sealed' as const,
  attempt: 1,
  commit: 'c',
  tree: 't1',
  diff: { files: 1, added: 1, removed: 1 },
  left_out: [],
  secrets: [],
}
const sealed = (history: History, attempt = 1) =>
  history.add({ ...SEALED, experiment: 'exp_0001', attempt, tree: `t${attempt}` })

describe('what comes before the lanes', () => {
  test('nothing is asked while no round is open', () => {
    expect(agendaOf(new History().state, SPEC, FACTS)).toEqual({ tasks: [], effects: [], measuring: [] })
  })

  test('briefs wait for every scanner, so that no author writes without what was found', () => {
    const history = new History().open()
    const facts = { ...FACTS, batches: [['exp_0001'], ['exp_0002']] }
    expect(idsIn(history, facts)).toEqual(['r1/scan/1', 'r1/scan/2'])
    answer(history, 'r1/scan/1', { findings: [] })
    expect(idsIn(history, facts)).toEqual(['r1/scan/2'])
    answer(history, 'r1/scan/2', null)
    expect(idsIn(history, facts)).toEqual(['r1/brief'])
  })

  test('briefs of which none became a lane are asked for once more, then the round is collected', () => {
    const history = new History().open()
    answer(history, 'r1/brief', { briefs: [{ objective: 'a' }] })
    expect(effectsIn(history)).toEqual([{ do: 'brief', task: 'r1/brief', record: 'r1/brief/laid' }])
    answer(history, 'r1/brief/laid', { refused: ['it is taken'] }, null)
    expect(idsIn(history)).toEqual(['r1/brief/again'])
    answer(history, 'r1/brief/again', { briefs: [{ objective: 'a' }] })
    answer(history, 'r1/brief/again/laid', { refused: ['it is taken'] }, null)
    expect(idsIn(history)).toEqual(['r1/collect'])
  })

  test('an author who writes no brief is not asked again', () => {
    const history = new History().open()
    answer(history, 'r1/brief', { briefs: [] })
    answer(history, 'r1/brief/laid', { refused: [] }, null)
    expect(idsIn(history)).toEqual(['r1/collect'])
  })
})

describe('lanes', () => {
  test('no lane waits for the other', () => {
    const history = new History().open().briefed('a', 'b')
    created(history)
    expect(idsIn(history)).toEqual(['r1/l1/d1/implement'])
    expect(effectsIn(history)).toMatchObject([{ do: 'create', depth: 1, key: 'r1/l2/d1/new' }])
  })

  test('as many revisions as the knob says, then the candidate is given up as not measured', () => {
    const history = new History({ knobs: { revise: 1 } }).open().briefed('a')
    created(history)
    for (const [edit, seal, verify] of [
      ['implement', 'sealed', 'verify'],
      ['revise.1', 'sealed.1', 'verify.1'],
    ]) {
      expect(idsIn(history)).toEqual([`r1/l1/d1/${edit}`])
      answer(history, `r1/l1/d1/${edit}`, {})
      answer(history, `r1/l1/d1/${seal}`, { attempt: 1, findings: [] }, null)
      answer(history, `r1/l1/d1/${verify}`, { passed: false })
    }
    expect(effectsIn(history)).toMatchObject([{ do: 'discard', experiment: 'exp_0001', class: 'eval' }])
  })

  test('a seal that an earlier version left is verified, and its agent is not asked again', () => {
    const history = new History().open().briefed('a')
    sealed(created(history))
    expect(effectsIn(history)).toEqual([
      {
        do: 'seal',
        experiment: 'exp_0001',
        record: 'r1/l1/d1/sealed',
        answer: 'r1/l1/d1/implement',
      },
    ])
    answer(history, 'r1/l1/d1/sealed', { attempt: 1, findings: [] }, null)
    expect(idsIn(history)).toEqual(['r1/l1/d1/verify'])
  })

  test('a judging process that died is replaced ten times, not for ever', () => {
    const history = new History().open().briefed('a')
    sealed(created(history))
    history.add({
      type: 'started',
      experiment: 'exp_0001',
      attempt: 1,
      owner: { pid: 1, started: '1', host: 'here' },
    })
    expect(agendaOf(history.state, SPEC, FACTS).measuring).toEqual(['exp_0001'])
    const lost = { ...FACTS, lost: new Set(['exp_0001']) }
    for (let count = 1; count <= 10; count++) {
      const record = `r1/l1/d1/run-again.${count}`
      expect(effectsIn(history, lost)).toEqual([{ do: 'run', experiment: 'exp_0001', record, lost: true }])
      answer(history, record, {}, null)
    }
    expect(idsIn(history, lost)).toEqual(['r1/collect'])
  })
})

test('a hard brief names the stronger model for the work, and not for its reader', () => {
  const spec = {
    agent: { model: 'small', effort: null, roles: { hard: { model: 'large', effort: 'high' } } },
  } as unknown as Spec
  const history = new History().open()
  const brief = { parent: 'exp_0000', kind: 'a', objective: 'a', boundaries: [], pointers: [], hard: true }
  const lane = { lane: 1, brief, parent: 'exp_0000', experiment: 'exp_0001' }
  history.add({ type: 'round_briefed', round: 1, token: 'token 1', lanes: [lane], refused: [] })
  created(history)
  expect(nextTasks(history.state, spec, FACTS)).toMatchObject([{ model: 'large', effort: 'high' }])
  answer(history, 'r1/l1/d1/implement', {})
  answer(history, 'r1/l1/d1/sealed', { attempt: 1, findings: [] }, null)
  expect(nextTasks(history.state, spec, FACTS)).toMatchObject([{ role: 'verify', model: 'small' }])
})

describe('the merge at the end of a round', () => {
  const MERGES: Facts = { ...FACTS, merges: true }
  const briefedRound = () => {
    const history = new History().open()
    answer(history, 'r1/brief', { briefs: [] })
    return answer(history, 'r1/brief/laid', { refused: [] }, null)
  }
  const siblings = () =>
    briefedRound().experiment('exp_0001', { value: 90 }).experiment('exp_0002', { value: 80 })
  const EFFECT = { do: 'merge', experiments: ['exp_0002', 'exp_0001'], record: 'r1/merge/ended' }
  const begun = () =>
    siblings().add({
      type: 'created',
      experiment: 'exp_0003',
      parent: 'exp_0002',
      parents: ['exp_0002', 'exp_0001'],
      merge: true,
      hypothesis: '',
      round: 1,
      lane: null,
      depth: null,
    })

  test('two that were kept are not merged, or although the spec says off, or keep the collector waiting', () => {
    expect(effectsIn(siblings(), MERGES)).toEqual([EFFECT])
    expect(idsIn(siblings(), MERGES)).toEqual(['r1/collect'])
    expect(effectsIn(siblings())).toEqual([])
    expect(effectsIn(briefedRound().experiment('exp_0001', { value: 90 }), MERGES)).toEqual([])
  })

  test('a merge that was begun is begun again while it is measured, or is forgotten by the next driver', () => {
    const history = begun()
    expect(effectsIn(history, MERGES)).toEqual([EFFECT])
    history.add({ ...SEALED, experiment: 'exp_0003' })
    history.add({
      type: 'started',
      experiment: 'exp_0003',
      attempt: 1,
      owner: { pid: 1, started: '1', host: 'h' },
    })
    answer(history, 'r1/collect', null)
    expect(agendaOf(history.state, SPEC, MERGES)).toEqual({ tasks: [], effects: [], measuring: ['exp_0003'] })
    expect(effectsIn(history, { ...MERGES, lost: new Set(['exp_0003']) })).toEqual([
      { do: 'run', experiment: 'exp_0003', record: 'r1/merge/exp_0003/run-again.1', lost: true },
    ])
  })

  test('a merge that the machine spoils in this round is measured without end, since an earlier round began it', () => {
    const history = answer(begun(), 'r1/collect', null)
    answer(history, 'r1/merge/ended', { refused: 'later' }, null)
    history.closed(0).open()
    answer(history, 'r2/brief', { briefs: [] })
    answer(history, 'r2/brief/laid', { refused: [] }, null)
    answer(history, 'r2/collect', null)
    expect(effectsIn(history, MERGES)).toEqual([{ ...EFFECT, record: 'r2/merge/ended' }])
    history.experiment('exp_0003', { value: null, failureClass: 'environment' })
    expect(effectsIn(history, MERGES)).toEqual([{ do: 'close' }])
  })

  test('a merge that could not be begun is begun again and again, or the round does not close', () => {
    const history = answer(begun(), 'r1/collect', null)
    answer(history, 'r1/merge/ended', { refused: 'the budget is used' }, null)
    expect(effectsIn(history, MERGES)).toEqual([{ do: 'close' }])
  })
})
