import { expect, test } from 'vitest'
import { type Decision, decisionOf, stepOfDecision } from '../../cli/measure/decisions.ts'

const fault = { reason: 'crash', message: 'it broke' } as const

/** One of each name, so that a new one has to be added here. */
const EACH: { [N in Decision['is']]: Extract<Decision, { is: N }> } = {
  tests: { is: 'tests', tests: [] },
  loose: { is: 'loose', loose: ['a in ASSAY_ARTIFACTS'] },
  prepared: { is: 'prepared', preparation: { setup: null, build: null, seed: fault } },
  mode: { is: 'mode', mode: 'paired' },
  stage: { is: 'stage', stage: 'best', context: { against: 'exp_0001' } as never },
  rival: { is: 'rival', best: null, could: true },
  asked: { is: 'asked', asked: 'exp_0001', because: '4 cores in place of 2' },
  broken: { is: 'broken', placed: 'exp_0002', broken: fault },
  other_gate: { is: 'other_gate', gate: 'unit', phase: 'after', other: fault },
  gate_again: { is: 'gate_again', gate: 'unit', phase: 'before', again: null },
  declared: { is: 'declared', stage: 'judge', pair: 3, declared: fault },
  orphaned: { is: 'orphaned', orphaned: 'exp_0001 was revoked' },
  tampered: { is: 'tampered', tampered: ['a'], beside: true, by: null },
  gone: { is: 'gone', gone: true },
  judgement: {
    is: 'judgement',
    judgement: {
      ...{ stage: 'judge', pair: 0, item: 'm1', draw: 0, first: 'parent', key: 'k', of_first: 1, answer: {} },
      ...{ outcome: 'ok', ms: 5, usage: { tokens_in: 1, tokens_out: 2, usd: null } },
    },
  },
  batch: {
    ...{ is: 'batch', stage: 'confirm', pair: 1, asked: ['m1', 'm2'], changed: 1, d: 0.5 },
    judged: [{ item: 'm1', score: 0.5, chars: [3, 4] }],
  },
  unjudged: { is: 'unjudged', stage: 'judge', pair: 2, unjudged: fault },
  anchored: { is: 'anchored', anchored: 12 },
}

test.each(Object.values(EACH))('the recorded decision $is is read back as a different one', (decision) => {
  const { step, detail } = stepOfDecision(decision)
  expect(decisionOf(step, JSON.parse(JSON.stringify(detail)))).toEqual(decision)
})

test.each([
  ['a conclusion', 'comparison', { comparison: null, tie_break: null }],
  ['a confirmed comparison', 'confirm', { outcome: 'improved', inputs: {} }],
  ['a metric that varied', 'confirm', { varied: 'exp_0001 gave 1, then 2' }],
  ['nothing', 'measure', null],
  ['a step without more', 'setup', undefined],
] as const)('%s is taken for a decision', (_, step, detail) => {
  expect(decisionOf(step, detail)).toBeNull()
})
