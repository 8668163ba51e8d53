import { expect, test } from 'vitest'
import type { Mark, PageRow } from '../../cli/view/page-model.ts'
import { Forest, idOfRow, type Listed, type Wanted } from '../../page/forest.ts'

const ALL: Wanted = {
  query: '',
  marks: null,
  order: 'time',
  direction: 'minimize',
  toggled: new Set(),
  path: new Set(),
}

const rowOf = (
  n: number,
  parent: number | null,
  mark: Mark,
  value: number | null,
  hypothesis = '',
): PageRow => ({
  experiment: `exp_${n}`,
  parent: parent === null ? null : `exp_${parent}`,
  status:
    mark === 'inconclusive'
      ? 'rejected'
      : mark === 'confirmed' || mark === 'flagged' || mark === 'merged'
        ? 'kept'
        : mark,
  mark,
  reason: null,
  failure_class: null,
  value,
  epoch: 1,
  range: null,
  improvement: null,
  round: null,
  lane: null,
  arm: false,
  attempts: 1,
  created: n,
  judged: n,
  order: n,
  hypothesis,
})

const forestOf = (...rows: PageRow[]) => new Forest(new Map(rows.map((row) => [row.experiment, row])))
const shown = (listed: Listed) =>
  Array.from({ length: listed.length }, (_, i) => {
    const row = listed.at(i)
    const dimmed = row.kind === 'node' && row.dimmed ? ' dimmed' : ''
    return `${'  '.repeat(row.level - 1)}${idOfRow(row)}${dimmed}`
  })

const small = forestOf(
  rowOf(0, null, 'kept', 100),
  rowOf(1, 0, 'kept', 90, 'cache'),
  rowOf(2, 1, 'kept', 70, 'inline the header'),
  rowOf(3, 0, 'kept', 95),
  rowOf(4, 1, 'kept', 80),
)

test('a filter hides the ancestors of what it finds', () => {
  const listed = small.list({ ...ALL, query: 'HEADER inline' })
  expect(listed.found).toBe(1)
  expect(shown(listed)).toEqual(['exp_0 dimmed', '  exp_1 dimmed', '    exp_2'])
})

test('an order other than that of time loses the nesting', () => {
  const path = new Set(['exp_0', 'exp_1'])
  expect(shown(small.list({ ...ALL, path, order: 'value' }))).toEqual([
    'exp_0',
    '  exp_1',
    '    exp_2',
    '    exp_4',
    '  exp_3',
  ])
  expect(shown(small.list({ ...ALL, path, order: 'value', direction: 'maximize' }))).toEqual([
    'exp_0',
    '  exp_3',
    '  exp_1',
    '    exp_4',
    '    exp_2',
  ])
})

test('an experiment whose parent is missing is not shown', () => {
  const ghost = forestOf(rowOf(0, null, 'kept', 1), rowOf(5, 4, 'kept', 2))
  expect(shown(ghost.list(ALL))).toEqual(['exp_0', 'exp_5'])
})

test('many leaves that led nowhere hide the kept experiments, or cannot be opened', () => {
  const marks: Mark[] = ['rejected', 'failed', 'rejected', 'inconclusive']
  const many = forestOf(
    rowOf(0, null, 'kept', 1),
    ...marks.map((mark, i) => rowOf(i + 1, 0, mark, null)),
    rowOf(5, 0, 'kept', 1),
  )
  const path = new Set(['exp_0'])
  const folded = many.list({ ...ALL, path })
  expect(shown(folded)).toEqual(['exp_0', '  exp_5', '  exp_0/nowhere'])
  expect(folded.at(2)).toMatchObject({
    kind: 'fold',
    position: 2,
    siblings: 2,
    counts: [
      ['rejected', 2],
      ['failed', 1],
      ['inconclusive', 1],
    ],
  })
  expect(folded.indexOf('exp_0/nowhere')).toBe(2)
  expect([folded.indexOf('exp_9'), folded.indexOf(null)]).toEqual([-1, -1])
  const open = many.list({ ...ALL, path, toggled: new Set(['exp_0/nowhere']) })
  expect(shown(open).slice(3)).toEqual(['    exp_1', '    exp_2', '    exp_3', '    exp_4'])
})

test('a chain of 50,000 overflows', () => {
  const chain = forestOf(
    ...Array.from({ length: 50_000 }, (_, i) => rowOf(i, i === 0 ? null : i - 1, 'kept', i, 'x')),
  )
  const listed = chain.list({ ...ALL, query: 'x' })
  expect([listed.length, listed.levelAt(49_999)]).toEqual([50_000, 50_000])
})
