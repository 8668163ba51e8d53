import { expect, test } from 'vitest'
import { judgeScene, quality } from './judge-scene.ts'
import type { InitData, StatusData } from './project.ts'

const small = { batch: 2, holdout: 0 }

test('a better candidate is not kept, equal answers cost a judgement, a verdict rests on more than its record, or the judge sees whose an answer is', async () => {
  const scene = judgeScene({ judge: small })
  const init = await scene.data<InitData>('init')
  expect(init.baseline).toMatchObject({ value: 0, noise: 'paired', samples: 2 })
  expect(scene.calls()).toHaveLength(16)
  const better = await scene.attempt(quality(7))
  expect(better).toMatchObject({ status: 'kept', reason: 'improved', value: 1, against: 'exp_0000' })
  const paid = scene.calls().length
  const same = await scene.attempt({ 'src/other.txt': 'x' })
  expect(same).toMatchObject({ status: 'rejected' })
  expect(scene.calls()).toHaveLength(paid)
  for (const { experiment } of [better, same])
    expect(await scene.data('show', experiment, '--recompute')).toMatchObject({
      same: true,
      record: 'intact',
    })
  const status = await scene.data<StatusData & { judging: object }>('status')
  expect(status.judging).toMatchObject({ calls: paid, usd: paid / 1000, cap: 5, unscored: 0, batch: 2 })
  const plan = await scene.cli(['loop', '--dry-run'])
  expect(plan.code).toBe(0)
  // No prompt says whose an answer is, and the benchmark and the judge see nothing of each other.
  const calls = scene.calls()
  expect(calls.filter(({ prompt }) => /exp_0|candidate|parent|an idea/.test(prompt))).toEqual([])
  expect(calls.filter(({ env }) => env.some((name) => name.startsWith('ASSAY_ITEMS')))).toEqual([])
})
