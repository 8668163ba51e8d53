import { describe, expect, test } from 'vitest'
import type { Expectation } from '../../cli/ledger/texts.ts'
import { type ProposedText, rankProposals } from '../../cli/loop/suite/choose.ts'
import { defectsOf } from '../../cli/loop/suite/prompt.ts'

const TEXTS = new Map(
  ['pitfalls', 'preamble', 'rubric'].map((name) => [name, { content: `old ${name}`, maxChars: 10 }]),
)
const proposed = (asked: string, parts: Partial<ProposedText> = {}): ProposedText => ({
  ...{ asked, artifact: asked, content: 'new text', rationale: 'It failed.' },
  ...{ expected: 0.2, confidence: 0.5 },
  ...parts,
})
const products = (proposals: ProposedText[], known: Expectation[] = []) =>
  rankProposals(proposals, TEXTS, known).choices.map(({ artifact, product }) => [
    artifact,
    Number(product.toFixed(4)),
  ])

describe('the text that is tried', () => {
  test('has not the best product of the worked example', () => {
    const all = [
      proposed('pitfalls', { expected: 0.18, confidence: 0.55 }),
      proposed('preamble', { expected: 0.32, confidence: 0.68 }),
      proposed('rubric', { expected: 0.12, confidence: 0.6 }),
    ]
    expect(products(all)).toEqual([
      ['preamble', 0.2176],
      ['pitfalls', 0.099],
      ['rubric', 0.072],
    ])
  })

  test.each<[string, Partial<ProposedText>, string]>([
    ['proposes nothing', { artifact: null }, 'pitfalls: its agent proposes no text'],
    ['names no artifact', { artifact: 'readme' }, 'pitfalls: it names readme, which is no text of the suite'],
    ['names another one', { artifact: 'rubric' }, 'pitfalls: it names rubric, and was asked for pitfalls'],
    ['has no content', { content: null }, 'pitfalls: it has no content'],
    [
      'changes nothing',
      { content: 'old pitfalls' },
      'pitfalls: its content is the text that is there already',
    ],
    ['is too long', { content: '🙂'.repeat(11) }, 'pitfalls: its content has 11 characters, max_chars is 10'],
    [
      'expects NaN',
      { confidence: Number.NaN },
      'pitfalls: the expected reduction and the confidence are not finite numbers',
    ],
    [
      'expects words',
      { expected: 'much' },
      'pitfalls: the expected reduction and the confidence are not finite numbers',
    ],
    ['expects nothing', { expected: 0 }, 'pitfalls: it expects no reduction of the loss (0)'],
  ])('is taken although it %s', (_, parts, refused) => {
    expect(rankProposals([proposed('pitfalls', parts)], TEXTS, [])).toEqual({
      choices: [],
      refused: [refused],
    })
  })

  test('a confidence above 1 counts in full', () => {
    expect(products([proposed('pitfalls', { confidence: 40 })])).toEqual([['pitfalls', 0.2]])
    expect(products([proposed('pitfalls', { content: '🙂'.repeat(10) })])).toEqual([['pitfalls', 0.1]])
  })

  test('is chosen by what agents expect, whatever such expectations came to', () => {
    const step = (artifact: string, measured: number): Expectation => ({
      ...{ experiment: 'exp_0001', artifact, expected: 0.2, confidence: 1 },
      measured,
    })
    const known = [step('pitfalls', 0.02), step('pitfalls', 0), step('preamble', 0.2), step('preamble', 0.1)]
    const all = [proposed('pitfalls', { expected: 0.4 }), proposed('preamble')]
    expect(products(all, known)).toEqual([
      ['pitfalls', 0.2],
      ['preamble', 0.1],
    ])
    expect(products(all, [...known, step('rubric', -1)])).toEqual([
      ['preamble', 0.075],
      ['pitfalls', 0.02],
    ])
  })
})

test('defects that occurred once are called recurring, or are not word for word', () => {
  const sample = (defects: string[], score = 0.5) => ({
    tasks: { one: { score, parts: { eval: 0.4, status: null }, defects }, two: { score: 0.1 } },
  })
  expect(defectsOf([sample(['no unit', 'too long']), sample(['no unit']), sample(['late'], 0.8)])).toEqual([
    {
      task: 'one',
      loss: expect.closeTo(0.6),
      samples: 3,
      parts: [
        { part: 'eval', mean: expect.closeTo(0.4) },
        { part: 'status', mean: null },
      ],
      recurring: [{ text: 'no unit', times: 2 }],
    },
    { task: 'two', loss: expect.closeTo(0.1), samples: 3, parts: [], recurring: [] },
  ])
  expect(defectsOf([sample(['once'])])[0]?.recurring).toEqual([{ text: 'once', times: 1 }])
})
