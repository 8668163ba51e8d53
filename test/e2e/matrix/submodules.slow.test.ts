/** Submodules: empty in every checkout until `worktree.setup` fills them. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Files, makeRepo } from '../../rig/repo.ts'
import { tempBase } from '../../rig/temp.ts'
import { isolated } from '../isolated.ts'
import type { Project, SpecParts } from '../project.ts'
import { journey, makeKind, refusedInit } from './journey.ts'

const FILES: Files = {
  'src/text.txt': 'a long text\n',
  'bench/size.sh': `test -s parts/words/words.txt || { echo "no words" >&2; exit 1; }
echo "METRIC bytes=$(cat parts/words/words.txt src/text.txt | wc -c)"
`,
}

const ALLOW = ['-c', 'protocol.file.allow=always']

function makeSuper(spec: SpecParts): Project {
  const part = makeRepo({ files: { 'words.txt': 'one\ntwo\n' } })
  const project = makeKind({
    files: FILES,
    spec: {
      measure: { command: 'sh bench/size.sh' },
      metric: { name: 'bytes', direction: 'minimize' },
      ...spec,
    },
  })
  const { dir, env } = project.repo
  execFileSync('git', [...ALLOW, 'submodule', '--quiet', 'add', part.dir, 'parts/words'], { cwd: dir, env })
  project.repo.commit('a submodule')
  return project
}

const FILL = {
  command: `git ${ALLOW.join(' ')} submodule --quiet update --init`,
  inputs: ['.gitmodules'],
  timeout: '1m',
}

test('submodules that setup filled are emptied for the next candidate', async () => {
  const project = makeSuper({ worktree: { setup: FILL } })
  await journey(project, { baseline: 20, edit: { 'src/text.txt': 'short\n' }, value: 14 })
  const next = await project.attempt({ 'src/text.txt': 'tiny\n' })
  expect(next).toMatchObject({ status: 'kept', value: 13 })
})

test('an empty submodule is not reported as the reason why the baseline fails', async () => {
  const problem = await refusedInit(makeSuper({}))
  expect(problem.code).toBe('baseline_failed')
  expect(problem.message).toContain('no words')
  expect(problem.hint).toContain('submodules are empty there (parts/words)')
})

test('edits inside a submodule are dropped without a message, or what setup left there is taken for one', async () => {
  const setup = { ...FILL, command: `${FILL.command}; echo built > parts/words/built.txt` }
  const project = makeSuper({ worktree: { setup } })
  await project.data('init')
  const { experiment, worktree } = await project.open({ 'src/text.txt': 'short\n' })
  writeFileSync(join(worktree, 'parts/words/words.txt'), 'one\n')
  const refused = await project.problem('run', experiment)
  expect(refused).toMatchObject({ exit: 3, code: 'submodule_edited' })
  expect(refused.message).toContain('parts/words/words.txt')
  expect(refused.message).not.toContain('built.txt')
  writeFileSync(join(worktree, 'parts/words/words.txt'), 'one\ntwo\n')
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 14 })
})

test('files in the folder of an empty submodule are dropped without a message', async () => {
  const project = makeSuper({ measure: { command: 'echo METRIC bytes=$(wc -c < src/text.txt)' } })
  await project.data('init')
  const { experiment } = await project.open({ 'src/text.txt': 'short\n', 'parts/words/mine.txt': 'x\n' })
  const sealed = await project.data<{ left_out: string[] }>('seal', experiment)
  expect(sealed.left_out).toEqual(['parts/words/mine.txt'])
})

isolated('in isolation', () => {
  test('setup cannot fill submodules, or later jobs and the next candidate do not see them', async () => {
    const command =
      'git -C parts/words log -1 --format=%s | grep -q first && git log -1 --format=%H > /dev/null && sh bench/size.sh'
    const measure = { command, isolation: 'strict', allow: [tempBase()] }
    const project = makeSuper({ worktree: { setup: FILL }, measure })
    await journey(project, { baseline: 20, edit: { 'src/text.txt': 'short\n' }, value: 14 })
    const next = await project.attempt({ 'src/text.txt': 'tiny\n' })
    expect(next).toMatchObject({ status: 'kept', value: 13 })
  })
})
