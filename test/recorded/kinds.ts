/** Runs of every kind, made through the real CLI: what `record` packs, so that later versions answer the same of them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { heldOut, solve } from '../e2e/held-out.ts'
import { openScene, tuneFiles, tuneSpec } from '../e2e/loop-scene.ts'
import { noisyProject, size } from '../e2e/noisy.ts'
import { answers, numberFiles, numberSpec } from '../e2e/number-scene.ts'
import { hook, makeProject, ms, type Project, writeFiles } from '../e2e/project.ts'
import { crash } from '../rig/crash.ts'
import { scriptedHost } from '../rig/host.ts'
import type { Repo } from '../rig/repo.ts'

const audit = (project: Project, id: string, findings: object[]) =>
  project.cli(['audit', id], { input: JSON.stringify({ findings }) })

async function deterministic(): Promise<Repo> {
  const project = makeProject({
    spec: { gates: [{ name: 'small', command: '! grep -q 7 src/metrics.txt' }] },
  })
  await project.data('init')
  const { experiment: good } = await project.attempt(ms(90))
  await project.attempt(ms(80), good)
  await project.attempt(ms(120))
  await project.attempt(ms(90))
  await project.attempt(ms(70))
  await project.attempt({ ...ms(60), 'bench/run.sh': 'echo METRIC ms=1\n' })
  await project.attempt(hook('exit 3'))
  const { experiment: left } = await project.open(ms(50))
  await project.data('discard', left, '--reason', 'not now')
  const { experiment: doubtful } = await project.attempt(ms(85))
  await audit(project, doubtful, [{ message: 'it may know the input' }])
  const { experiment: dull } = await project.attempt(ms(88))
  await project.data('prune', dull, '--reason', 'no more of this')
  await project.data('annotate', good, 'the first gain')
  await project.data('note', 'the input is small')
  await project.data('steer', 'try fewer allocations')
  await project.open(ms(40), good)
  return project.repo
}

async function paired(): Promise<Repo> {
  const project = noisyProject({ noise: { mode: 'paired', calibrate: 4 } })
  await project.data('init')
  const { experiment } = await project.attempt(size(80))
  await project.attempt(size(100.1, { 'src/other': 'x\n' }))
  await project.attempt(size(75), experiment)
  await project.attempt(size(130))
  return project.repo
}

async function confirmed(): Promise<Repo> {
  const project = noisyProject({ noise: { mode: 'paired', calibrate: 4 } })
  await project.data('init')
  const { experiment } = await project.attempt(size(80))
  await project.data('confirm', experiment)
  const { experiment: next } = await project.attempt(size(70), experiment)
  await project.data('confirm', next, '--against', 'exp_0000')
  await project.data('confirm', next)
  return project.repo
}

async function revoked(): Promise<Repo> {
  const project = makeProject()
  await project.data('init')
  const file = join(project.control, 'now')
  writeFileSync(file, 'METRIC ms=50\n')
  const { experiment } = await project.attempt(hook(`cat '${file}'; exit 0`))
  const { experiment: child } = await project.attempt({ ...ms(30), ...hook(':') }, experiment)
  await project.open(ms(20), child)
  writeFileSync(file, 'METRIC ms=150\n')
  await project.cli(['confirm', experiment])
  await project.attempt(ms(95))
  return project.repo
}

async function epochs(): Promise<Repo> {
  const project = makeProject()
  const shift = join(project.control, 'shift')
  writeFileSync(shift, '0')
  project.repo.commit('bench', {
    'bench/run.sh': `value=$(sed 's/METRIC ms=//' src/metrics.txt)\necho METRIC ms=$((value + $(cat '${shift}')))\n`,
  })
  await project.data('init')
  const { experiment } = await project.attempt(ms(90))
  await project.attempt(ms(80), experiment)
  writeFileSync(shift, '50')
  await project.data('epoch', 'open', '--reason', 'another machine')
  await project.data('confirm', experiment)
  await project.attempt(ms(70), experiment)
  return project.repo
}

async function artifacts(): Promise<Repo> {
  const project = makeProject({
    spec: { worktree: { build: { command: ['sh', 'bench/build.sh'] } } },
    files: {
      'bench/build.sh': 'cp src/number.txt "$ASSAY_ARTIFACTS/model.bin"\n',
      'bench/run.sh':
        'echo "{\\"metrics\\": {\\"ms\\": $(cat "$ASSAY_ARTIFACTS/model.bin")}, \\"artifacts\\": {\\"model\\": \\"model.bin\\"}}" > "$ASSAY_RESULT"\n',
      'src/number.txt': '100\n',
    },
  })
  await project.data('init', '--no-canary')
  const { experiment } = await project.attempt({ 'src/number.txt': '90\n' })
  await project.attempt({ 'src/number.txt': '80\n' }, experiment)
  await project.attempt({ 'src/number.txt': '110\n' }, experiment)
  return project.repo
}

async function holdout(): Promise<Repo> {
  const { project, init } = heldOut()
  await init()
  await project.attempt(solve("input === 'visible' ? 50 : 115"))
  await project.attempt(solve('80'))
  return project.repo
}

async function healed(): Promise<Repo> {
  const project = makeProject()
  await project.data('init')
  for (const [value, how] of [
    [90, 'torn'],
    [80, 'before'],
    [70, 'after'],
  ] as const) {
    const { experiment } = await project.open(ms(value))
    const { env } = crash({ line: '"type":"judged"', how, who: 'all' })
    await project.cli(['run', experiment], { env })
    await project.cli(['run', experiment])
  }
  return project.repo
}

async function tuned(): Promise<Repo> {
  const scene = await openScene(tuneFiles, tuneSpec({ budget: { experiments: 6 } }))
  await scene.loop()
  return scene.repo
}

async function looped(): Promise<Repo> {
  const host = scriptedHost(answers({ scan: '() => ({ findings: [] })' }))
  const scene = await openScene(numberFiles, numberSpec(host, { loop: { width: 2, depth: 2, stall: 2 } }))
  await scene.loop('--rounds', '3')
  await scene.cli(['propose'], { proposals: [{ hypothesis: 'half the number' }] })
  return scene.repo
}

async function doubted(): Promise<Repo> {
  const project = makeProject({
    spec: { scope: { mutable: ['src/**', 'test/**'], immutable: ['bench/**'] } },
    files: { 'test/one.test.js': "test('one', () => {})\ntest('two', () => {})\n" },
  })
  await project.data('init')
  const { experiment } = await project.attempt({ ...ms(90), 'test/one.test.js': "test('one', () => {})\n" })
  await project.attempt(ms(95))
  await project.data('restore', experiment, '--reason', 'the test was of no use')
  const made = await project.open(ms(60), experiment)
  writeFiles(made.worktree, { 'test/one.test.js': '' })
  await project.data('run', made.experiment)
  return project.repo
}

/** Each run in its repository. */
export const KINDS: Record<string, () => Promise<Repo>> = {
  deterministic,
  paired,
  confirmed,
  revoked,
  epochs,
  artifacts,
  holdout,
  healed,
  tuned,
  looped,
  doubted,
}
