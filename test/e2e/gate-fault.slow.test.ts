/** Whose fault it is when a gate does not pass. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sceneOf } from './loop-scene.ts'
import { makeProject, ms, specText } from './project.ts'

test.each(['before', 'after'])(
  'a gate that the unchanged parent fails now too rejects a candidate or revokes a keep (%s)',
  async (phase) => {
    const project = makeProject()
    const down = join(project.control, 'down')
    const command = `[ ! -f '${down}' ] || { echo "no database" >&2; exit 1; }; [ ! -f src/bad.txt ]`
    project.repo.commit('a gate', { 'assay.yaml': specText({ gates: [{ name: 'unit', command, phase }] }) })
    await project.data('init')
    const kept = await project.attempt(ms(50))
    expect(kept.status).toBe('kept')
    writeFileSync(down, '')
    const spoilt = await project.attempt(ms(20))
    expect(spoilt).toMatchObject({
      status: 'failed',
      reason: 'environment',
      failure_class: 'environment',
      message:
        'gate unit did not pass: exit 1: no database; the unchanged parent does not pass it now either',
    })
    expect(await project.data('show', spoilt.experiment, '--recompute')).toMatchObject({ same: true })
    const { code, message } = await project.problem('confirm', kept.experiment)
    expect([code, message]).toEqual([
      'not_measured',
      expect.stringMatching(
        /gate unit does not pass, and exp_0000 does not pass it now either: .*no database$/,
      ),
    ])
    expect((await project.problem('finish')).code).toBe('not_measured')
    expect(sceneOf(project.repo).eventsOf('confirmed')).toEqual([])
    rmSync(down)
    expect(await project.data('run', spoilt.experiment)).toMatchObject({ status: 'kept', value: 20 })
    const own = await project.attempt({ ...ms(10), 'src/bad.txt': 'x\n' })
    expect(own).toMatchObject({ status: 'rejected', reason: 'gate', failure_class: 'hypothesis' })
    expect(await project.data('show', own.experiment, '--recompute')).toMatchObject({ same: true })
  },
)
