import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { missingProgram } from '../rig/needs.ts'
import { makeTemp } from '../rig/temp.ts'
import { type InitData, makeProject, ms, type NewData, type Project } from './project.ts'

const noGitCrypt = missingProgram('git-crypt', ['git-crypt', '--version'])

/** The benchmark says what `data.txt` holds, in numbers: 100 when it is what the user has. */
const READS_DATA = {
  'bench/run.sh':
    'cat src/metrics.txt > /dev/null\ncase "$(head -n 1 data.txt)" in shown*) cat src/metrics.txt ;; *) echo METRIC ms=7 ;; esac\n',
}

/** A filter whose scripts are anywhere but in the repository, as kynan/nbstripout and git-annex install theirs. */
function withHiding(project: Project, smudge = 'sed s/HIDDEN/shown/'): void {
  const { repo } = project
  repo.git('config', 'filter.hide.clean', 'sed s/shown/HIDDEN/')
  repo.git('config', 'filter.hide.smudge', smudge)
  repo.git('config', 'filter.hide.required', 'true')
}

test('attributes in info/attributes, or in a file of the configuration, are dropped: checkouts have what the filter hides', async () => {
  const project = makeProject({ files: READS_DATA })
  const { repo } = project
  withHiding(project)
  const attributes = join(makeTemp('attributes'), 'mine')
  execFileSync('sh', ['-c', `echo 'other.txt filter=hide' > '${attributes}'`])
  repo.git('config', 'core.attributesFile', attributes)
  repo.write({ '.git/info/attributes': 'data.txt filter=hide\n' })
  repo.commit('data', { 'data.txt': 'shown\n', 'other.txt': 'shown too\n' })
  expect(repo.git('show', 'HEAD:data.txt', 'HEAD:other.txt')).toBe('HIDDEN\nHIDDEN too')

  const init = await project.data<InitData>('init')
  expect(init).toMatchObject({ baseline: { value: 100 } })
  expect(init.warnings.join()).not.toContain('filter')
  const { worktree } = await project.data<NewData>('new', '-m', 'an idea')
  for (const folder of [worktree, repo.path('.assay/m/0/b')]) {
    expect(readFileSync(join(folder, 'data.txt'), 'utf8')).toBe('shown\n')
    expect(readFileSync(join(folder, 'other.txt'), 'utf8')).toBe('shown too\n')
  }
  // An agent's own git has them too.
  expect(
    execFileSync('git', ['-C', worktree, 'check-attr', 'filter', 'data.txt', 'other.txt'], {
      env: repo.env,
      encoding: 'utf8',
    }),
  ).toBe('data.txt: filter: hide\nother.txt: filter: hide\n')
})

