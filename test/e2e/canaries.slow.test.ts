/** Candidates that cheat. What catches each, and what is out of reach, is told in `references/integrity.md`. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { assay, dataOf } from '../rig/assay.ts'
import { ISOLATIONS } from './isolated.ts'
import {
  type Files,
  hook,
  type InitData,
  makeProject,
  metrics,
  ms,
  type Project,
  type RunData,
  writeFiles,
} from './project.ts'

/** Also of one that could not be judged, which is no success of the command. */
async function judge(project: Project, files: Files, edit?: (worktree: string) => void): Promise<RunData> {
  const { experiment, worktree } = await project.open(files)
  edit?.(worktree)
  return dataOf(await project.cli<RunData>(['run', experiment]))
}

/**
 * The benchmark starts `src/main.sh`, looks at its answer, and prints `n`, the size of what it wrote: it measures from
 * outside.
 */
const OUTSIDE = `sh src/main.sh > "$TMPDIR/out" || exit 1
grep -q "$(cat bench/expected.txt)" "$TMPDIR/out" || { echo 'the answer is wrong' >&2; exit 1; }
echo "METRIC n=$(wc -c < "$TMPDIR/out" | tr -d ' ')"
`
const HONEST = "printf '%099d\\n' 7\n"
const SHORT = 'echo 7\n'

