/** Whose fault it is when a gate does not pass. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sceneOf } from './loop-scene.ts'
import { makeProject, ms, type StatusData, specText } from './project.ts'

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

/** A gate that fails the first times it runs after `fails`, whatever it looks at. */
function flaky(phase: string) {
  const project = makeProject()
  const left = join(project.control, 'left')
  const command = `n=$(cat '${left}' 2>/dev/null || echo 0); [ "$n" = 0 ] || { echo $((n - 1)) > '${left}'; exit 1; }`
  project.repo.commit('a gate', { 'assay.yaml': specText({ gates: [{ name: 'unit', command, phase }] }) })
  return { project, fails: (times: number) => writeFileSync(left, String(times)) }
}

test.each(['before', 'after'])(
  'a gate that fails once by chance rejects a candidate, or a keep of it is beyond doubt (%s)',
  async (phase) => {
    const { project, fails } = flaky(phase)
    await project.data('init')
    fails(1)
    const doubted = await project.attempt(ms(50))
    const doubt = 'gate unit did not pass at first (exit 1), and passed when it ran again on the same files'
    expect(doubted).toMatchObject({ status: 'kept', doubt })
    expect(await project.data('show', doubted.experiment, '--recompute')).toMatchObject({ same: true })
    expect(await project.data<StatusData>('status')).toMatchObject({ best: { experiment: 'exp_0000' } })
    fails(1)
    expect(await project.data('confirm', doubted.experiment)).toMatchObject({
      passed: false,
      status: 'kept',
      flagged: true,
      message: `not confirmed: ${doubt}`,
    })
    expect(await project.data('confirm', doubted.experiment)).toMatchObject({ passed: true, flagged: false })
    expect(await project.data<StatusData>('status')).toMatchObject({
      best: { experiment: doubted.experiment },
    })
  },
)

test('a gate that fails each time for the candidate alone is asked until it passes', async () => {
  const { project, fails } = flaky('before')
  await project.data('init')
  fails(2)
  const rejected = await project.attempt(ms(50))
  expect(rejected).toMatchObject({ status: 'rejected', reason: 'gate', failure_class: 'hypothesis' })
  expect(await project.data('show', rejected.experiment, '--recompute')).toMatchObject({ same: true })
})
