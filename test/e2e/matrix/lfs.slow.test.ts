/** Pointers of git-lfs where git-lfs is not installed. */
import { expect, test } from 'vitest'
import type { Files } from '../../rig/repo.ts'
import { journey, makeKind, refusedInit } from './journey.ts'

const FILES: Files = {
  '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
  'data/weights.bin': `version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
`,
  'src/text.txt': 'a long text\n',
  'bench/size.sh': 'echo "METRIC bytes=$(wc -c < src/text.txt)"\n',
}

const SPEC = {
  measure: { command: 'sh bench/size.sh' },
  metric: { name: 'bytes', direction: 'minimize' },
}

test('pointers that no benchmark reads stand in the way', async () => {
  const project = makeKind({ files: FILES, spec: SPEC })
  await journey(project, { baseline: 12, edit: { 'src/text.txt': 'short\n' }, value: 6 })
})

test('the message about a benchmark that fails on a pointer of git-lfs does not say that it is one', async () => {
  const reading = 'echo "data/weights.bin: bad magic number" >&2\nexit 1\n'
  const problem = await refusedInit(makeKind({ files: { ...FILES, 'bench/size.sh': reading }, spec: SPEC }))
  expect(problem.code).toBe('baseline_failed')
  expect(problem.message).toContain('bad magic number')
  expect(problem.hint).toContain('pointers of git-lfs instead of the data: data/weights.bin')
})

test('a filter of git-lfs that is configured but not installed is reported as a failure of git', async () => {
  const project = makeKind({ files: FILES, spec: SPEC })
  project.repo.git('config', 'filter.lfs.process', 'git-lfs filter-process')
  project.repo.git('config', 'filter.lfs.required', 'true')
  project.repo.write({ 'data/weights.bin': 'changed, so that git has to look\n' })
  const problem = await project.problem('init')
  expect(problem).toMatchObject({ exit: 3, code: 'filter_missing' })
  expect(problem.message).toContain('git-lfs')
})