test('a filter that fails leaves an incomplete run, or init does not warn of a file that it changes', async () => {
  const project = makeProject({ files: READS_DATA })
  const { repo } = project
  withHiding(project)
  repo.commit('data', { '.gitattributes': 'data.txt filter=hide\n', 'data.txt': 'shown\n' })
  withHiding(project, `sh -c 'cat "$GIT_DIR/key" && sed s/HIDDEN/shown/'`)
  const problem = await project.problem('init')
  expect(problem).toMatchObject({ code: 'filter_failed', exit: 3, at: 'data.txt' })
  expect(problem.message).toMatch(/git's filter "hide" does not work outside of your checkout, .*\/key/s)
  expect(existsSync(repo.path('.assay'))).toBe(false)

  withHiding(project, 'cat')
  const init = await project.data<InitData>('init', '--no-canary')
  expect(init.warnings).toContain(
    `data.txt has different content in Assay's checkouts than in yours: git's filter "hide" works differently there`,
  )
})

test('init fails after it began the run, and leaves an incomplete run whose baseline counts as being judged', async () => {
  const project = makeProject({ files: READS_DATA })
  const { repo } = project
  withHiding(project)
  const names = ['a', 'b', 'c', 'bad']
  repo.commit('data', {
    '.gitattributes': '*.dat filter=hide\n',
    ...Object.fromEntries(names.map((name) => [`${name}.dat`, `${name}\n`])),
  })
  // More files than a filter is tried on.
  repo.commit('last', { 'x.dat': 'spoilt\n' })
  withHiding(project, `sh -c 'text=$(cat); case $text in spoilt) exit 1 ;; esac; echo $text'`)
  expect(await project.problem('init')).toMatchObject({ code: 'git_failed' })
  expect(await project.problem('new', '-m', 'an idea')).toMatchObject({ code: 'no_run' })
  expect(existsSync(repo.path('.assay'))).toBe(false)
})

test('the filter of git-annex is run outside of its repository, or init does not say that annexed content is missing', async () => {
  const project = makeProject({ files: READS_DATA })
  const { repo } = project
  repo.commit('data', {
    'data.txt': 'shown\n',
    'large.bin': '/annex/objects/SHA256E-s200000--ae19be15.bin\n',
  })
  symlinkSync('.git/annex/objects/xx/yy/SHA256E-s1--00/SHA256E-s1--00', repo.path('locked.bin'))
  repo.commit('link')
  // As git-annex sets a repository up; its program knows nothing of ours.
  repo.write({ '.git/annex/keysdb': '', '.git/info/attributes': '* filter=annex\n.* !filter\n' })
  for (const name of ['smudge', 'clean'])
    repo.git('config', `filter.annex.${name}`, 'test -d .git/annex && cat')
  repo.git('config', 'filter.annex.required', 'true')
  const init = await project.data<InitData>('init')
  expect(init.baseline.value).toBe(100)
  expect(init.warnings.at(-1)).toMatch(
    /^the content of large\.bin, locked\.bin is in git-annex, .*git annex unannex.*worktree\.data$/,
  )
  const { worktree } = await project.open(ms(90))
  execFileSync('git', ['commit', '-q', '-a', '-m', 'mine'], { cwd: worktree, env: repo.env })
  expect(await project.data('run', 'exp_0001')).toMatchObject({ status: 'kept', value: 90 })
})

test('a filter that lies in the git folder, with its password in the configuration, is not found (transcrypt)', async () => {
  const project = makeProject({ files: READS_DATA })
  const { repo } = project
  const text = (from: string, to: string) =>
    `#!/bin/sh\n[ "$(git config --get transcrypt.password)" = word ] && sed s/${from}/${to}/\n`
  repo.write({
    '.git/crypt/clean': { text: text('shown', 'HIDDEN'), mode: 0o755 },
    '.git/crypt/smudge': { text: text('HIDDEN', 'shown'), mode: 0o755 },
  })
  repo.git('config', 'transcrypt.password', 'word')
  for (const name of ['clean', 'smudge'])
    repo.git('config', `filter.crypt.${name}`, `"$(git rev-parse --git-dir)"/crypt/${name}`)
  repo.git('config', 'filter.crypt.required', 'true')
  repo.commit('data', { '.gitattributes': 'data.txt filter=crypt\n', 'data.txt': 'shown\n' })
  expect(repo.git('cat-file', 'blob', 'HEAD:data.txt')).toBe('HIDDEN')
  expect((await project.data<InitData>('init')).baseline.value).toBe(100)
  const { worktree } = await project.open(ms(90))
  const inside = { cwd: worktree, env: repo.env, encoding: 'utf8' } as const
  execFileSync('git', ['checkout', '--', 'data.txt'], inside)
  expect(execFileSync('git', ['status', '--porcelain'], inside)).toBe(' M src/metrics.txt\n')
  expect(await project.data('run', 'exp_0001')).toMatchObject({ status: 'kept', value: 90 })
})

test('git-crypt finds no key in checkouts', async ({ skip }) => {
  skip(noGitCrypt !== null, noGitCrypt ?? '')
  const project = makeProject({ files: READS_DATA })
  const { repo } = project
  execFileSync('git-crypt', ['init'], { cwd: repo.dir, env: repo.env, stdio: 'ignore' })
  repo.commit('data', {
    '.gitattributes': 'data.txt filter=git-crypt diff=git-crypt\n',
    'data.txt': 'shown\n',
  })
  expect(repo.git('cat-file', 'blob', 'HEAD:data.txt')).toContain('GITCRYPT')

  const init = await project.data<InitData>('init')
  expect(init).toMatchObject({ baseline: { value: 100 } })
  expect(init.warnings.join()).not.toContain('filter')
  const { worktree } = await project.open(ms(90))
  expect(await project.data('run', 'exp_0001')).toMatchObject({ status: 'kept', value: 90 })
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', worktree, ...args], { env: repo.env, encoding: 'utf8' })
  expect(git('checkout', '--', 'data.txt')).toBe('')
  expect(git('status', '--porcelain')).toBe(' M src/metrics.txt\n')
  expect(readFileSync(join(worktree, 'data.txt'), 'utf8')).toBe('shown\n')

  repo.write({ 'data.txt': 'shown and edited\n' })
  await project.data<InitData>('init', '--new', '--include-dirty')
  expect(readFileSync(repo.path('.assay/m/0/b/data.txt'), 'utf8')).toBe('shown and edited\n')
})
