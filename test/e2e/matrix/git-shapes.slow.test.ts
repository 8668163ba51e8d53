/** Repositories that git keeps in another shape: shallow; or a place that is unusual. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Files, makeRepo, type Repo } from '../../rig/repo.ts'
import { makeTemp } from '../../rig/temp.ts'
import { specText } from '../project.ts'
import { at, journey, makeKind } from './journey.ts'

const SPEC = {
  measure: { command: 'sh bench/size.sh' },
  metric: { name: 'bytes', direction: 'minimize' },
}
const FILES: Files = {
  'src/text.txt': 'a long text\n',
  'bench/size.sh': 'echo "METRIC bytes=$(wc -c < src/text.txt)"\n',
}
const EDIT: Files = { 'src/text.txt': 'short\n' }

/** git in that folder, with the rig's own settings. */
const gitIn = (repo: Repo, cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], { cwd, env: repo.env, stdio: 'pipe' })

test('a shallow clone is refused, or its history is asked for', async () => {
  const origin = makeRepo({
    files: { 'old.txt': 'old\n' },
    commits: [{ ...FILES, 'assay.yaml': specText(SPEC) }, { 'new.txt': 'new\n' }],
  })
  const folder = join(makeTemp('clones'), 'shallow')
  gitIn(origin, origin.dir, 'clone', '--quiet', '--depth', '1', `file://${origin.dir}`, folder)
  const project = at(origin, folder)
  await journey(project, { baseline: 12, edit: EDIT, value: 6 })
})

test('a path with spaces and letters of the world breaks a command, or is told in escapes', async () => {
  const origin = makeRepo({ files: { ...FILES, 'assay.yaml': specText(SPEC) } })
  const folder = join(makeTemp('clones'), "Größe & Co's 日本")
  gitIn(origin, origin.dir, 'clone', '--quiet', origin.dir, folder)
  const project = at(origin, folder)
  const { made } = await journey(project, {
    baseline: 12,
    edit: { ...EDIT, 'src/naïve name.txt': 'x\n' },
    value: 6,
  })
  expect(made.worktree).toBe(join(folder, '.assay/w/1-0001'))
})

test('a detached HEAD is refused, or moved', async () => {
  const project = makeKind({ files: FILES, spec: SPEC })
  project.repo.commit('later', { 'src/text.txt': 'a much, much longer text\n' })
  project.repo.git('switch', '--quiet', '--detach', 'HEAD~1')
  const { init } = await journey(project, { baseline: 12, edit: EDIT, value: 6 })
  expect(init.base).toBe(project.repo.git('rev-parse', 'main~1'))
  expect(project.repo.git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('HEAD')
})
