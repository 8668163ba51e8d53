import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { SECRETS } from '../rig/secrets.ts'
import {
  hook,
  makeProject,
  ms,
  type NewData,
  type Project,
  type RunData,
  type StatusData,
  writeFiles,
} from './project.ts'

let project: Project
beforeAll(async () => {
  project = makeProject({
    files: {
      'gates/check.sh': 'true\n',
      '.gitignore': 'build/\n',
      'other/file.txt': 'x\n',
      'src/old.txt': 'old\n',
      'src/known.txt': `auth = '${SECRETS.npm?.text}'\n`,
    },
    spec: {
      scope: {
        mutable: ['src/**'],
        immutable: ['bench/**', 'gates/**'],
        limits: { files: 3, lines: 10, types: ['.txt', '.sh', '.env'] },
      },
      gates: [{ name: 'check', command: 'sh gates/check.sh' }],
      budget: { experiments: 50 },
    },
  })
  await project.data('init')
})

const rejected = (reason: string) => ({ status: 'rejected', reason, failure_class: 'hypothesis', samples: 0 })

test('an empty candidate is kept or charged, or can be repeated without end', async () => {
  const { experiment, worktree } = await project.open({})
  const empty = { ...rejected('empty'), message: 'nothing changed against the parent' }
  for (let attempt = 1; attempt <= 10; attempt++) {
    writeFiles(worktree, { 'other/file.txt': attempt % 2 === 1 ? 'x\n' : 'y\n' })
    expect(await project.data('run', experiment)).toMatchObject({
      attempt,
      ...(attempt % 2 === 1 ? empty : rejected('out_of_scope')),
    })
    // The same content again is the same answer.
    if (attempt === 1)
      expect(await project.data('run', experiment)).toMatchObject({ attempt, repeated: true })
  }
  const status = await project.data<StatusData>('status')
  expect(status.counts).toMatchObject({ kept: 1, rejected: 1 })
  expect(status.budget.experiments.used).toBe(0)
  writeFiles(worktree, { 'other/file.txt': 'x\n' })
  for (const verb of ['seal', 'run'])
    expect(await project.problem(verb, experiment)).toMatchObject({
      exit: 3,
      code: 'too_many_free',
      hint: `discard it and try a different idea: assay discard ${experiment}`,
    })
})

test('the same files are paid for twice, or the earlier verdict is not named', async () => {
  const first = await project.attempt(ms(120))
  expect(first).toMatchObject({ status: 'rejected', reason: 'not_better' })
  const before = [project.starts().length, (await project.data<StatusData>('status')).budget.experiments.used]
  const twin = await project.attempt(ms(120))
  expect(twin).toMatchObject({
    ...rejected('duplicate'),
    message: `the same files were judged as ${first.experiment}: rejected, 120`,
  })
  const after = [project.starts().length, (await project.data<StatusData>('status')).budget.experiments.used]
  expect(after).toEqual(before)
})

describe('a change out of scope is measured, or not named:', () => {
  const cases: Record<string, Record<string, string>> = {
    'bench/run.sh': { 'bench/run.sh': 'echo METRIC ms=1\n' },
    'gates/check.sh': { 'gates/check.sh': 'exit 0\n' },
    'assay.yaml': { 'assay.yaml': '{}\n' },
    'other/file.txt': { 'other/file.txt': 'y\n' },
  }
  for (const [path, files] of Object.entries(cases)) {
    test(path, async () => {
      const starts = project.starts().length
      const answer = await project.attempt({ ...ms(50), ...files })
      expect(answer).toMatchObject(rejected('out_of_scope'))
      expect(answer.message).toContain(path)
      expect(project.starts()).toHaveLength(starts)
    })
  }
  test('a deleted file', async () => {
    const { experiment, worktree } = await project.open(ms(50))
    rmSync(join(worktree, 'bench/run.sh'))
    const answer = await project.data<RunData>('run', experiment)
    expect(answer).toMatchObject(rejected('out_of_scope'))
    expect(answer.message).toContain('bench/run.sh')
  })
  test('a symbolic link', async () => {
    const { experiment, worktree } = await project.open(ms(50))
    symlinkSync('../bench', join(worktree, 'src/link.txt'))
    const answer = await project.data<RunData>('run', experiment)
    expect(answer).toMatchObject(rejected('out_of_scope'))
    expect(answer.message).toContain('src/link.txt: a symbolic link')
  })
})

