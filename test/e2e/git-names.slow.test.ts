import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { makeTemp } from '../rig/temp.ts'
import { type InitData, makeProject, ms, projectIn } from './project.ts'

const DESCRIBES = {
  'bench/run.sh': 'git describe --tags --long >&2 && git rev-parse origin/main >&2 && cat src/metrics.txt\n',
}

test('tags and remote branches are not there for git describe in a checkout, or an agent can push', async () => {
  const project = makeProject({ files: DESCRIBES })
  const { repo } = project
  repo.git('tag', 'v1.2')
  repo.commit('later', { 'a.txt': 'a\n' })
  repo.git('remote', 'add', 'origin', makeTemp('origin'))
  repo.git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  repo.git('config', '--unset', 'user.name')
  repo.git('config', 'user.name', 'Only Here')
  expect(await project.data<InitData>('init')).toMatchObject({ baseline: { value: 100 } })
  const { worktree } = await project.open(ms(90))
  const inside = (...args: string[]) =>
    execFileSync('git', ['-C', worktree, ...args], { env: repo.env, encoding: 'utf8', stdio: 'pipe' })
  expect(inside('describe', '--tags', '--long')).toMatch(/^v1\.2-1-g/)
  expect(() => inside('push', 'origin', 'HEAD:refs/heads/x')).toThrow(
    "'origin' does not appear to be a git repository",
  )
  expect(() => inside('push')).toThrow()
  // An identity that only this repository has is the agent's too.
  inside('commit', '-q', '-a', '-m', 'my own commit')
  expect(inside('log', '-1', '--format=%an <%ae>')).toBe('Only Here <rig@example.invalid>\n')
  expect(await project.data('run', 'exp_0001')).toMatchObject({ status: 'kept', value: 90 })
})

test('in a clone without tags, a git describe that fails is explained by uncommitted files', async () => {
  const { repo } = makeProject({ files: DESCRIBES })
  repo.git('tag', 'v1')
  repo.commit('later', { 'a.txt': 'a\n' })
  const clone = makeTemp('clone')
  rmSync(clone, { recursive: true })
  repo.git('clone', '--quiet', '--depth=1', '--no-tags', `file://${repo.dir}`, clone)
  const shallow = projectIn({ ...repo, dir: clone }, makeTemp('control'))
  const problem = await shallow.problem('init')
  expect(problem).toMatchObject({ code: 'baseline_failed', data: { cause: 'no_tags' } })
  expect(problem.hint).toContain('git fetch --unshallow --tags')
})

test('a glob for a folder with brackets in its name lets a candidate change nothing in it, or what it should protect', async () => {
  const folders = ['app/[id]', 'app/(group)', 'app/[[...slug]]', 'app/(a)/[b]']
  const files = (text: string) => Object.fromEntries(folders.map((folder) => [`${folder}/page.txt`, text]))
  const project = makeProject({
    spec: {
      scope: {
        mutable: ['src/**', ...folders.map((folder) => `${folder}/**`)],
        immutable: ['src/(test)/**', 'src/[slug]/**'],
      },
    },
    files: { ...files('1\n'), 'src/(test)/x': '1\n', 'src/[slug]/x': '1\n' },
  })
  const { warnings } = await project.data<{ warnings: string[] }>('init')
  expect(warnings.filter((warning) => warning.includes('matches no file'))).toEqual([])
  expect(await project.attempt({ ...files('2\n'), ...ms(90) })).toMatchObject({ status: 'kept' })
  for (const path of ['src/(test)/x', 'src/[slug]/x'])
    expect(await project.attempt({ ...ms(80), [path]: '2\n' })).toMatchObject({
      reason: 'out_of_scope',
      message: expect.stringContaining(path),
    })
})