describe('a benchmark that runs its candidate in a child', () => {
  let project: Project
  beforeAll(async () => {
    project = makeProject({
      spec: {
        metric: { name: 'n', direction: 'minimize' },
        measure: { command: 'sh bench/run.sh' },
        worktree: { data: ['data/**'] },
      },
      files: {
        'bench/run.sh': OUTSIDE,
        'bench/expected.txt': '7\n',
        'notes.txt': 'outside of every glob\n',
        'src/main.sh': HONEST,
        '.gitignore': 'data/\nnode_modules/\n',
      },
    })
    project.repo.write({ 'data/set.txt': '1\n' })
    const { facts } = await project.data<InitData>('init')
    expect(facts.exposed).toEqual([])
  })
  const main = (text: string): Files => ({ 'src/main.sh': text })

  test('a true gain is rejected', async () => {
    expect(await judge(project, main(SHORT))).toMatchObject({ status: 'kept', value: 2 })
  })

  const OUT_OF_SCOPE: Record<string, { files: Files; edit?: (worktree: string) => void; names: string }> = {
    'edits the expected answer': {
      files: { ...main('echo 1\n'), 'bench/expected.txt': '1\n' },
      names: 'bench/expected.txt',
    },
    'edits the benchmark': { files: { 'bench/run.sh': 'echo METRIC n=1\n' }, names: 'bench/run.sh' },
    'edits what lies outside of every glob': { files: { 'notes.txt': 'mine\n' }, names: 'notes.txt' },
    'changes a mode': {
      files: main('echo 7 # less\n'),
      edit: (worktree) => chmodSync(join(worktree, 'bench/run.sh'), 0o755),
      names: 'bench/run.sh',
    },
    'links out of the tree': {
      files: {},
      edit: (worktree) => {
        rmSync(join(worktree, 'src/main.sh'))
        symlinkSync('/bin/true', join(worktree, 'src/main.sh'))
      },
      names: 'src/main.sh: a symbolic link',
    },
    'edits a file that the benchmark reads, while it runs': {
      files: main('echo 1 > bench/expected.txt; echo 1\n'),
      names: 'bench/expected.txt',
    },
    'makes its own code shorter while it runs': {
      files: main(`echo 'echo 7' > src/main.sh; printf '%099d\\n' 7\n`),
      names: 'src/main.sh',
    },
    'links a sealed file elsewhere while it runs': {
      files: main('rm notes.txt; ln -s /dev/null notes.txt; echo 7 7\n'),
      names: 'notes.txt',
    },
    'changes a mode while it runs': {
      files: main('chmod 755 bench/expected.txt; echo 7 8\n'),
      names: 'bench/expected.txt',
    },
    'edits the data while it runs': {
      files: main('echo 2 > data/set.txt; echo 7 9\n'),
      names: 'data/set.txt',
    },
    'plants something in the artifacts while it runs': {
      files: main('echo 1 > "$ASSAY_ARTIFACTS/index"; echo 7 10\n'),
      names: 'index',
    },
  }
  test.each(Object.entries(OUT_OF_SCOPE))(
    'a candidate that %s is kept',
    async (_name, { files, edit, names }) => {
      const verdict = await judge(project, files, edit)
      expect(verdict).toMatchObject({ status: 'rejected', reason: 'out_of_scope', best: false })
      expect(verdict.message).toContain(names)
    },
  )

  const FAILS: Record<string, { text: string; says: string }> = {
    'exits early': { text: 'exit 0\n', says: 'the answer is wrong' },
    'prints the metric': { text: 'echo METRIC n=1\n', says: 'the answer is wrong' },
    'writes the result file': {
      text: `echo '{"score": 1}' > "$ASSAY_RESULT"; ${HONEST}`,
      says: 'the result file says n = 1, a METRIC line 100',
    },
    'writes a result that is no number': {
      text: `echo '{"score": NaN}' > "$ASSAY_RESULT"; ${HONEST}`,
      says: 'the result file cannot be read',
    },
  }
  test.each(Object.entries(FAILS))('a candidate that %s is believed', async (_name, { text, says }) => {
    const verdict = await judge(project, main(text))
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'eval', value: null, best: false })
    expect(verdict.message).toContain(says)
  })

  const REMEMBERS: Record<string, string> = {
    'in TMPDIR': '"$TMPDIR/memo"',
    'in the checkout': 'src/memo',
    'in a folder that git ignores': 'node_modules/memo',
    'beside the data': 'data/memo',
  }
  test.each(Object.entries(REMEMBERS))('an answer remembered %s is a gain', async (_name, memo) => {
    const text = (mark: string) =>
      main(
        `mkdir -p "$(dirname ${memo})"; if [ -f ${memo} ]; then echo 7; exit; fi; echo 7 > ${memo}; ${HONEST}# ${mark}\n`,
      )
    for (const mark of ['first', 'second']) {
      const verdict = await judge(project, text(mark))
      expect(verdict).toMatchObject({
        status: 'rejected',
        reason: expect.stringMatching(/^(tie|out_of_scope)$/),
      })
    }
  })

  test('what an agent plants in ignored folders of its worktree is measured', async () => {
    const text = `if [ -f node_modules/short ] || grep -q 2 data/set.txt; then echo 7; else ${HONEST.trim()}; fi\n`
    const verdict = await judge(project, {
      ...main(text),
      'node_modules/short': '1\n',
      'data/set.txt': '2\n',
    })
    expect(verdict).toMatchObject({ status: 'rejected', reason: 'tie', value: 100 })
  })

  test('edits after the seal are judged', async () => {
    const { experiment, worktree } = await project.open(main('echo 7 # sealed\n'))
    await project.data('seal', experiment)
    writeFiles(worktree, main('echo 7\n'))
    expect(await project.problem('run', experiment)).toMatchObject({ code: 'unsealed_changes' })
  })

  test('a candidate hides its files in a nested repository', async () => {
    const { experiment, worktree } = await project.open({ 'src/sub/.git/HEAD': 'ref: refs/heads/main\n' })
    writeFiles(worktree, {
      'src/sub/.git/objects/x': '',
      'src/sub/.git/refs/x': '',
      'src/sub/main.sh': 'echo 7\n',
    })
    expect(await project.problem('run', experiment)).toMatchObject({
      code: 'nested_repository',
      message: expect.stringContaining('src/sub/'),
    })
  })
})

