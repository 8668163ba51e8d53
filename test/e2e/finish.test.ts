import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assay, dataOf } from '../rig/assay.ts'
import { SECRETS } from '../rig/secrets.ts'
import {
  hook,
  type InitData,
  makeProject,
  ms,
  type NewData,
  type Project,
  type RunData,
  writeFiles,
} from './project.ts'

interface FinishData {
  branch: string
  commit: string
  base: string
  commits: { commit: string; experiments: string[]; subject: string }[]
  squashed: boolean
  experiment: string
  dirty_base: boolean
  committer: { name: string; email: string }
  signing: { signed: boolean; problem: string | null } | null
  fresh: { passed: boolean; value: number; against: string; improvement: number }
  files: { path: string; status: string }[]
  text: string
  file: string
}

/** What of the user's own must stay as it is, byte for byte. */
function standing({ repo }: Project) {
  const index = createHash('sha256')
    .update(readFileSync(repo.path('.git', 'index')))
    .digest('hex')
  return {
    index,
    head: readFileSync(repo.path('.git', 'HEAD'), 'utf8'),
    status: repo.git('status', '--porcelain=v2', '--untracked-files=all'),
    refs: repo.git('for-each-ref', '--format=%(refname) %(objectname)'),
    fetchHead: existsSync(repo.path('.git', 'FETCH_HEAD')),
  }
}

/** exp_0001 (ms 80) and on it exp_0002 (ms 50), which deletes, moves and adds files. */
async function twoKeeps(project: Project): Promise<void> {
  await project.data<InitData>('init')
  const first = await project.open(ms(80))
  await project.data<RunData>('run', first.experiment)
  const second = await project.data<NewData>(
    'new',
    '--parent',
    'exp_0001',
    '-m',
    'Move what is slow, fixes #12 of @someone',
  )
  writeFiles(second.worktree, { ...ms(50), 'src/neu/größe 100%\t$(x).txt': 'moved\n' })
  rmSync(join(second.worktree, 'src', 'old.txt'))
  await project.data<RunData>('run', second.experiment)
}

const withOld = () => makeProject({ files: { 'src/old.txt': 'moved\n', 'README.md': 'one\n' } })

