import { expect, test } from 'vitest'
import { exhausted } from '../../cli/loop/close.ts'
import { History } from './history.ts'

const IDEAS = ['cache the header', 'read in larger blocks', 'sort by first byte']
const childrenOf = (...children: (Partial<Parameters<History['experiment']>[1]> | undefined)[]) => {
  const history = new History().experiment('exp_0001', { value: 90 }).experiment('exp_0002', { value: 80 })
  for (const [at, more] of children.entries()) {
    const options = {
      parent: 'exp_0001',
      value: 95,
      status: 'rejected' as const,
      hypothesis: IDEAS[at] ?? '',
      ...more,
    }
    history.experiment(`exp_001${at}`, options)
  }
  return exhausted(history.state)
}

test('a parent with three children that were no better is not named', () => {
  expect(childrenOf({}, {})).toEqual([])
  expect(childrenOf({}, {}, {})).toEqual([{ experiment: 'exp_0001', why: '3 children, none better' }])
})

test('a parent is to be pruned for children that the machine spoilt, that failed, or though one was better', () => {
  expect(childrenOf({}, {}, { failureClass: 'environment' })).toEqual([])
  expect(childrenOf({}, {}, { value: null, status: 'failed' })).toEqual([])
  expect(childrenOf({}, {}, { value: 85, status: 'kept' })).toEqual([])
})

test('one idea with three numbers exhausts a parent', () => {
  const [a, b, c] = ['1', '2', '3'].map((size) => ({ hypothesis: `made buffer ${size}` }))
  expect(childrenOf(a, b, c)).toEqual([])
})