test('the limits of a candidate do not hold', async () => {
  const many = await project.attempt({ ...ms(50), 'src/a.txt': '', 'src/b.txt': '', 'src/c.txt': '' })
  expect(many).toMatchObject({
    ...rejected('over_limit'),
    message: '4 files changed, scope.limits.files is 3',
  })
  const long = await project.attempt({ 'src/a.txt': 'line\n'.repeat(11) })
  expect(long).toMatchObject({
    ...rejected('over_limit'),
    message: '11 lines changed, scope.limits.lines is 10',
  })
  // One NUL makes a file binary to git.
  const hidden = await project.attempt({ 'src/a.txt': `# \0\n${'line\n'.repeat(200)}` })
  expect(hidden).toMatchObject({
    ...rejected('over_limit'),
    message: '201 lines changed, scope.limits.lines is 10',
  })
  const type = await project.attempt({ 'src/tool.exe': 'x\n' })
  expect(type).toMatchObject(rejected('over_limit'))
  expect(type.message).toContain('src/tool.exe')
})

test('a worktree that was deleted is a candidate that changed nothing', async () => {
  const { experiment, worktree } = await project.open(ms(50))
  rmSync(worktree, { recursive: true })
  expect(await project.problem('run', experiment)).toMatchObject({
    exit: 3,
    code: 'worktree_gone',
    at: worktree,
  })
  expect(await project.data('show', experiment)).toMatchObject({ status: 'open', attempts: [] })
  expect(existsSync(worktree)).toBe(true)
})

test('a secret becomes part of a candidate, or of the store', async () => {
  const secret = 'TOKEN=correct-horse-battery-staple'
  const { experiment, worktree } = await project.open({ ...ms(50), 'src/.env': `${secret}\n` })
  const answer = await project.data<RunData>('run', experiment)
  expect(answer).toMatchObject(rejected('secret'))
  expect(answer.message).toContain('src/.env looks like a secret (environment file)')
  expect(await project.data('check', experiment)).toMatchObject({ passed: false })
  await project.data('seal', experiment, '-m', 'again')
  const all = execFileSync('git', ['cat-file', '--batch', '--batch-all-objects', '--unordered'], {
    cwd: project.repo.path('.assay'),
    env: { ...project.repo.env, GIT_DIR: project.repo.path('.assay/.git') },
    maxBuffer: 1 << 28,
  }).toString('latin1')
  expect(all).toContain('METRIC ms=100')
  expect(all).not.toContain('correct-horse')
  rmSync(join(worktree, 'src/.env'))
  await project.data('seal', experiment)
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 50 })
})

test('a key inside an ordinary file becomes part of a candidate or of the store, or one that was there is refused', async () => {
  const { text } = SECRETS.github ?? { text: '' }
  const { experiment, worktree } = await project.open({
    ...ms(48),
    'src/client.txt': `const host = 'example.com'\nconst auth = '${text}'\n`,
    'src/known.txt': `auth = '${SECRETS.npm?.text}'\nconst token = 'identifier0', password = 'abcdefgh1'\n`,
  })
  const answer = await project.data<RunData>('run', experiment)
  expect(answer).toMatchObject(rejected('secret'))
  expect(answer.message).toContain('src/client.txt looks like a secret (GitHub token in line 2)')
  expect(JSON.stringify(answer)).not.toContain(text)
  const checked = await project.data<{ findings: { path: string }[] }>('check', experiment)
  expect(checked.findings.map(({ path }) => path)).toEqual(['src/client.txt'])
  const kept = execFileSync('git', ['cat-file', '--batch', '--batch-all-objects', '--unordered'], {
    cwd: project.repo.path('.assay'),
    env: { ...project.repo.env, GIT_DIR: project.repo.path('.assay/.git') },
    maxBuffer: 1 << 28,
  }).toString('latin1')
  expect(kept).not.toContain(text)
  writeFiles(worktree, { 'src/client.txt': "const host = 'example.com'\n" })
  await project.data('seal', experiment)
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 48 })
})

test('a nested repository is sealed as nothing, or not named', async () => {
  const { experiment, worktree } = await project.open(ms(51))
  execFileSync('git', ['init', '--quiet', join(worktree, 'src/inner')], { env: project.repo.env })
  writeFiles(worktree, { 'src/inner/a.txt': 'a\n' })
  const problem = await project.problem('run', experiment)
  expect(problem).toMatchObject({ exit: 3, code: 'nested_repository', data: { paths: ['src/inner/'] } })
  rmSync(join(worktree, 'src/inner/.git'), { recursive: true })
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 51 })
})

