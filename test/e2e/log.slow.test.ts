import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, startAssay } from '../rig/assay.ts'
import { until } from '../rig/until.ts'
import { hook, makeProject, ms } from './project.ts'

interface Log {
  kind: string
  name: string
  stream: string
  output: string
  elsewhere: boolean
  parts: { kind: string; name: string; passed: boolean | null }[]
}

const SECRET = `ghp_${'a1B2'.repeat(9)}`

const gated = () =>
  makeProject({
    spec: {
      gates: [
        {
          name: 'unit-tests',
          command: 'printf "token ghp_"; cat src/said; ! grep -q FAIL src/said',
          phase: 'before',
        },
      ],
      worktree: { build: { command: 'echo built it' } },
    },
    files: { 'src/said': 'ok 1 - parses\n' },
  })

test('only the last lines of a gate’s output are kept, or its secrets are shown', async () => {
  const project = gated()
  await project.data('init')
  const long = Array.from({ length: 500 }, (_, at) => `ok ${at + 1} - passes`).join('\n')
  const said = `${SECRET.slice(4)}\nFAIL\n${long}\n`
  const failed = await project.attempt({ ...ms(90), 'src/said': said })
  expect(failed).toMatchObject({ reason: 'gate' })
  const log = await project.data<Log>('log', failed.experiment)
  expect(log).toMatchObject({ kind: 'gate', name: 'unit-tests', stream: 'stdout' })
  expect(log.output.split('\n').length).toBeGreaterThan(500)
  expect(log.output).toMatch(/^token .+\nFAIL\n/)
  expect(log.output).not.toContain(SECRET)
  expect(await project.data('log', failed.experiment, 'build')).toMatchObject({ output: 'built it\n' })
  expect(await project.problem('log', failed.experiment, 'sample')).toMatchObject({
    code: 'no_log',
    hint: 'it has: build, gate unit-tests',
  })
  expect(await project.problem('log', failed.experiment, 'tests')).toMatchObject({ code: 'unknown_part' })
})

test('run shows the last of five hundred tests that passed, and not the first one, which failed', async () => {
  const project = gated()
  await project.data('init')
  const passed = Array.from({ length: 500 }, (_, at) => `ok ${at + 2} - passes`).join('\n')
  const { experiment } = await project.open({
    ...ms(90),
    'src/said': `TAP version 13\nnot ok 1 - parses FAIL\n  ---\n  expected: 3\n  actual: 4\n  ...\n${passed}\n1..501\n`,
  })
  const { stdout } = await assay(['run', experiment], { cwd: project.repo.dir })
  expect(stdout).toContain(
    `  | not ok 1 - parses FAIL\n  |   expected: 3\n  |   actual: 4\n  All that it printed: assay log ${experiment}\n`,
  )
})

test('a sample cannot be asked for by its number or its name, or codes of a benchmark reach the terminal', async () => {
  const project = makeProject({ files: hook('echo "\\033]0;title\\007\\033[31mred"; echo warned >&2') })
  await project.data('init')
  const kept = await project.attempt(ms(90))
  const log = await project.data<Log>('log', kept.experiment)
  expect(log).toMatchObject({ kind: 'sample', output: 'red\nMETRIC ms=90\n', elsewhere: true })
  expect(await project.data('log', kept.experiment, 'sample', '1', '--stderr')).toMatchObject({
    name: log.parts[0]?.name,
    output: 'warned\n',
  })
  expect(await project.data('log', kept.experiment, 'sample', log.name)).toEqual(log)
  const shown = await assay(['log', kept.experiment], { cwd: project.repo.dir })
  expect(shown.stdout).toContain(`sample ${log.name}, stdout`)
  expect(shown.stdout).toContain(
    `The other stream has text, too: assay log ${kept.experiment} sample ${log.name} --stderr`,
  )
  expect(shown.stdout).not.toContain('\u001b')
})

test('an experiment that was never measured has no log, and nothing says what to do', async () => {
  const project = makeProject()
  await project.data('init')
  const { experiment } = await project.open(ms(90))
  expect(await project.problem('log', experiment)).toMatchObject({
    code: 'no_log',
    message: `no command of ${experiment} was started yet`,
    hint: `measure it: assay run ${experiment}`,
  })
})

test('--follow waits for the end of a sample, says a line twice, or does not end with the verdict', async () => {
  const project = makeProject()
  await project.data('init')
  const [begun, go] = [join(project.control, 'begun'), join(project.control, 'go')]
  const { experiment } = await project.open({
    ...ms(90),
    ...hook(`echo before; touch '${begun}'; until [ -e '${go}' ]; do sleep 0.05; done; echo after`),
  })
  const cwd = project.repo.dir
  const running = startAssay(['run', experiment, '--json'], { cwd })
  await until(() => existsSync(begun), { what: 'the sample to begin', dir: project.control })
  const following = startAssay(['log', experiment, '--follow'], { cwd })
  await following.said('--- a sample runs\nbefore\n')
  expect(following.output().stdout).not.toContain('after')
  writeFileSync(go, '')
  const { code, stdout } = await following.ended
  expect(code).toBe(0)
  const samples = stdout.match(/^--- sample \S+-candidate: passed$/gm) ?? []
  expect(samples.length).toBeGreaterThan(0)
  for (const line of [/^before$/gm, /^after$/gm, /^METRIC ms=90$/gm])
    expect(stdout.match(line)).toHaveLength(samples.length)
  expect(stdout).toMatch(new RegExp(`^${experiment} kept: `, 'm'))
  await running.ended
})