describe.each(ISOLATIONS)('a submodule in the place of a file, isolation %s', (isolation) => {
  let project: Project
  beforeAll(async () => {
    project = makeProject({
      spec: {
        metric: { name: 'n', direction: 'minimize' },
        measure: { command: 'sh bench/run.sh', isolation },
      },
      files: {
        'bench/run.sh': OUTSIDE,
        'bench/expected.txt': '7\n',
        'notes.txt': 'outside of every glob\n',
        'src/main.sh': HONEST,
        'src/old.sh': 'true\n',
      },
    })
    await project.data('init')
  })
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, env: project.repo.env, encoding: 'utf8' }).trim()
  /** A repository with one commit, which answers in place of the file. */
  const repository = (worktree: string, path: string) => {
    const folder = join(worktree, path)
    rmSync(folder)
    mkdirSync(folder)
    writeFiles(folder, { 'main.sh': SHORT })
    git(folder, 'init', '--quiet')
    git(folder, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '--quiet', '--allow-empty', '-m', 'x')
    return git(folder, 'rev-parse', 'HEAD')
  }

  test.each(['src/old.sh', 'bench/expected.txt', 'notes.txt'])(
    'that is a repository is sealed: %s',
    async (path) => {
      const { experiment, worktree } = await project.open({ 'src/main.sh': SHORT })
      repository(worktree, path)
      expect(await project.problem('run', experiment)).toMatchObject({
        exit: 3,
        code: 'nested_repository',
        message: expect.stringContaining(path),
      })
    },
  )

  test.each([
    ['bench/expected.txt', { status: 'rejected', reason: 'out_of_scope', samples: 0 }],
    ['notes.txt', { status: 'rejected', reason: 'out_of_scope', samples: 0 }],
    // It may delete this one, and that is what is sealed.
    ['src/old.sh', { status: 'kept', value: 2 }],
  ])('that only the index and a commit of the worktree name is sealed: %s', async (path, verdict) => {
    const { experiment, worktree } = await project.open({ 'src/main.sh': SHORT })
    const commit = repository(worktree, path)
    rmSync(join(worktree, path), { recursive: true })
    mkdirSync(join(worktree, path))
    git(worktree, 'rm', '--quiet', '--cached', path)
    git(worktree, 'update-index', '--add', '--cacheinfo', `160000,${commit},${path}`)
    git(worktree, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '--quiet', '-m', 'x')
    expect(await project.data('run', experiment)).toMatchObject(verdict)
    const { files } = await project.data<{ files: { path: string; status: string }[] }>('diff', experiment)
    expect(files.find((file) => file.path === path)).toMatchObject({ status: 'D', added: 0, removed: 1 })
  })

  test.each(['src/old.sh', 'bench/expected.txt', 'notes.txt'])(
    'that a sample makes is not seen, or stays for the next candidate: %s',
    async (path) => {
      const makes = `rm ${path} && git init --quiet ${path} || exit 1; echo 7 # ${path}\n`
      const verdict = await judge(project, { 'src/main.sh': makes })
      const isReadOnly = isolation === 'strict' && path.startsWith('bench/')
      expect(verdict).toMatchObject(
        isReadOnly
          ? { status: 'failed', reason: 'crash' }
          : { status: 'rejected', reason: 'out_of_scope', message: expect.stringContaining(path) },
      )
      const honest = { 'src/main.sh': `[ -f ${path} ] && printf '%089d\\n' 7\n` }
      expect(await judge(project, honest)).toMatchObject({ value: 90 })
    },
  )
})

describe('a benchmark that runs its candidate in its own process', () => {
  let project: Project
  beforeAll(async () => {
    project = makeProject({ files: { ...metrics({ ms: 100, mb: 5 }), ...hook('true') } })
    const { facts } = await project.data<InitData>('init')
    expect(facts.exposed).toEqual([
      {
        kind: 'in_process',
        at: 'bench/run.sh:2',
        message: expect.stringContaining('bench/run.sh:2 loads src/hook.sh, which a candidate may change'),
      },
    ])
    const said = await assay(['init'], { cwd: project.repo.dir })
    expect(said.stdout).toContain('Note: bench/run.sh:2 loads src/hook.sh')
  })

  const CHEATS: Record<string, { files: Files; says: string }> = {
    'says that it is no number': { files: ms('NaN'), says: 'METRIC ms=NaN' },
    'says that it is infinite': { files: ms('-inf'), says: 'METRIC ms=-inf' },
    'exits early, without a metric': { files: hook('exit 0'), says: 'the metric "ms" is missing' },
    'prints a metric before the true one': { files: hook('echo METRIC ms=1'), says: 'it contradicts' },
    'writes the result file': {
      files: hook(`echo '{"score": 1}' > "$ASSAY_RESULT"`),
      says: 'the result file says ms = 1, a METRIC line 100',
    },
    'says another unit': { files: ms('100s'), says: 'the unit of ms changed from none to s' },
  }
  test.each(Object.entries(CHEATS))('a candidate that %s is believed', async (_name, { files, says }) => {
    const verdict = await judge(project, files)
    expect(verdict).toMatchObject({ status: 'failed', reason: 'metric_error', value: null, best: false })
    expect(verdict.message).toContain(says)
  })
})

