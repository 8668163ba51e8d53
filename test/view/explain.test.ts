import { expect, test } from 'vitest'
import type { Comparison, Judged } from '../../cli/ledger/events.ts'
import type { StageFact } from '../../cli/measure/steps.ts'
import { explainVerdict } from '../../cli/view/explain.ts'
import { judged, stamped } from '../ledger/drafts.ts'

const METRIC = { name: 'cost', direction: 'minimize' }
const verdict = (status: Judged['status'], more: Parameters<typeof judged>[2] = {}) =>
  stamped(judged('exp_0004', status, more), 'e9') as Judged

const stage = (
  name: StageFact['stage'],
  inputs: Comparison['inputs'],
  more: Partial<Comparison> = {},
): StageFact => ({
  stage: name,
  comparison: {
    outcome: 'improved',
    against: 'exp_0003',
    improvement: 0.0512345,
    improvement_abs: 5.123,
    interval: [2.2222, 7.7777],
    inputs: {
      pairs: 6,
      e: 31.234,
      p: null,
      bounds: { e: 28, p: 0.01 },
      scale: 0.028,
      transform: 'log',
      ...inputs,
    },
    ...more,
  },
})

const said = (one: Judged, ...stages: StageFact[]) => explainVerdict(one, stages, METRIC, 25)

test('a keep does not say how it was found and found again', () => {
  expect(
    said(
      verdict('kept'),
      stage('judge', { why: 'evidence', pairs: 5 }, { interval: null }),
      stage('confirm', { why: 'last_look', pairs: 25, p: 0.0012, bounds: { e: 110, p: 0.005 } }),
      stage('best', { why: 'evidence' }, { against: 'exp_0002', interval: null, improvement: -0.0512345 }),
    ),
  ).toEqual([
    'Judged against exp_0003: 5 of at most 25 pairs, 5.12 % better (too few pairs for an interval; evidence 31.2 of 28); it stopped as soon as the evidence was clear.',
    'Confirmed on fresh pairs against exp_0003: 25 of at most 25 pairs, 5.12 % better (95 % interval 2.22 to 7.78 in the unit of the metric; p = 0.0012, needed 0.005); the exact test after the last pair decided.',
    'Measured against the best, exp_0002: 6 of at most 25 pairs, 5.12 % worse (no interval with two finite ends; evidence 31.2 of 28); it stopped as soon as the evidence was clear.',
  ])
})

test.each([
  [
    'not_better',
    'futility',
    'it stopped early, since pairs like these hardly ever become clear',
    'What would change it: a real gain; at this noise a gain of about 4.11 % is nearly always seen.',
  ],
  [
    'not_better',
    'too_small',
    'it is better by less than metric.min_improvement',
    'What would change it: a real gain; at this noise a gain of about 4.11 % is nearly always seen.',
  ],
  [
    'not_better',
    'worse',
    'it is clearly not better',
    'What would change it: a real gain; at this noise a gain of about 4.11 % is nearly always seen.',
  ],
  [
    'tie',
    'tie',
    'the interval lies within ±metric.min_improvement',
    'What would change it: a gain beyond metric.min_improvement, or a tie-breaker in its favour.',
  ],
  [
    'inconclusive',
    'cap',
    'the last pair allowed was not clear',
    'What would change it: a larger gain (at this noise a gain of about 4.11 % is nearly always seen), quieter samples (the median of several runs inside one), or more pairs than 25 (noise.pairs.max, in a new run).',
  ],
  [
    'unconfirmed',
    'cap',
    'the last pair allowed was not clear',
    'What would change it: a larger gain (at this noise a gain of about 4.11 % is nearly always seen), quieter samples (the median of several runs inside one), or more pairs than 25 (noise.pairs.max, in a new run).',
  ],
] as const)('a rejection does not say what would change it: %s by %s', (reason, why, ending, advice) => {
  const [line, last, ...more] = said(verdict('rejected', { reason }), stage('judge', { why }))
  expect(line?.split('; ').at(-1)).toBe(`${ending}.`)
  expect(last).toBe(advice)
  expect(more).toEqual([])
})

test('a gain of a metric around zero is shown in percent', () => {
  const lines = said(
    verdict('rejected', { reason: 'inconclusive' }),
    stage('judge', { why: 'cap', transform: 'linear', scale: 0.4 }, { improvement: null }),
  )
  expect(lines[0]).toMatch(/pairs, 5\.12 better \(/)
  expect(lines[1]).toMatch(/at this noise a gain of about 0\.6 is nearly always seen/)
})

test('a crowd is taken for noise, which more pairs would help against', () => {
  const lines = said(
    verdict('rejected', { reason: 'inconclusive', failure_class: 'environment' }),
    stage('judge', { why: 'crowd', crowded: 9 }),
  )
  expect(lines[0]).toMatch(/pairs, 9 of them while other programs left no processor idle, 5\.12 % better/)
  expect(lines[0]).toMatch(/; the evidence is clear, but other programs may have made it\.$/)
  expect(lines[1]).toMatch(
    /^What would change it: the same change, run again on a machine with a processor to spare/,
  )
})

test('a different reason than the comparison gets advice on noise', () => {
  expect(said(verdict('rejected', { reason: 'gate' }), stage('judge', { why: 'evidence' }))).toHaveLength(1)
})

test('a comparison without noise does not say that it was one', () => {
  const one = { value: 90, parent_value: 100, against: 'exp_0003' }
  expect(said(verdict('kept', one))).toEqual([
    'Compared with exp_0003: cost = 90, measured twice, against 100; equal code gives equal values here.',
  ])
  expect(said(verdict('rejected', one))).toEqual([
    'Compared with exp_0003: cost = 90, one sample, against 100; equal code gives equal values here.',
    'One sample is enough to say no: the metric was not seen to vary.',
  ])
  expect(said(verdict('failed'))).toEqual([])
  expect(
    said(verdict('rejected', { ...one, reason: 'inconclusive', failure_class: 'environment' })).at(-1),
  ).toMatch(/^What would change it: the same change, run again on a machine with a processor to spare/)
})

test.each([
  ['deterministic', 'log', 'Candidates are compared by one sample, and a better one is measured once more.'],
  ['paired', 'log', 'Candidate and parent are measured in turns and compared by their ratios.'],
  ['paired', 'linear', 'Candidate and parent are measured in turns and compared by their differences.'],
] as const)('a baseline does not say how candidates will be compared: %s, %s', (mode, transform, how) => {
  const calibration = { mode, transform, values: [100, 101.2345], varied: [] }
  expect(said(verdict('kept', { calibration }))).toEqual([`2 samples of cost: 100, 101. ${how}`])
})

test('a record of a different version breaks show', () => {
  expect(
    said(
      verdict('rejected', { reason: 'not_better' }),
      stage('judge', { pairs: undefined, bounds: undefined, e: undefined, scale: undefined }),
    ),
  ).toEqual([
    'Judged against exp_0003: ? of at most 25 pairs, 5.12 % better (95 % interval 2.22 to 7.78 in the unit of the metric; evidence 0 of 0); it ended.',
    'What would change it: a real gain.',
  ])
})
