import { expect, test } from 'vitest'
import { startAssay } from '../rig/assay.ts'
import { crash } from '../rig/crash.ts'
import { judgeScene, quality } from './judge-scene.ts'
import type { RunData, StatusData } from './project.ts'

const small = { batch: 3, holdout: 0 }

test('a process that is killed amid a batch pays for a judgement twice, loses one, or ends in a different verdict', async () => {
  const scene = judgeScene({ judge: small })
  await scene.data('init')
  const { experiment } = await scene.open(quality(7))
  const deaths = [
    // After the judgement and before the ledger has it, in the middle of a batch.
    { line: '"judgement"', nth: 2, how: 'after', who: 'all' },
    { line: '"role":"judge"', nth: 2, how: 'after', who: 'all' },
    { line: '"role":"judge"', nth: 4, how: 'torn', who: 'all' },
    { line: '"batch"', nth: 1, how: 'before', who: 'all' },
  ] as const
  for (const death of deaths) {
    const { env, deaths: came } = crash(death)
    await startAssay(['run', experiment, '--json'], { cwd: scene.repo.dir, env }).ended
    expect(came()).toBe(1)
  }
  const found = await scene.data<RunData>('run', experiment)
  expect(found).toMatchObject({ status: 'kept', attempt: 1 })
  // No question was put twice.
  const prompts = scene.calls().map(({ prompt }) => prompt)
  expect(new Set(prompts).size).toBe(prompts.length)
  const status = await scene.data<StatusData & { judging: { calls: number } }>('status')
  expect(status.judging.calls).toBe(prompts.length)
  expect(await scene.data('show', experiment, '--recompute')).toMatchObject({ same: true, record: 'intact' })
})
