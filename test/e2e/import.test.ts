import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { importSpec } from '../../cli/spec/import/import.ts'
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

/** The message and the hint of an import that is refused, with its place. */
function refusalOf(file: string, text: string): string {
  const place = { file, has: () => false, isFolder: () => false }
  const imported = importSpec({ text, file }, { folder: place, root: place })
  if (imported.ok) throw new Error(`it was read: ${imported.value.yaml}`)
  const { code, at, message, hint } = imported.problem
  expect([code, at]).toEqual(['spec_invalid', expect.stringMatching(/^\w+\.yaml:\d+:\d+\n/)])
  return `${message} ${hint}`
}

interface Key {
  from: string
  to: string | null
  why: string | null
}

test('a key of a task file is lost, or one without an equivalent is not named', async () => {
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

test('a file with a mistake begins a run, or leaves a spec behind', async () => {
  const project = projectOf({ ...TASK, objective: { primary_metric: 'quality', direction: 'maximise' } })
  expect(await project.problem('init', '--from', 'task.yaml')).toMatchObject({
    code: 'spec_invalid',
    exit: 2,
  })
  expect([existsSync(project.repo.path('assay.yaml')), existsSync(project.repo.path('.assay'))]).toEqual([
    false,
    false,
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
])('a default replaces %s', (_, part, hint) => {
  expect(refusalOf('task.yaml', stringify({ ...TASK, ...part }))).toContain(hint)
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

const HARD = `
name: quick-pack
description: Pack the fixtures in less time.
metric:
  primary: { type: hard, name: pack_seconds, direction: minimize, target: 1.5, baseline: null }
  degenerate_gates:
    - { name: exit_code, check: "== 0" }
    - { name: packed, check: ">=7", description: all of them }
  objectives:
    - { name: pack_seconds, direction: minimize }
    - { name: size_kb, direction: minimize, role: secondary, max_regression: { type: relative, value: 0.05 } }
    - { name: warnings, direction: minimize, role: secondary, max_regression: { type: absolute, value: 2 } }
    - { name: files, direction: maximize, role: secondary }
  diagnostics: [{ name: per_file }]
measurement:
  command: sh tools/measure.sh
  timeout_seconds: 300
  working_directory: .
  stability: { mode: repeat, repeat_count: 3, aggregation: median, noise_threshold: 1.0 }
scope:
  mutable: [src/pack.sh, ./lib, docs/]
  immutable: [tools/]
execution: { mode: serial, max_concurrent: 4, backend: worktree }
parallel: { port_env_var: PACK_PORT, port_base: 9000 }
dependencies: { approved: [zstd] }
constraints: [Keep the format of the archive.]
stopping: { max_iterations: 12, max_hours: 1.5, plateau_iterations: 4 }
max_runner_up_merges_per_batch: 1
`

const LADDER = `
name: slow-suite
metric:
  primary: { type: hard, name: wall_seconds, direction: minimize }
  degenerate_gates: [{ name: suite_passed, check: "== 1" }]
measurement:
  command: sh tools/measure.sh
  stability:
    mode: ladder
    ladder: { smoke_command: sh tools/smoke.sh, exploratory_pairs: 1, confirmation_repeats: 3 }
scope: { mutable: [src], immutable: [tools] }
execution: { max_concurrent: 2 }
stopping: { target_reached: false, plateau_iterations: 5 }
`

/** A text that a model works by, scored on cases; two objectives, one of which must be reached. */
const TEXT = `
name: shorter-letter
description: Answer more letters rightly, with fewer words
metric:
  primary: { type: hard, name: right_share, direction: maximize, target: 0.9 }
  objectives:
    - { name: words, direction: minimize, role: required, target: 40 }
    - { name: tone, direction: maximize }
    - { name: seconds, direction: minimize, role: secondary }
  degenerate_gates:
    - { name: letters_read, check: ">= 12", description: all of them }
  diagnostics: [{ name: doubtful }]
measurement:
  command: sh measure.sh
  timeout_seconds: 90
  working_directory: tools
  per_case: true
  holdout: { command: sh measure.sh --other }
  stability: { mode: repeat, repeat_count: 3, aggregation: median, comparison: { method: absolute } }
scope:
  mutable: [letters/how.md]
  immutable: [tools/]
execution: { mode: serial, backend: worktree, max_concurrent: 1, sanctioned_env: [LETTER_MODEL] }
parallel: { port_strategy: none, shared_files: [] }
dependencies: { approved: [] }
constraints: ["Keep the greeting"]
stopping: { max_iterations: 8, max_hours: 2, plateau_iterations: 4, target_reached: true }
max_runner_up_merges_per_batch: 0
`

const LETTERS = {
  'letters/how.md': 'right_share=0.5\nwords=50\ntone=3\n',
  'tools/measure.sh': `. ../letters/how.md
echo "{\\"right_share\\":$right_share,\\"words\\":$words,\\"tone\\":$tone,\\"seconds\\":1,\\"letters_read\\":12,\\"doubtful\\":0}"
`,
}
const letter = (right: number, words: number, tone = 3) => ({
  'letters/how.md': `right_share=${right}\nwords=${words}\ntone=${tone}\n`,
})

const PACKED = {
  'src/pack.sh': 'pack_seconds=9\n',
  'lib/a.sh': '',
  'docs/a.md': '',
  'tools/smoke.sh': 'exit 0\n',
  'tools/measure.sh': `. ./src/pack.sh
echo "{\\"pack_seconds\\":$pack_seconds,\\"wall_seconds\\":$pack_seconds,\\"exit_code\\":\${exit_code:-0},\\"packed\\":7,\\"suite_passed\\":1,\\"size_kb\\":10,\\"warnings\\":0,\\"files\\":1,\\"per_file\\":1}"
`,
}

test('a spec with a backlog loses a key, or counts its paths from its own folder', async () => {
  const project = projectOf('', { ...PACKED, 'notes/quick-pack/spec.yaml': HARD })
  const from = 'notes/quick-pack/spec.yaml'
  const printed = await project.data<{ yaml: string; spec: string; keys: Key[] }>(
    'init',
    '--from',
    from,
    '--print',
  )
  expect(printed.spec).toBe(project.repo.path('assay.yaml'))
  expect(parse(printed.yaml)).toEqual({
    version: 1,
    name: 'quick-pack',
    goal: 'Pack the fixtures in less time.',
    instructions: { rules: ['Keep the format of the archive.'] },
    scope: { mutable: ['src/pack.sh', 'lib/**', 'docs/**'], immutable: ['tools/**'] },
    measure: {
      command: 'export PACK_PORT="$ASSAY_PORT"; sh tools/measure.sh',
      timeout: '300s',
      read: 'json',
    },
    metric: { name: 'pack_seconds', direction: 'minimize', target: 1.5 },
    constraints: [
      { metric: 'exit_code', op: '==', value: 0 },
      { metric: 'packed', op: '>=', value: 7 },
    ],
    protected: [
      { metric: 'size_kb', direction: 'minimize', max_regression: '5%' },
      { metric: 'warnings', direction: 'minimize', max_regression: 2 },
    ],
    loop: { width: 1, depth: 1, stall: 4 },
    budget: { experiments: 12, hours: 1.5 },
    dependencies: { approved: ['zstd'] },
  })
  expect(printed.keys.filter(({ to }) => to === null).map(({ from: key }) => key)).toEqual([
    'metric.objectives.files',
    'metric.diagnostics',
    'measurement.stability.noise_threshold',
    'execution.backend',
    'parallel.port_base',
  ])
})

test.each([
  ['one that measures', HARD, { metric: 'pack_seconds' }],
  ['one with a ladder', LADDER, { metric: 'wall_seconds' }],
])('a spec with a backlog does not come to a verdict: %s', async (_, spec) => {
  const project = projectOf('', { ...PACKED, 'spec.yaml': spec })
  await project.data('init', '--from', 'spec.yaml')
  expect(await project.attempt({ 'src/pack.sh': 'pack_seconds=4\n' })).toMatchObject({ status: 'kept' })
})

test('a degenerate candidate of a spec with a backlog is kept', async () => {
  const project = projectOf('', { ...PACKED, 'spec.yaml': HARD })
  await project.data('init', '--from', 'spec.yaml')
  const attempt = await project.attempt({ 'src/pack.sh': 'pack_seconds=4\nexit_code=1\n' })
  expect(attempt).toMatchObject({ status: 'rejected', reason: 'constraint' })
})

test.each([
  ['a direction that is none', 'direction: minimize, target', 'direction: minimise, target', 'minimize'],
  ['an operator that is none', '">=7"', '"=>7"', 'operator'],
  ['a gate without a number', '"== 0"', '"  "', 'operator'],
  ['a method that is none', 'mode: repeat', 'mode: Repeat', 'repeat'],
  ['no gate at all', /degenerate_gates:[\s\S]*?objectives/, 'objectives', 'degenerate_gates'],
  ['a path out of the repository', 'src/pack.sh', '../pack.sh', 'relative'],
  ['a judge that is missing', 'type: hard, name: pack', 'type: judge, name: pack', 'rubric'],
])('a default replaces %s of a spec with a backlog', (_, from, to, hint) => {
  expect(refusalOf('spec.yaml', HARD.replace(from, to))).toContain(hint)
})

test('the loop stops before every required objective is reached, or a candidate makes one worse', async () => {
  const project = projectOf('', { ...LETTERS, 'spec.yaml': TEXT })
  const begun = await project.data<{ imported: { keys: Key[] } }>('init', '--from', 'spec.yaml')
  const become = Object.fromEntries(begun.imported.keys.map(({ from, to }) => [from, to]))
  expect(become).toMatchObject({
    'metric.objectives.words': 'targets, protected',
    'metric.objectives.tone': 'protected',
    'metric.objectives.seconds': null,
    'measurement.per_case': null,
    'measurement.holdout': null,
    'execution.sanctioned_env': 'measure.environment.inherit',
    'dependencies.approved': 'dependencies.approved',
    max_runner_up_merges_per_batch: 'loop.merge',
  })
  expect(parse(project.repo.read('assay.yaml'))).toMatchObject({
    targets: [{ metric: 'words', op: '<=', value: 40 }],
    loop: { merge: 'off' },
    dependencies: { approved: [] },
  })
  const stop = async () => (await project.data<{ stop: string | null }>('status')).stop
  const worse = await project.attempt(letter(0.95, 60))
  expect(worse).toMatchObject({ status: 'rejected', reason: 'protected' })
  expect(await project.attempt(letter(0.95, 45, 2))).toMatchObject({ reason: 'protected' })
  const half = await project.attempt(letter(0.95, 45))
  expect([half.status, await stop()]).toEqual(['kept', null])
  const whole = await project.attempt(letter(0.96, 40), half.experiment)
  expect([whole.status, await stop()]).toEqual(['kept', 'target'])
  const { targets } = await project.data<{ targets: { metric: string; met: boolean }[] }>('status')
  expect(targets.map(({ metric, met }) => [metric, met])).toEqual([
    ['right_share', true],
    ['words', true],
  ])
  await project.data('config', 'set', 'targets', '[{metric: words, op: "<=", value: 30}]', '--reason', 'more')
  expect(await stop()).toBeNull()
})

const LOG = `
spec: quick-pack
run_id: "2026-01-05T10:00:00Z"
started_at: "2026-01-05T10:00:00Z"
baseline: { timestamp: "2026-01-05T10:00:00Z", metrics: { pack_seconds: { aggregate: 9, samples: [9, 9] } } }
experiments:
  - iteration: 1
    batch: 1
    hypothesis: Pack the files side by side
    category: parallel
    outcome: kept
    metrics: { pack_seconds: 6 }
    commit: 0a1b2c3
    learnings: The disk is idle most of the time.
  - { iteration: 2, batch: 1, hypothesis: Use a larger buffer, category: memory, outcome: reverted }
  - { iteration: 3, batch: 2, hypothesis: Compress by zstd, category: codec, outcome: deferred_needs_approval }
best: { iteration: 1, metrics: { pack_seconds: 6 } }
hypothesis_backlog:
  - { description: Compress by zstd, category: codec, priority: high, dep_status: needs_approval, required_deps: [lz] }
  - { description: Skip empty files, category: input, priority: low, dep_status: not_applicable }
  - { description: Hash by xxh, category: codec, dep_status: approved, required_deps: [xxhash] }
`

test('the log of an old run brings scores, or its outcomes and ideas are lost', async () => {
  const project = projectOf('', { ...PACKED, 'spec.yaml': HARD, 'experiment-log.yaml': LOG })
  await project.data('init', '--from', 'spec.yaml')
  const shown = await project.data<{ ideas: object[] }>('init', '--from', 'experiment-log.yaml', '--print')
  expect(shown.ideas).toHaveLength(6)
  expect(await project.data('backlog')).toMatchObject({ ideas: [] })
  const taken = await project.data<{ imported: { refused: object[] } }>(
    'init',
    '--from',
    'experiment-log.yaml',
  )
  // The deferred experiment is in the backlog of the log as well.
  expect(taken.imported.refused).toHaveLength(1)
  const { ideas } = await project.data<{ ideas: Record<string, unknown>[] }>('backlog', '--all')
  expect(
    ideas.map(({ hypothesis, status, outcome, missing }) => [hypothesis, status, outcome, missing]),
  ).toEqual([
    ['Pack the files side by side', 'done', 'kept: The disk is idle most of the time.', []],
    ['Use a larger buffer', 'done', 'reverted', []],
    ['Compress by zstd', 'parked', null, ['lz']],
    ['Skip empty files', 'added', null, []],
    ['Hash by xxh', 'approved', null, []],
  ])
  expect(await project.data('status')).toMatchObject({ counts: { kept: 1 }, best: { value: 9 } })
  const context = await project.data<{ text: string; avoid: { items: { hypothesis: string }[] } }>('context')
  expect(context.avoid.items.map(({ hypothesis }) => hypothesis)).toEqual([
    'Pack the files side by side',
    'Use a larger buffer',
  ])
  const again = await project.cli<{ refused: { reason: string; message: string }[] }>(['propose'], {
    input: JSON.stringify({ ideas: [{ hypothesis: 'use a larger buffer' }] }),
  })
  expect(again.json).toMatchObject({
    data: { refused: [{ reason: 'duplicate', message: 'it was tried before this run: reverted' }] },
  })
})

test('an outcome that is none becomes one', async () => {
  const project = projectOf('', { ...PACKED, 'old.yaml': LOG.replace('reverted }', 'revert }') })
  const refused = await project.problem('init', '--from', 'old.yaml')
  expect(refused).toMatchObject({ code: 'spec_invalid', exit: 2 })
  expect(refused.at).toMatch(/old\.yaml:15:/)
})
