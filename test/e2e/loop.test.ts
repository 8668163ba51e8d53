import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { candidatesIn, openScene, tuneFiles, tuneSpec } from './loop-scene.ts'

test('x', async () => {
  const a = await openScene(tuneFiles, tuneSpec())
  const t = performance.now()
  const ran = await a.loop()
  console.log(performance.now() - t, JSON.stringify(dataOf(ran)), candidatesIn(a))
  const b = await openScene(tuneFiles, tuneSpec())
  await b.loop()
  expect(candidatesIn(b)).toEqual(candidatesIn(a))
})