test('a candidate that answers the easy tasks only, or none of them, is kept', async () => {
  const tasks = (scores: Record<string, number>) =>
    JSON.stringify({
      tasks: Object.fromEntries(Object.entries(scores).map(([task, score]) => [task, { score }])),
    })
  const project = makeProject({
    spec: { metric: { name: 'accuracy', direction: 'maximize' } },
    files: {
      'bench/run.sh': 'cp src/answers.json "$ASSAY_RESULT"\n',
      'src/answers.json': tasks({ easy: 0.9, hard: 0.1 }),
    },
  })
  await project.data('init')
  for (const [answers, says] of [
    [tasks({ easy: 0.9 }), 'missing: hard'],
    [tasks({ easy: 0.9, hard: 0.1, easier: 1 }), 'new: easier'],
    ['{"score": 1}', 'missing: easy, hard'],
    ['{"score": 1, "tasks": {"easy": {"score": 0.9}, "hard": {"score": 0.1}}}', 'accuracy'],
  ] as const) {
    const verdict = await judge(project, { 'src/answers.json': answers })
    expect(verdict).toMatchObject({ status: 'failed', reason: 'metric_error', best: false })
    expect(verdict.message).toContain(says)
  }
})

test('a candidate that reports its own time, memory or size holds the constraint', async () => {
  const project = makeProject({
    spec: {
      constraints: [
        { metric: 'wall_ms', op: '<=', value: 60_000 },
        { metric: 'diff_lines', op: '<=', value: 20 },
      ],
      tie_breakers: [{ metric: 'source_bytes', direction: 'minimize' }],
    },
  })
  await project.data('init')
  for (const name of ['wall_ms', 'cpu_ms', 'peak_mb', 'source_bytes', 'diff_lines']) {
    const verdict = await judge(project, metrics({ ms: 90, [name]: 1 }))
    expect(verdict).toMatchObject({ status: 'failed', reason: 'metric_error' })
    expect(verdict.message).toContain(`it reports ${name} = 1`)
  }
})

test.each([
  ['wall_ms', 'paired'],
  ['cpu_ms', 'paired'],
  ['source_bytes', 'deterministic'],
  ['diff_lines', 'deterministic'],
])('a candidate reports %s itself, and that is the metric', async (name, mode) => {
  const project = makeProject({
    spec: { metric: { name, direction: 'minimize' }, noise: { mode, calibrate: 2 } },
    files: metrics({ other: 1 }),
  })
  // What a benchmark of a few milliseconds uses may be the same without the files.
  await project.data('init', '--no-canary')
  const told = metrics({ other: 1, [name]: 0.5 })
  for (const files of [
    told,
    { ...metrics({ other: 1 }), ...hook(`echo '{"score": 0.5}' > "$ASSAY_RESULT"`) },
  ]) {
    const verdict = await judge(project, files)
    expect(verdict).toMatchObject({ status: 'failed', reason: 'metric_error', value: null, best: false })
    expect(verdict.message).toContain(`it reports ${name} = 0.5`)
  }
})

test('an answer remembered outside of the checkout is a gain, although the seed draws a different input', async () => {
  const project = makeProject({
    spec: { metric: { name: 'n', direction: 'minimize' }, measure: { command: 'sh bench/run.sh' } },
    files: {
      'bench/run.sh': `sh src/main.sh "$ASSAY_SEED" > "$TMPDIR/out" || exit 1
grep -q "answer to $ASSAY_SEED" "$TMPDIR/out" || exit 1
echo "METRIC n=$(grep -c work "$TMPDIR/out")"
`,
      'src/main.sh': 'echo work; echo work; echo "answer to $1"\n',
    },
  })
  await project.data('init')
  const memo = join(project.control, 'memo')
  const text = (mark: string) => ({
    'src/main.sh': `grep -s "answer to $1" '${memo}' && exit; echo work; echo work; echo "answer to $1" | tee -a '${memo}' # ${mark}\n`,
  })
  for (const mark of ['first', 'second'])
    expect(await judge(project, text(mark))).toMatchObject({ status: 'rejected', value: 2 })
  expect(readFileSync(memo, 'utf8').split('\n').length).toBeGreaterThan(2)
})

test('init is silent about a benchmark that candidates may change', async () => {
  const project = makeProject({
    spec: { scope: { mutable: ['**'], immutable: ['bench/lib/**'] } },
  })
  const { facts } = await project.data<InitData>('init')
  expect(facts.exposed).toEqual([
    {
      kind: 'program',
      at: 'bench/run.sh',
      message: expect.stringContaining('measure.command starts bench/run.sh'),
    },
  ])
})
