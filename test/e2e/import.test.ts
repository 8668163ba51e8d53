import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { makeRepo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { type Project, projectIn } from './project.ts'

/** A runner that writes what it made, and a scorer that reads it; both print what the text says. */
const FILES = {
  'texts/note.md': 'score 0.5\n',
  'tools/run.sh': 'cp texts/note.md made.txt\n',
  'tools/score.sh': `sed -n 's/^score //p' made.txt | while read -r value; do
  printf '{"result":{"total":%s,"all":{"length":%s,"whole":%s}}}\\n' "$value" "$(wc -c < made.txt)" "$(grep -q cut made.txt && echo false || echo true)"
done
`,
  '.gitignore': 'made.txt\nout/\n',
}

const TASK = {
  id: 'Note Quality_1',
  description: 'Make the note better.',
  artifacts: { include: ['texts/**'], exclude: ['texts/fixed/**'], max_files_per_iteration: 2 },
  mutation: { mode: 'rewrite', allowed_file_types: ['md'], max_changed_lines: 10 },
  runner: { command: 'sh tools/run.sh', cwd: '.', timeout_seconds: 1.5 },
  scorer: {
    type: 'command',
    command: 'sh tools/score.sh',
    parse: { format: 'json', score_field: 'result.total', metrics_field: 'result.all' },
  },
  objective: { primary_metric: 'quality', direction: 'maximize' },
  constraints: [
    { metric: 'length', op: '<=', value: 40 },
    { metric: 'whole', op: '==', value: true },
  ],
  policy: { keep_if: 'better', tie_breakers: [{ lower: 'length' }], on_failure: 'discard' },
  budget: { max_iterations: 9, max_failures: 2 },
  logging: { results_file: 'out/results.jsonl', candidate_dir: 'out/candidates' },
}

const projectOf = (task: unknown, files: Record<string, string> = {}): Project =>
  projectIn(
    makeRepo({
      files: { ...FILES, 'task.yaml': typeof task === 'string' ? task : stringify(task), ...files },
    }),
    makeTemp('control'),
  )

interface Key {
  from: string
  to: string | null
  why: string | null
}

test('a key of a task file is lost on the way, or one that has no equal is not named', async () => {
  const project = projectOf(TASK, { 'rubric.md': 'Be short.\n' })
  const printed = await project.data<{ yaml: string; keys: Key[] }>('init', '--from', 'task.yaml', '--print')
  expect(existsSync(project.repo.path('assay.yaml'))).toBe(false)
  expect(parse(printed.yaml)).toEqual({
    version: 1,
    name: 'note-quality-1',
    goal: 'Make the note better.',
    instructions: { file: 'rubric.md' },
    scope: {
      mutable: ['texts/**'],
      immutable: ['texts/fixed/**', 'task.yaml', 'rubric.md'],
      limits: { files: 2, lines: 10, types: ['.md'] },
    },
    measure: {
      command: 'sh tools/run.sh',
      timeout: '1500ms',
      score: { command: 'sh tools/score.sh' },
      read: { json: 'result.total', metrics: 'result.all' },
    },
    metric: { name: 'quality', direction: 'maximize' },
    constraints: TASK.constraints,
    tie_breakers: [{ metric: 'length', direction: 'minimize' }],
    search: { policy: 'argmax' },
    loop: { width: 1, depth: 1 },
    budget: { experiments: 9, failures: 2 },
    report: { jsonl: 'out/results.jsonl' },
  })
  expect(printed.keys.filter(({ to }) => to === null).map(({ from }) => from)).toEqual([
    'mutation.mode',
    'policy.keep_if',
    'policy.on_failure',
    'logging.candidate_dir',
  ])
  const leaves = [
    ...Object.entries(TASK).flatMap(([key, value]) =>
      typeof value === 'object' && !Array.isArray(value)
        ? Object.keys(value).map((below) => `${key}.${below}`)
        : [key],
    ),
  ]
  const said = printed.keys.map(({ from }) => from)
  const silent = ['runner.cwd', 'scorer.type', 'objective.primary_metric', 'objective.direction']
  expect(leaves.filter((leaf) => !said.includes(leaf) && !silent.includes(leaf))).toEqual([])
})

test('a task does not come to a verdict: constraints, tie-breakers, the JSON of the scorer', async () => {
  const project = projectOf(TASK)
  const begun = await project.data<{ baseline: { value: number }; imported: { spec: string } }>(
    'init',
    '--from',
    'task.yaml',
  )
  expect(begun).toMatchObject({
    baseline: { value: 0.5 },
    imported: { spec: project.repo.path('assay.yaml'), format: 'task' },
  })
  const attempts = {
    better: await project.attempt({ 'texts/note.md': 'score 0.6\n' }),
    cut: await project.attempt({ 'texts/note.md': 'score 0.9\ncut\n' }),
    long: await project.attempt({ 'texts/note.md': `score 0.9\n${'x'.repeat(40)}\n` }),
    outside: await project.attempt({ 'tools/score.sh': 'echo 1\n' }),
  }
  expect(
    Object.fromEntries(
      Object.entries(attempts).map(([name, { status, reason }]) => [name, [status, reason]]),
    ),
  ).toEqual({
    better: ['kept', 'improved'],
    cut: ['rejected', 'constraint'],
    long: ['rejected', 'constraint'],
    outside: ['rejected', 'out_of_scope'],
  })
  const results = project.repo.read('out/results.jsonl').trimEnd().split('\n')
  expect(
    results.map((line) => JSON.parse(line)).map(({ decision, metrics }) => [decision, metrics.length]),
  ).toEqual([
    ['keep', 10],
    ['keep', 10],
    ['discard', 14],
    ['discard', 51],
    ['discard', undefined],
  ])
})

test('a spec that is there is written over', async () => {
  const project = projectOf(TASK, { 'assay.yaml': 'mine\n' })
  expect(await project.problem('init', '--from', 'task.yaml')).toMatchObject({ code: 'spec_exists', exit: 3 })
  expect(project.repo.read('assay.yaml')).toBe('mine\n')
  expect(existsSync(project.repo.path('.assay'))).toBe(false)
})

test('the same import is refused the second time, or begins a second run', async () => {
  const project = projectOf(TASK)
  const first = await project.data<{ run: string }>('init', '--from', 'task.yaml')
  expect(await project.data('init', '--from', 'task.yaml')).toMatchObject({ run: first.run, repeated: true })
})

test.each([
  [
    'a slip in the direction',
    { objective: { primary_metric: 'quality', direction: 'maximise' } },
    'maximize',
  ],
  ['an operator that is none', { constraints: [{ metric: 'length', op: '=>', value: 4 }] }, '>='],
  ['a key that is not known', { budget: { max_iteration: 4 } }, 'max_iterations'],
  ['a tie-breaker that names two', { policy: { tie_breakers: [{ lower: 'a', higher: 'b' }] } }, 'lower'],
  ['a scorer of another kind', { scorer: { type: 'llm', command: 'x' } }, 'command'],
  ['a file type with a folder', { mutation: { allowed_file_types: ['a/b'] } }, '.md'],
  ['nothing to run', { runner: { cwd: '.' } }, 'command'],
  ['time without end', { runner: { command: 'x', timeout_seconds: 1e12 } }, ''],
])('a default stands in for %s', async (_, part, hint) => {
  const project = projectOf({ ...TASK, ...part })
  const problem = await project.problem('init', '--from', 'task.yaml')
  expect(problem).toMatchObject({ code: 'spec_invalid', exit: 2 })
  expect(problem.at).toMatch(/^task\.yaml:\d+:\d+\n/)
  expect(`${problem.message} ${problem.hint}`).toContain(hint)
  expect(existsSync(project.repo.path('assay.yaml'))).toBe(false)
})

test.each([
  ['a spec of Assay', 'version: 1\nname: x\n'],
  ['nothing', ''],
  ['prose', 'Make it better.\n'],
])('%s is taken for a task', async (_, text) => {
  const project = projectOf(text)
  expect(await project.problem('init', '--from', 'task.yaml')).toMatchObject({
    code: 'format_unknown',
    exit: 2,
  })
})

test('a file that is not there, or two specs at once, get no answer that helps', async () => {
  const project = projectOf(TASK)
  rmSync(project.repo.path('task.yaml'))
  expect(await project.problem('init', '--from', 'task.yaml')).toMatchObject({
    code: 'spec_unreadable',
    exit: 2,
  })
  expect(await project.problem('init', 'assay.yaml', '--from', 'task.yaml')).toMatchObject({ exit: 2 })
  expect(await project.problem('init', '--print')).toMatchObject({ exit: 2 })
})

test.each([
  [
    'a metric that is a text',
    '{"result":{"total":0.6,"all":{"length":"short"}}}',
    'neither a number nor a boolean',
  ],
  ['a metric that is NaN', '{"result":{"total":0.6,"all":{"length":NaN}}}', 'length is NaN'],
  ['no object of metrics', '{"result":{"total":0.6}}', 'nothing at result.all'],
  ['two values of the primary metric', '{"result":{"total":0.6,"all":{"quality":0.7}}}', 'quality is 0.6'],
  ['a key twice', '{"result":{"total":0.6,"total":0.9,"all":{}}}', 'twice'],
  ['two answers', '{"result":{"total":0.6,"all":{"a":1}}}\n{"result":{"total":0.6,"all":{"a":2}}}', 'a is 1'],
])('a scorer is believed that prints %s', async (_, json, message) => {
  const scorer = { ...TASK.scorer, command: 'cat made.txt' }
  const project = projectOf(
    { ...TASK, scorer, constraints: [], policy: {} },
    { 'texts/note.md': '{"result":{"total":0.5,"all":{"length":1}}}\n' },
  )
  await project.data('init', '--from', 'task.yaml')
  const attempt = await project.attempt({ 'texts/note.md': `${json}\n` })
  expect(attempt).toMatchObject({ status: 'failed', reason: 'metric_error' })
  expect(attempt.message).toContain(message)
})

test('a file of results that cannot be written costs a verdict', async () => {
  const project = projectOf({ ...TASK, logging: { results_file: 'texts/note.md/results.jsonl' } })
  await project.data('init', '--from', 'task.yaml')
  const made = await project.open({ 'texts/note.md': 'score 0.7\n' })
  const ran = await project.cli<{ status: string }>(['run', made.experiment])
  expect(ran.json).toMatchObject({ ok: true, data: { status: 'kept' } })
  expect(ran.stderr).toContain('report.jsonl')
  expect(readFileSync(join(project.repo.dir, 'texts/note.md'), 'utf8')).toBe('score 0.5\n')
})
