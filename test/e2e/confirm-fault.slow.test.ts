/** Whose fault it is when a confirmation gets no value. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sceneOf } from './loop-scene.ts'
import { hook, makeProject, ms } from './project.ts'

test.each(['deterministic', 'paired'])(
  'a fault of both sides revokes a keep, or a fault of the kept side alone does not (%s)',
  async (mode) => {
    const project = makeProject({ spec: { noise: { mode, calibrate: 2 } }, files: ms(100) })
    const [both, own] = [join(project.control, 'both'), join(project.control, 'own')]
    project.repo.commit('a benchmark that can fail', hook(`[ ! -f '${both}' ] || exit 3`))
    await project.data('init')
    const failing = hook(`[ ! -f '${both}' ] && [ ! -f '${own}' ] || exit 3`)
    const { experiment, status } = await project.attempt({ ...ms(50), ...failing })
    expect(status).toBe('kept')
    writeFileSync(both, '')
    const { code, message } = await project.problem('confirm', experiment)
    expect([code, message]).toEqual(['not_measured', expect.stringMatching(/; so does exp_0000$|^exp_0000 /)])
    expect(sceneOf(project.repo).eventsOf('confirmed')).toEqual([])
    rmSync(both)
    writeFileSync(own, '')
    expect(await project.data('confirm', experiment)).toMatchObject({
      passed: false,
      status: 'revoked',
      message: expect.stringContaining('not confirmed: '),
    })
    expect(sceneOf(project.repo).eventsOf('confirmed')).toMatchObject([{ passed: false, value: null }])
  },
)