describe('a branch of the winner', () => {
  test('is not what was measured, or touches the tree, the index, HEAD, a hook or a signature of the user', async () => {
    const project = withOld()
    const { repo } = project
    await twoKeeps(project)
    const base = repo.git('rev-parse', 'HEAD')
    repo.git('checkout', '--quiet', '--detach')
    repo.git('config', 'commit.gpgsign', 'true')
    repo.git('config', 'gpg.program', '/nonexistent')
    repo.git('config', 'protocol.file.allow', 'never')
    for (const name of ['pre-commit', 'commit-msg', 'reference-transaction', 'post-commit', 'post-checkout'])
      repo.write({
        [`.git/hooks/${name}`]: {
          text: `#!/bin/sh\ntouch '${project.control}/hooked'\nexit 1\n`,
          mode: 0o755,
        },
      })
    repo.write({ 'README.md': 'staged\n' })
    await repo.user.add('README.md')
    repo.write({ 'README.md': 'and edited\n', 'untracked.txt': 'mine\n' })
    const before = standing(project)

    const data = await project.data<FinishData>('finish')

    const { refs, ...rest } = standing(project)
    expect({ ...rest, refs: refs.replace(`refs/heads/assay/demo ${data.commit}\n`, '') }).toEqual(before)
    expect(existsSync(join(project.control, 'hooked'))).toBe(false)
    expect(data).toMatchObject({
      branch: 'assay/demo',
      base,
      squashed: false,
      experiment: 'exp_0002',
      dirty_base: false,
      fresh: { passed: true, value: 50, against: 'exp_0000', improvement: 0.5 },
    })
    expect(data.committer).toEqual({ name: 'Rig', email: 'rig@example.invalid' })
    expect(repo.git('log', '-1', '--format=%an <%ae> %cn <%ce> %G?', data.commit)).toBe(
      'Assay <assay@localhost> Rig <rig@example.invalid> N',
    )
    expect(data.signing?.signed).toBe(false)
    expect(data.signing?.problem).toContain('/nonexistent')
    expect(data.commits.map(({ experiments, subject }) => [experiments, subject])).toEqual([
      [['exp_0001'], 'an idea'],
      [['exp_0002'], 'Move what is slow, fixes # 12 of @ someone'],
    ])
    expect(repo.git('rev-list', `${base}..assay/demo`).split('\n')).toEqual(
      data.commits.map(({ commit }) => commit).reverse(),
    )
    expect(
      repo
        .git('-c', 'core.quotePath=false', 'diff', '--name-status', '-z', '--no-renames', base, 'assay/demo')
        .split('\0'),
    ).toEqual(['M', 'src/metrics.txt', 'A', 'src/neu/größe 100%\t$(x).txt', 'D', 'src/old.txt', ''])
    expect(repo.git('show', 'assay/demo:src/metrics.txt')).toBe('METRIC ms=50')
    expect(repo.git('fsck', '--connectivity-only', '--no-dangling')).toBe('')
    expect(readFileSync(data.file, 'utf8')).toBe(data.text)
    expect(repo.git('show', '--no-patch', '--format=%B', 'assay/demo')).not.toMatch(/#1|@s/)
    expect(data.text).toContain('Move what is slow, fixes `#12` of `@someone`')
    expect(data.text).toContain('| ms (minimize) | 100 | 50 (50 % better) |')
    expect(data.text).toContain(`    git worktree add --detach ../before ${base}\n`)
    expect(data.text).toContain('    sh bench/run.sh\n')
  })

  test('has a commit for each step despite --squash, or is confused with a tag of the same name', async () => {
    const project = withOld()
    await twoKeeps(project)
    await project.repo.user.addTag('faster')
    const data = await project.data<FinishData>('finish', '--squash', '--branch', 'refs/heads/faster')
    expect(data).toMatchObject({ branch: 'faster', signing: null })
    expect(data.commits).toHaveLength(1)
    expect(data.commits[0]?.experiments).toEqual(['exp_0000', 'exp_0001', 'exp_0002'])
    const after = / \.\.\/after (\S+)/.exec(data.text)?.[1]
    expect(project.repo.git('rev-list', '--count', `main..${after}`)).toBe('1')
    expect(project.repo.git('show', `${after}:src/metrics.txt`)).toBe('METRIC ms=50')
  })

  test('loses the benchmark that was built under --prepare', async () => {
    const project = makeProject({ files: { 'bench/run.sh': 'exit 1\n' } })
    const { worktree } = await project.data<InitData>('init', '--prepare')
    writeFiles(worktree ?? '', { 'bench/run.sh': 'cat src/metrics.txt\n' })
    await project.data<RunData>('run', 'exp_0000')
    await project.attempt(ms(70))
    const data = await project.data<FinishData>('finish')
    expect(data.commits.map(({ experiments }) => experiments)).toEqual([['exp_0000'], ['exp_0001']])
    expect(project.repo.git('show', 'assay/demo:bench/run.sh')).toBe('cat src/metrics.txt')
  })

  test('hides that it begins with uncommitted work', async () => {
    const project = makeProject()
    project.repo.write({ 'src/draft.txt': 'not committed\n' })
    await project.data<InitData>('init', '--include-dirty')
    await project.attempt(ms(70))
    const head = await project.repo.user.revparse(['HEAD'])
    const data = await project.data<FinishData>('finish')
    expect(data.dirty_base).toBe(true)
    expect(project.repo.git('rev-parse', `${data.base}^`)).toBe(head)
    expect(data.text).toContain(data.base.slice(0, 10))
    expect(project.repo.git('show', 'assay/demo:src/draft.txt')).toBe('not committed')
    expect(project.repo.git('status', '--porcelain')).toContain('?? src/draft.txt')
  })

  test('takes a base that contains an earlier branch of Assay for uncommitted work', async () => {
    const project = makeProject()
    await project.data<InitData>('init')
    await project.attempt(ms(70))
    await project.data<FinishData>('finish')
    await project.repo.user.merge(['--ff-only', 'assay/demo'])
    await project.data<InitData>('init', '--new')
    const next = await project.data<NewData>('new', '-m', 'more', '--run', 'run_0002')
    writeFiles(next.worktree, ms(50))
    await project.data('run', next.experiment, '--run', 'run_0002')
    const data = await project.data<FinishData>('finish', '--run', 'run_0002', '--branch', 'more')
    expect(data.dirty_base).toBe(false)
  })

  test('contains a secret, or markup that an agent wrote', async () => {
    const project = makeProject()
    await project.data<InitData>('init')
    const secret = SECRETS.github?.text ?? ''
    const made = await project.data<NewData>('new', '-m', `Use ${secret} | <img src=x> \`rm\``)
    writeFiles(made.worktree, ms(100 / 3))
    await project.data<RunData>('run', made.experiment)
    const data = await project.data<FinishData>('finish')
    const message = project.repo.git('log', '-1', '--format=%B', 'assay/demo')
    for (const text of [data.text, message]) expect(text).not.toContain(secret)
    expect(data.text).not.toContain('<img')
    expect(data.text).toContain('ms = 33.33 again')
    expect(data.text).not.toMatch(/[^\\]\| &lt;img/)
  })
})

describe('a branch that must not be', () => {
  test('moves an existing branch, or blocks one that exists or has no commit yet, or no free name is suggested', async () => {
    const project = makeProject()
    const { repo } = project
    await project.data<InitData>('init')
    await project.attempt(ms(70))
    await repo.user.branch(['taken'])
    await repo.user.branch(['taken-2'])
    repo.git('symbolic-ref', 'HEAD', 'refs/heads/unborn')
    const starts = project.starts().length
    const before = standing(project)
    const told = async (name: string) => {
      const { code, exit, data } = await project.problem('finish', '--branch', name)
      return [code, exit, (data as { free?: string } | undefined)?.free]
    }
    expect(await told('taken')).toEqual(['branch_exists', 3, 'taken-3'])
    expect(await told('taken/deeper')).toEqual(['branch_exists', 3, 'taken-deeper'])
    expect(await told('unborn')).toEqual(['branch_exists', 3, 'unborn-2'])
    expect(await told('-x y')).toEqual(['bad_branch', 2, undefined])
    expect(await told('refs/tags/z')).toEqual(['bad_branch', 2, undefined])
    expect(await told('@{-1}')).toEqual(['bad_branch', 2, undefined])
    expect(standing(project)).toEqual(before)
    // Nothing was measured for a branch that could not be made.
    expect(project.starts()).toHaveLength(starts)
    await project.data<FinishData>('finish')
    expect(await told('assay/demo')).toEqual(['branch_exists', 3, 'assay/demo-2'])
  })

  test('is made of a winner that a fresh measurement does not confirm', async () => {
    const project = makeProject()
    await project.data<InitData>('init')
    const flag = join(project.control, 'slow')
    await project.attempt({ ...ms(70), ...hook(`[ -e '${flag}' ] && { echo METRIC ms=130; exit 0; }`) })
    writeFileSync(flag, '')
    const before = standing(project)
    const { code, exit, message } = await project.problem('finish')
    expect([code, exit]).toEqual(['not_confirmed', 3])
    expect(message).toContain('exp_0001')
    expect(standing(project)).toEqual(before)
    expect((await project.problem('finish')).code).toBe('nothing_better')
  })

  test('is made when nothing is better than the baseline', async () => {
    const project = makeProject()
    await project.data<InitData>('init')
    await project.attempt(ms(120))
    expect(await project.problem('finish')).toMatchObject({
      code: 'nothing_better',
      exit: 3,
      hint: 'continue the search: assay loop',
    })
    await project.attempt(ms(70))
    const audited = await assay(['audit', 'exp_0002', '--input', '{"findings":[{"message":"odd"}]}'], {
      cwd: project.repo.dir,
    })
    expect(audited.stdout).toBe(
      'exp_0002: flagged; it is kept, in doubt\nNext: measure it again: assay confirm exp_0002\n',
    )
    expect((await project.problem('finish')).hint).toContain('assay confirm exp_0002')
  })
})

test('finish makes unsigned commits, or without the user as committer, although the user’s git signs, and does not say so', async () => {
  const project = makeProject()
  const { repo } = project
  const key = join(project.control, 'key')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'rig', '-f', key])
  const signers = join(project.control, 'signers')
  writeFileSync(signers, `rig@example.invalid ${readFileSync(`${key}.pub`, 'utf8')}`)
  repo.git('config', 'gpg.format', 'ssh')
  repo.git('config', 'user.signingKey', key)
  repo.git('config', 'gpg.ssh.allowedSignersFile', signers)
  repo.git('config', 'commit.gpgSign', 'true')
  const base = repo.git('rev-parse', 'HEAD')
  await project.data<InitData>('init')
  await project.attempt(ms(80))
  const { worktree } = await project.open(ms(70), 'exp_0001')
  // Of an agent nothing is signed: its git would ask for the passphrase.
  const inside = { cwd: worktree, env: repo.env, encoding: 'utf8' } as const
  execFileSync('git', ['commit', '-q', '-a', '-m', 'mine'], inside)
  expect(execFileSync('git', ['log', '-1', '--format=%G?'], inside)).toBe('N\n')
  await project.data<RunData>('run', 'exp_0002')

  const data = await project.data<FinishData>('finish')
  expect(data.signing).toEqual({ signed: true, problem: null })
  expect(repo.git('log', '--format=%G? %cn %s', `${base}..assay/demo`)).toBe('G Rig an idea\nG Rig an idea')

  rmSync(key)
  rmSync(`${key}.pub`)
  const told = await assay(['finish', '--branch', 'unsigned'], { cwd: repo.dir })
  expect(told.stdout).toContain(
    'the commits are NOT signed, although commit.gpgSign is set: git commit-tree failed',
  )
  expect(told.stdout).toContain(`git rebase --force-rebase --gpg-sign ${base.slice(0, 10)} unsigned`)
  expect(repo.git('log', '--format=%G? %cn', `${base}..unsigned`)).toBe('N Rig\nN Rig')
})

test('a finish from a bare repository with linked checkouts makes no branch', async () => {
  const source = makeProject()
  const bare = join(source.control, 'bare.git')
  source.repo.git('clone', '--quiet', '--bare', source.repo.dir, bare)
  const linked = join(source.control, 'co')
  source.repo.git('--git-dir', bare, 'worktree', 'add', '--quiet', linked, 'main')
  const cli = async <T>(...args: string[]) => dataOf(await source.cli<T>(args, { cwd: linked }))
  await cli('init')
  const { experiment, worktree } = await cli<NewData>('new', '-m', 'less')
  writeFiles(worktree, ms(10))
  await cli('run', experiment)
  const data = await cli<FinishData>('finish')
  expect(source.repo.git('--git-dir', bare, 'rev-parse', 'refs/heads/assay/demo')).toBe(data.commit)
})