test('a new file in scope is left out, or one outside of it slips in', async () => {
  const { experiment, worktree } = await project.open({
    ...hook('cat src/more.txt; exit 0'),
    'src/more.txt': 'METRIC ms=49\n',
    'scratch.log': 'x\n',
    'src/build/out.txt': 'x\n',
  })
  const sealed = await project.data<Record<string, unknown>>('seal', experiment)
  expect(sealed).toEqual({
    experiment,
    attempt: 1,
    commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    tree: expect.stringMatching(/^[0-9a-f]{40}$/),
    files: 2,
    lines: 2,
    left_out: ['scratch.log'],
    ignored: [{ path: 'src/build/out.txt', rule: '.gitignore:1' }],
    secrets: [],
    changed: true,
  })
  expect(await project.data('seal', experiment)).toMatchObject({ attempt: 1, commit: sealed.commit })
  expect(await project.data('check', experiment)).toEqual({
    experiment,
    attempt: 1,
    passed: true,
    findings: [],
  })
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 49, attempt: 1 })
  const { files } = await project.data<{ files: unknown[] }>('diff', experiment)
  expect(files).toEqual([
    { path: 'src/hook.sh', status: 'A', added: 1, removed: 0 },
    { path: 'src/more.txt', status: 'A', added: 1, removed: 0 },
  ])
  appendFileSync(join(worktree, 'src/more.txt'), '\n')
  expect(await project.problem('run', experiment)).toMatchObject({ exit: 3, code: 'is_kept' })
})

test('an edit after the seal is judged unseen', async () => {
  const { experiment, worktree } = await project.open(ms(60))
  await project.data('seal', experiment)
  writeFiles(worktree, ms(10))
  expect(await project.problem('run', experiment)).toMatchObject({
    exit: 3,
    code: 'unsealed_changes',
    hint: `seal it again: assay seal ${experiment}`,
  })
  expect(await project.data('seal', experiment)).toMatchObject({ attempt: 2, files: 1, lines: 2 })
  expect(await project.data('run', experiment)).toMatchObject({ attempt: 2, status: 'kept', value: 10 })
})

test('run --sealed does not judge the seal, or gives its verdict to a later edit', async () => {
  const { experiment, worktree } = await project.open(ms(9))
  await project.data('seal', experiment)
  writeFiles(worktree, ms(1))
  expect(await project.data('run', experiment, '--sealed', '--detach')).toMatchObject({ started: true })
  expect(await project.data('wait', '--for', experiment, '--timeout', '60s')).toMatchObject({ value: 9 })
  expect(await project.data('run', experiment, '--sealed')).toMatchObject({ status: 'kept', value: 9 })
  expect(await project.problem('run', experiment)).toMatchObject({ exit: 3, code: 'is_kept' })
})

test('an edit in the user’s checkout by mistake is answered as if there were no edit', async () => {
  const { experiment, worktree } = await project.open({})
  writeFiles(project.repo.dir, { 'src/old.txt': 'edited in the wrong folder\n' })
  try {
    const answer = await project.data<RunData>('run', experiment)
    expect(answer).toMatchObject(rejected('empty'))
    expect(answer.message).toBe(
      `nothing changed against the parent. But src/old.txt changed in ${project.repo.dir} since this experiment was opened: move the edit into ${worktree}, then run it again`,
    )
  } finally {
    project.repo.git('checkout', '--quiet', 'src/old.txt')
  }
  expect(readFileSync(join(worktree, 'src/old.txt'), 'utf8')).toBe('old\n')
})

test('an empty message, an unknown parent or an unknown experiment is found only later', async () => {
  expect(await project.problem('new', '-m', '  ')).toMatchObject({ exit: 2, code: 'no_hypothesis' })
  expect((await project.problem('new', '--parent', 'exp_0999', '-m', 'x')).code).toBe('unknown_experiment')
  for (const verb of ['run', 'seal', 'check', 'show', 'diff', 'path', 'discard'])
    expect(await project.problem(verb, 'exp_0999')).toMatchObject({ exit: 2, code: 'unknown_experiment' })
  const open = await project.data<NewData>('new', '-m', 'unjudged')
  const child = await project.problem('new', '--parent', open.experiment, '-m', 'x')
  expect(child).toMatchObject({ exit: 3, code: 'bad_parent' })
  expect(dataOf(await project.cli(['status']))).toMatchObject({ run: 'run_0001' })
})

test('wait for a round or loop that never existed answers that it has ended', async () => {
  expect(await project.problem('wait', '--for', 'round')).toMatchObject({
    exit: 3,
    code: 'no_round',
    message: 'no round has been opened in this run',
    hint: 'start one: assay loop; or wait for an experiment by its id: assay wait --for ID',
  })
  expect(await project.problem('wait', '--for', 'loop')).toMatchObject({ exit: 3, code: 'no_loop' })
})
