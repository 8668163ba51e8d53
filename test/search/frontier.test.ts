import { expect, test } from 'vitest'
import { type FrontierNode, frontierOf, whyNot } from '../../cli/search/frontier.ts'

const names: string[] = []
const keyOf = (id: string): number => {
  if (!names.includes(id)) names.push(id)
  return names.indexOf(id)
}

const node = (id: string, parent: string | null, given: Partial<FrontierNode> = {}): FrontierNode => ({
  ...{ id, parent, key: keyOf(id), parentKey: parent === null ? null : keyOf(parent) },
  children: 0,
  status: 'kept',
  value: 1,
  epoch: 1,
  confirmed: true,
  flagged: false,
  tainted: false,
  order: id,
  ...given,
})
const NOISY = { direction: 'minimize', epoch: 1, deterministic: false } as const

test('what cannot be a parent is in the frontier or left out for the wrong reason, or the baseline needs a confirmation', () => {
  const nodes = [
    node('base', null, { confirmed: false }),
    node('good', 'base'),
    node('rejected', 'base', { status: 'rejected' }),
    node('pruned', 'base', { status: 'pruned' }),
    node('under_pruned', 'pruned'),
    node('unconfirmed', 'base', { confirmed: false }),
    node('old', 'base', { epoch: 0 }),
    node('flagged', 'base', { flagged: true }),
    node('valueless', 'base', { value: null }),
  ]
  expect(frontierOf(nodes, NOISY).map(({ id }) => id)).toEqual(['base', 'good', 'under_pruned'])
  expect(Object.fromEntries(nodes.map((one) => [one.id, whyNot(one, NOISY)]))).toEqual({
    base: null,
    good: null,
    under_pruned: null,
    rejected: 'not_kept',
    pruned: 'not_kept',
    unconfirmed: 'unconfirmed',
    old: 'other_epoch',
    flagged: 'flagged',
    valueless: 'no_value',
  })
})

test('a confirmation is needed where nothing is random', () => {
  const nodes = [node('a', 'base', { confirmed: false })]
  expect(frontierOf(nodes, { ...NOISY, deterministic: true })).toHaveLength(1)
})

test('the score of a minimised metric is not turned round, that of a maximised one is, or its children are not told', () => {
  const nodes = [node('a', null, { value: 4, children: 2 }), node('c', 'a')]
  expect(frontierOf(nodes, NOISY)[0]).toMatchObject({
    id: 'a',
    parent: null,
    value: 4,
    score: -4,
    children: 2,
    keptChildren: 1,
    order: 'a',
  })
  expect(frontierOf(nodes, { ...NOISY, direction: 'maximize' })[0]?.score).toBe(4)
})

test('a kept node that stands on a revoked ancestor is in the frontier', () => {
  const nodes = [node('base', null), node('under', 'revoked', { tainted: true })]
  expect(nodes.map((one) => whyNot(one, NOISY))).toEqual([null, 'revoked_ancestor'])
  expect(frontierOf(nodes, NOISY).map(({ id }) => id)).toEqual(['base'])
})

test('a cycle in broken data is followed without end, or its nodes are lost', () => {
  expect(frontierOf([node('a', 'b'), node('b', 'a')], NOISY)).toHaveLength(2)
})

test('a child that cannot become a parent counts as a kept child, or one that can does not', () => {
  const nodes = [
    node('base', null),
    node('a', 'base'),
    node('pruned', 'base', { status: 'pruned' }),
    node('flagged', 'base', { flagged: true }),
    node('old', 'base', { epoch: 0 }),
    node('rejected', 'base', { status: 'rejected' }),
    node('b', 'a'),
    node('c', 'a'),
  ]
  expect(frontierOf(nodes, NOISY).map(({ id, keptChildren }) => [id, keptChildren])).toEqual([
    ['base', 1],
    ['a', 2],
    ['b', 0],
    ['c', 0],
  ])
})

test('a merge does not count as a kept child of each of its parents', () => {
  const nodes = [
    node('base', null),
    node('a', 'base'),
    node('b', 'base'),
    node('merge', 'a', { otherKeys: [keyOf('b')] }),
  ]
  expect(frontierOf(nodes, NOISY).map(({ id, keptChildren }) => [id, keptChildren])).toEqual([
    ['base', 2],
    ['a', 1],
    ['b', 1],
    ['merge', 0],
  ])
})
