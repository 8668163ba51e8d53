import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type InitData, makeProject, type RunData } from './project.ts'

/** Sums the cases that the list names and that exist: a list with other line ends names none. */
const CASES = {
  'bench/list.txt': 'one\ntwo\n',
  'bench/cases/one': '60\n',
  'bench/cases/two': '40\n',
  'src/gain': '0\n',
  'bench/run.sh': [
    'sum=0',
    "while IFS= read -r name; do [ -f bench/cases/$name ] && sum=$((sum + $(tr -d '\\0\\r\\376\\377' < bench/cases/$name))); done < bench/list.txt",
    'size=$(cat bench/cases/* | wc -c)',
    'echo METRIC ms=$((sum + size - 6 - $(cat src/gain)))',
    '',
  ].join('\n'),
}

const crlf = {
  '.gitattributes': 'bench/list.txt text eol=crlf\nbench/cases/* text working-tree-encoding=UTF-16\n',
}

test('a .gitattributes that no glob names is part of a candidate, and changes immutable files in the branch of finish', async () => {
  const project = makeProject({
    spec: { scope: { mutable: ['**'], immutable: ['bench/**'] } },
    files: { ...CASES, 'docs/.gitattributes': '*.md text\n', 'src/a.txt': 'a\n' },
  })
  await project.data<InitData>('init', '--no-canary')
  const added = await project.attempt({ ...crlf, 'src/a.txt': 'b\n' })
  expect(added).toMatchObject({ status: 'rejected', value: 100 })
  const { worktree } = await project.open({ ...crlf, 'src/a.txt': 'c\n' })
  const seal = await project.data<{ left_out: string[]; files: number }>('seal', 'exp_0002')
  expect(seal.left_out).toEqual(['.gitattributes'])
  expect(seal.files).toBe(1)
  expect(readFileSync(join(worktree, '.gitattributes'), 'utf8')).toBe(crlf['.gitattributes'])
  expect(await project.attempt({ 'docs/.gitattributes': '*.md text eol=crlf\n' })).toMatchObject({
    status: 'rejected',
    reason: 'out_of_scope',
    message:
      'docs/.gitattributes: it decides how git writes other files; name it in scope.mutable if candidates may change it',
  })
})

test('the value of a tree depends on what lay in the slot before: a candidate’s own attributes convert files of a fresh slot', async () => {
  const project = makeProject({
    spec: { scope: { mutable: ['**', '.gitattributes'], immutable: ['bench/**'] } },
    files: { ...CASES, '.gitattributes': 'src/crlf.txt text eol=crlf\n', 'src/crlf.txt': 'a\n' },
  })
  await project.data<InitData>('init', '--no-canary')
  const old = await project.attempt(crlf)
  rmSync(project.repo.path('.assay', 'm'), { recursive: true })
  const fresh = await project.attempt({ '.gitattributes': `${crlf['.gitattributes']}# again\n` })
  for (const one of [old, fresh])
    expect(one).toMatchObject({ status: 'rejected', value: 100, parent_value: 100 })
  // A true gain beside it is kept, and a finish in a fresh slot says the same.
  const gain = await project.attempt({ ...crlf, 'src/gain': '10\n' })
  expect(gain).toMatchObject({ status: 'kept', value: 90 })
  rmSync(project.repo.path('.assay', 'm'), { recursive: true })
  expect(await project.data('finish')).toMatchObject({
    fresh: { passed: true, value: 90, against_value: 100 },
  })
  // Which of the two holds the candidate is drawn.
  const slots = ['a', 'b'].map((name) => project.repo.path('.assay', 'm', '0', name))
  const slot = slots.find((one) => existsSync(join(one, 'bench/list.txt'))) ?? ''
  expect(readFileSync(join(slot, 'bench/list.txt'), 'utf8')).toBe('one\ntwo\n')
  // The base's own line still counts, though the candidate took it out.
  expect(readFileSync(join(slot, 'src/crlf.txt'), 'utf8')).toBe('a\r\n')

  project.repo.commit('other line ends', { '.gitattributes': 'bench/list.txt text eol=crlf\n' })
  const second = await project.data<InitData>('init', '--new', '--no-canary')
  expect(second.baseline.value).not.toBe(100)
  const own = project.repo.path('.assay', 'm', '0', 'b')
  expect(readFileSync(join(own, 'bench/list.txt'), 'utf8')).toBe('one\r\ntwo\r\n')
  expect(readFileSync(join(own, 'src/crlf.txt'), 'utf8')).toBe('a\n')
  const again = await project.data<RunData>(
    'run',
    (await project.data<{ experiment: string }>('new', '--run', 'run_0001', '-m', 'the first run again'))
      .experiment,
    '--run',
    'run_0001',
  )
  expect(again).toMatchObject({ reason: 'empty' })
})
