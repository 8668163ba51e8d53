/** Secrets that a benchmark, a gate or an agent shows: nowhere in what is kept, printed or asked. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, startAssay } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { ALL_SECRETS, leaked } from '../rig/secrets.ts'
import { until } from '../rig/until.ts'
import { notebook, openScene } from './loop-scene.ts'
import { makeProject, ms, type Project } from './project.ts'

const EVERY = Object.values(ALL_SECRETS)
  .map(({ text }) => text)
  .join('\n')
/** Of the user's file of variables: only its value tells that it is one. */
const VALUE = ['wax', 'Bean', '4412', 'Ox'].join('')

/** Files below a folder that hold one of the fakes, with their names. */
function leaks(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const text = readFileSync(join(entry.parentPath, entry.name), 'latin1')
      const found = [...leaked(text), ...(text.includes(VALUE) ? ['value'] : [])]
      return found.length === 0 ? [] : [`${entry.name}: ${found.join(', ')}`]
    })
}

async function shown(project: Pick<Project, 'repo'>, verbs: string[][]): Promise<void> {
  for (const verb of verbs) {
    const { stdout, stderr } = await assay(verb, { cwd: project.repo.dir })
    expect(stdout + stderr, verb.join(' ')).not.toBe('')
    const text = stdout + stderr
    expect([...leaked(text), ...(text.includes(VALUE) ? ['value'] : [])], verb.join(' ')).toEqual([])
  }
}

test('a secret that benchmark, gate, set-up or agent shows is kept or shown again', async () => {
  const say = 'cat ../bench/said.txt 2>/dev/null || cat bench/said.txt; echo "value $APP_PASSWORD"'
  const project = makeProject({
    files: {
      '.gitignore': '.env\n',
      'bench/said.txt': `${EVERY}\n`,
      'bench/run.sh': `${say}\n{ ${say}; } >&2\n${say} > "$ASSAY_TRACES/one.json"\nif [ -f src/broken ]; then ${say} >&2; exit 3; fi\ncat src/metrics.txt\n`,
    },
    spec: {
      worktree: { setup: { command: say } },
      gates: [{ name: 'unit', command: `${say}; grep -q -v 50 src/metrics.txt` }],
      measure: {
        command: ['sh', 'bench/run.sh'],
        before: { command: say },
        environment: { file: '.env', keys: ['APP_PASSWORD'] },
      },
    },
  })
  project.repo.write({ '.env': `APP_PASSWORD=${VALUE}\n` })
  await project.data('init')
  const kept = await project.attempt(ms(90))
  expect([kept.status, kept.value]).toEqual(['kept', 90])
  const failed = await project.attempt({ ...ms(80), 'src/broken': 'x' })
  expect(failed.status).not.toBe('kept')
  expect((await project.attempt(ms(50))).reason).toBe('gate')
  const spoken = `${EVERY} and ${VALUE}`
  const { experiment } = await project.data<{ experiment: string }>('new', '-m', spoken)
  await project.data('seal', experiment, '-m', `now ${spoken}`).catch(() => null)
  await project.data('note', spoken)
  await project.data('annotate', 'exp_0001', spoken)
  const findings = { findings: [{ code: 'opinion', message: spoken }] }
  await project.cli(['audit', 'exp_0001'], { input: JSON.stringify(findings) })
  await project.data('discard', experiment, '--reason', spoken)

  expect(leaks(project.repo.path('.assay', 'runs'))).toEqual([])
  const judged = ['exp_0001', 'exp_0002', 'exp_0003', experiment]
  await shown(project, [
    ...judged.flatMap((id) => [
      ['show', id],
      ['show', id, '--json'],
    ]),
    ...['report', 'context', 'status', 'tree', 'note', 'discards'].flatMap((verb) => [
      [verb],
      [verb, '--json'],
    ]),
    ['traces', 'exp_0001', 'one'],
  ])
  const store = ['--git-dir', project.repo.path('.assay', '.git'), 'log', '--all', '--format=%B']
  expect(leaked(execFileSync('git', store, { encoding: 'utf8', env: project.repo.env }))).toEqual([])
})

test('a secret in an agent’s answer is kept, or goes into a different agent’s prompt', async () => {
  const host = scriptedHost(`
    import { readFileSync, writeFileSync } from 'node:fs'
    const said = ${JSON.stringify(EVERY)}
    export default {
      brief: () => ({ briefs: [{ objective: said, pointers: [said] }] }),
      implement: (card) => {
        writeFileSync(card.worktree + '/src/n.txt', '99\\n')
        return { hypothesis: said, summary: said, learnings: [said], suggestions: [said] }
      },
      verify: () => ({ passed: true }),
      audit: () => ({ findings: [{ code: 'opinion', message: said }] }),
      '*': () => ({ learnings: [said], suggestions: [said] }),
    }`)
  const scene = await openScene(
    { 'src/n.txt': '100\n', 'bench/run.sh': 'echo "METRIC n=$(cat src/n.txt)"\n' },
    {
      version: 1,
      name: 'numbers',
      goal: 'Fewer.',
      scope: { mutable: ['src/**'], immutable: ['bench/**'] },
      measure: { command: ['sh', 'bench/run.sh'] },
      metric: { name: 'n', direction: 'minimize' },
      noise: { mode: 'deterministic', calibrate: 2 },
      loop: { width: 1, depth: 1, stall: 2 },
      budget: { experiments: 1 },
      agent: { host: 'command', command: host.argv },
    },
  )
  const loop = await scene.startLoop().ended
  expect(leaked(loop.stdout + loop.stderr)).toEqual([])
  expect(host.calls().map(({ role }) => role)).toContain('collect')
  expect(
    host.calls().flatMap(({ role, prompt }) => leaked(prompt).map((name) => `${role}: ${name}`)),
  ).toEqual([])
  expect(leaks(scene.repo.path('.assay', 'runs'))).toEqual([])
  await shown(scene, [['show', 'exp_0001'], ['report', '--json'], ['context'], ['round', 'open', '--json']])
})

test.each([
  ['run', []],
  ['abort', ['--reason', 'it was killed']],
])('after a killed process, the next %s keeps its output with the secrets', async (verb, flags) => {
  const notes = notebook()
  const project = makeProject({
    // What is gone on with fails before the sample, which would write over what was left.
    spec: { measure: { command: 'sh bench/run.sh', before: { command: `test ! -f '${notes.file}.go'` } } },
    files: {
      'bench/said.txt': `${EVERY}\n`,
      'bench/run.sh': `cat bench/said.txt
if [ -f src/hold ] && [ ! -f '${notes.file}.go' ]; then
  echo said >> '${notes.file}'
  while [ ! -f '${notes.file}.go' ]; do sleep 0.05; done
fi
cat src/metrics.txt
`,
    },
  })
  await project.data('init')
  const { experiment } = await project.open({ ...ms(90), 'src/hold': 'x' })
  const running = startAssay(['run', experiment, '--json'], { cwd: project.repo.dir })
  await until(() => notes.lines().length === 1, { what: 'the benchmark to have said it' })
  running.kill('SIGKILL')
  await running.ended
  const outputs = () => [
    ...leaks(project.repo.path('.assay', 'runs')),
    ...leaks(project.repo.path('.assay/m/0/desk')),
  ]
  expect(outputs()).not.toEqual([])
  writeFileSync(`${notes.file}.go`, '')
  await project.data(verb, experiment, ...flags)
  expect(outputs()).toEqual([])
})
