/** A monorepo whose spec lies in a sub-folder: globs, commands and outputs count from there. */
import { expect, test } from 'vitest'
import type { Files } from '../../rig/repo.ts'
import { journey, makeKind, refusedInit } from './journey.ts'

const FILES: Files = {
  'shared/table.txt': 'a\nb\nc\n',
  'packages/x/src/rules.txt': 'keep a\nkeep b\nkeep c\nkeep c\n',
  'packages/x/bench/count.sh': `for word in $(cat ../../shared/table.txt); do
  grep -q "keep $word" src/rules.txt || { echo "no rule for $word" >&2; exit 1; }
done
echo "METRIC rules=$(wc -l < src/rules.txt)"
`,
  'packages/y/src/rules.txt': 'of another package\n',
}

const SPEC = {
  measure: { command: 'sh bench/count.sh' },
  metric: { name: 'rules', direction: 'minimize' },
}

test('a spec in a sub-folder counts from the root, or reaches files of other packages', async () => {
  const project = makeKind({ files: FILES, spec: SPEC, folder: 'packages/x' })
  await journey(project, {
    baseline: 4,
    edit: { 'packages/x/src/rules.txt': 'keep a\nkeep b\nkeep c\n' },
    value: 3,
  })
  const elsewhere = await project.attempt({ 'packages/y/src/rules.txt': '' })
  expect(elsewhere).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
  expect(elsewhere.message).toContain('packages/y/src/rules.txt')
})

test('globs that were written from the root are refused without a message about the folder', async () => {
  const spec = { ...SPEC, scope: { mutable: ['packages/x/src/**'] } }
  const problem = await refusedInit(makeKind({ files: FILES, spec, folder: 'packages/x' }))
  expect(problem.code).toBe('glob_matches_nothing')
  expect(problem.at).toContain('packages/x/assay.yaml:')
  expect(problem.hint).toContain('the folder of the spec')
})

test('a command that was written from the root is not reported', async () => {
  const spec = { ...SPEC, measure: { command: 'sh packages/x/bench/count.sh' } }
  const problem = await refusedInit(makeKind({ files: FILES, spec, folder: 'packages/x' }))
  expect(problem.code).toBe('baseline_failed')
  expect(problem.message).toContain('packages/x/bench/count.sh')
  expect(problem.hint).toContain('commands run in packages/x')
})
