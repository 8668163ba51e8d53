import { expect, test } from 'vitest'
import { type Member, settle } from '../../cli/process/cpu-accounting.ts'
import type { ProcessStat } from '../../cli/process/proc.ts'

const member = (parent: number, ownCpuMs: number, childrenCpuMs = 0): Member => ({
  state: 'S',
  parent,
  group: 1,
  started: 100,
  kernel: false,
  ownCpuMs,
  childrenCpuMs,
  spareMs: 0,
})

const looks = (...members: [number, Member][]) => new Map(members)

/** A shell (1) that starts a shell (2) that starts a program (3), which has used 400 ms. */
const BEFORE = looks([1, member(0, 10)], [2, member(1, 10)], [3, member(2, 400)])

const reads = (found: Record<number, ProcessStat>) => (pid: number) => found[pid] ?? null

test('the time of a child counts twice when its parent ends and is waited for while the processes are looked at', () => {
  // The program was gone when it was looked for, the shell above it only afterwards; the first shell waited for both.
  const now = looks([1, member(0, 10)], [2, member(1, 10)])
  const settled = settle(BEFORE, now, 1, reads({ 1: member(0, 10, 420) }))
  expect([...settled.members.keys()]).toEqual([1])
  expect(settled).toMatchObject({ lostMs: 0, dueOfRootMs: null })
})

test('the time of a child that its parent waited for after it was looked at counts as lost', () => {
  const now = looks([1, member(0, 10)], [2, member(1, 10)])
  const settled = settle(BEFORE, now, 1, reads({ 2: member(1, 10, 400) }))
  expect([...settled.members.keys()]).toEqual([1, 2])
  expect(settled.lostMs).toBe(0)
})

test('the time of a child that no process waited for is forgotten', () => {
  const now = looks([1, member(0, 10)])
  expect(settle(BEFORE, now, 1, reads({ 1: member(0, 10) })).lostMs).toBe(410)
})

test('the sum of the first process lacks what ended below it', () => {
  expect(settle(BEFORE, new Map(), 1, reads({}))).toMatchObject({ lostMs: 0, dueOfRootMs: 420 })
})
