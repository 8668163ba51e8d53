import { expect, test } from 'vitest'
import { choicesWithoutAttempt } from '../../cli/measure/random-choices.ts'
import { meanLoss } from '../../cli/suite/loss.ts'
import { inTurns, type RunTask } from '../../cli/suite/turns.ts'

const SUITE = { tasks: 3, concurrency: 1 }

/** Both runs of a pair; `machine` is asked for each task, in the order in which they come to it. */
async function pairOn(
  machine: (who: number, task: number) => number | Promise<number>,
  firstOf: (task: number) => 0 | 1,
  suite = SUITE,
): Promise<[number[], number[]]> {
  const losses: [number[], number[]] = [[], []]
  const turns = inTurns(firstOf)
  const run =
    (who: 0 | 1): RunTask =>
    async (task) => {
      losses[who][task] = await machine(who, task)
      return true
    }
  await Promise.all([turns[0].pace(suite, run(0)), turns[1].pace(suite, run(1))])
  return losses
}

/** Whatever runs later has a larger loss, by steps of different size. */
function drifting() {
  const steps = [0.3, 0.31, 0.35, 0.36, 0.5, 0.62]
  return () => steps.shift() ?? 1
}

test('one side runs all of its tasks before the other, or the coin of a task is not heard', async () => {
  const seen: string[] = []
  await pairOn(
    (who, task) => seen.push(`${'ab'[who]}${task}`),
    (task) => (task === 1 ? 1 : 0),
  )
  expect(seen).toEqual(['a0', 'b0', 'b1', 'a1', 'a2', 'b2'])
})

test('a pair runs more tasks at once than one run of the suite, or fewer', async () => {
  let [running, most] = [0, 0]
  const machine = async () => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    return --running
  }
  await pairOn(machine, () => 0, { tasks: 8, concurrency: 3 })
  expect([most, running]).toEqual([3, 0])
})

test('a run that never begins holds up the other, or one that failed goes on', async () => {
  const alone: number[] = []
  const [one, two] = inTurns(() => 0)
  two.leave()
  await one.pace(SUITE, async (task) => alone.push(task) > 0)
  expect(alone).toEqual([0, 1, 2])

  const seen: string[] = []
  const turns = inTurns(() => 0)
  const run =
    (who: string): RunTask =>
    async (task) => {
      seen.push(`${who}${task}`)
      return who === 'b' || task < 1
    }
  await Promise.all([turns[0].pace(SUITE, run('a')), turns[1].pace(SUITE, run('b'))])
  turns[0].leave()
  expect(seen).toEqual(['a0', 'b0', 'a1', 'b1', 'b2'])
})

test('with the other side of its coin, a pair of the same program has another size than the opposite one', async () => {
  for (const swaps of Array.from({ length: 8 }, (_, bits) =>
    [0, 1, 2].map((task) => ((bits >> task) & 1) === 1),
  )) {
    const difference = async (coin: boolean) => {
      const first = (task: number) => (coin !== swaps[task] ? 0 : 1)
      const [candidate, parent] = await pairOn(drifting(), first)
      return meanLoss(parent) - meanLoss(candidate)
    }
    expect(await difference(true)).toBe(-(await difference(false)))
  }
})

test('a task has no coin of its own, or its coin is not fair, or it tells the coin of the pair', () => {
  const seen = new Map<string, number>()
  for (let nonce = 0; nonce < 1600; nonce++) {
    const choices = choicesWithoutAttempt(String(nonce), 'exp_0001')
    const first = [0, 1].map((task) => choices.first('judge', 0, task))
    const coins = [choices.order('judge', 0)[0], ...first].map((side) => side?.[0]).join('')
    seen.set(coins, (seen.get(coins) ?? 0) + 1)
  }
  expect(seen.size).toBe(8)
  // 200 each, within three standard deviations; the nonces are fixed, so this never changes.
  for (const [coins, times] of seen) expect([coins, Math.abs(times - 200) < 40]).toEqual([coins, true])
})
