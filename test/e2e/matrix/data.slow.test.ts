/** Data that git ignores and the benchmark needs. */
import { expect, test } from 'vitest'
import { type Files, makeRepo } from '../../rig/repo.ts'
import { specText } from '../project.ts'
import { at, journey, refusedInit } from './journey.ts'

const FILES: Files = {
  '.gitignore': '/data/\n',
  'src/drop.txt': 'a\n',
  'bench/kept.sh': `cat data/words.txt > "$TMPDIR/words" || exit 1
echo "METRIC kept=$(grep -c -v -F -f src/drop.txt "$TMPDIR/words")"
`,
}

const SPEC = {
  measure: { command: 'sh bench/kept.sh' },
  metric: { name: 'kept', direction: 'minimize' },
}

function withData(spec: object) {
  const repo = makeRepo({ files: { ...FILES, 'assay.yaml': specText({ ...SPEC, ...spec }) } })
  repo.write({ 'data/words.txt': 'a\nb\nc\n' })
  return at(repo, repo.dir)
}

test('ignored data that the spec names does not reach a checkout', async () => {
  const project = withData({ worktree: { data: ['data/**'] } })
  await journey(project, { baseline: 2, edit: { 'src/drop.txt': 'a\nb\n' }, value: 1 })
})

test('ignored data that the spec does not name is not reported', async () => {
  const problem = await refusedInit(withData({}))
  expect(problem.code).toBe('baseline_failed')
  expect(problem.message).toContain('data/words.txt')
})
