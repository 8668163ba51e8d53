import { expect, test } from 'vitest'
import { judgeScene, quality } from './judge-scene.ts'
import type { InitData } from './project.ts'

test('a candidate whose answers are read as better is kept, one without a change is not, and both can be computed again', async () => {
  const scene = judgeScene()
  const init = await scene.data<InitData>('init')
  expect(init.baseline).toMatchObject({ value: 0, noise: 'paired' })
  expect(scene.calls()).toHaveLength(12)
  const better = await scene.attempt(quality(7))
  expect(better).toMatchObject({ status: 'kept', reason: 'improved', value: 1 })
  const same = await scene.attempt({ 'src/other.txt': 'x' })
  expect(same).toMatchObject({ status: 'rejected' })
  const worse = await scene.attempt(quality(2))
  expect(worse).toMatchObject({ status: 'rejected', reason: 'not_better' })
  for (const { experiment } of [better, same, worse])
    expect(await scene.data('show', experiment, '--recompute')).toMatchObject({ same: true })
})
