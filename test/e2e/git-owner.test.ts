import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTemp } from '../rig/temp.ts'
import { type InitData, makeProject, ms, type RunData } from './project.ts'

/** Of the many ways to trust a folder, those by variables. */
const everywhere = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
}

test.skipIf(process.getuid?.() !== 0)(
  'a repository of a different owner is refused though git trusts it, or needs a second path to be trusted (skipped without root)',
  async () => {
    const project = makeProject({ files: { "src/it's": 'x\n' } })
    const { repo } = project
    const base = repo.git('rev-parse', 'HEAD')
    execFileSync('chown', ['-R', '1000', repo.dir])
    const refused = await project.problem('init')
    expect(refused).toMatchObject({
      code: 'unsafe_repository',
      hint: `if you trust it: git config --global --add safe.directory '${repo.dir}'`,
    })
    const global = join(makeTemp('config'), 'gitconfig')
    writeFileSync(global, `[safe]\n\tdirectory = ${repo.dir}\n`)
    const one = { env: { GIT_CONFIG_GLOBAL: global } }
    const init = await project.cli<InitData>(['init'], one)
    expect(init.json).toMatchObject({ ok: true, data: { base } })

    execFileSync('rm', ['-rf', repo.path('.assay')])
    expect((await project.cli<InitData>(['init'], { env: everywhere })).json).toMatchObject({ ok: true })
    const made = await project.cli<{ worktree: string }>(['new', '-m', 'an idea'], { env: everywhere })
    if (!made.json?.ok) throw new Error(made.stdout)
    writeFileSync(join(made.json.data.worktree, 'src/metrics.txt'), Object.values(ms(90)).join(''))
    expect((await project.cli<RunData>(['run', 'exp_0001'], { env: everywhere })).json).toMatchObject({
      ok: true,
      data: { status: 'kept' },
    })
    execFileSync('chown', ['-R', '1000', repo.path('.assay', '.git')])
    expect((await project.cli(['finish'], one)).json).toMatchObject({ ok: true })
  },
)

test('variables that name a different repository reach git, or settings by variables reach the judge', async () => {
  const project = makeProject({ files: { 'a.txt': 'a\n', '.gitattributes': 'a.txt text\n' } })
  const other = makeProject()
  const env = { GIT_DIR: other.repo.path('.git'), GIT_INDEX_FILE: other.repo.path('.git/index') }
  expect((await project.cli<InitData>(['init'], { env })).json).toMatchObject({
    ok: true,
    data: { base: project.repo.git('rev-parse', 'HEAD') },
  })
  const late = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.eol', GIT_CONFIG_VALUE_0: 'crlf' }
  const made = await project.cli<{ worktree: string }>(['new', '-m', 'an idea'], { env: late })
  if (!made.json?.ok) throw new Error(made.stdout)
  expect(execFileSync('cat', [join(made.json.data.worktree, 'a.txt')], { encoding: 'utf8' })).toBe('a\n')
})
