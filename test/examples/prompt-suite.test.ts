import { expect, test } from 'vitest'
import type { LoopData } from '../e2e/loop-scene.ts'
import { dataOf } from '../rig/assay.ts'
import { promptSuite } from './prompt-suite-scene.ts'

interface ArtifactData {
  artifacts: { name: string; active: number }[]
  epochs: { loss: number; outcome: string }[]
}

/** The example; one sample each is compared, since a gain is much larger than its noise. */
async function learnt(noise: string): Promise<{ ran: LoopData; texts: ArtifactData }> {
  const scene = promptSuite(noise)
  dataOf(await scene.cli(['init']))
  const ran = dataOf(await scene.loop('--rounds', '5'))
  return { ran, texts: dataOf(await scene.cli<ArtifactData>(['artifact'])) }
}

test('five epochs of the example do not make its texts better', async () => {
  const { ran, texts } = await learnt('noise: { mode: single }\n')
  expect(ran.rounds).toBe(5)
  expect(ran.baseline?.value).toBeGreaterThan(0.38)
  expect(ran.best?.value).toBeLessThan(0.13)
  expect(texts.epochs.map(({ outcome }) => outcome)).toEqual(['baseline', ...Array(5).fill('kept')])
  // Noise decides which text is worth most when two are nearly equal.
  const active = texts.artifacts.map((text) => text.active)
  expect([active.length, Math.min(...active) > 0, active.reduce((sum, one) => sum + one, 0)]).toEqual([
    3,
    true,
    5,
  ])
})
