/** A Python package that its virtualenv imports by an editable install. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { specText } from '../project.ts'
import { journey, makeKind, refusedInit } from './journey.ts'
import { PYTHON_BETTER, PYTHON_FILES, PYTHON_SPEC, QUICK_INSTALL } from './python.ts'

const spec = (command: string) => ({
  ...PYTHON_SPEC,
  worktree: { setup: { command, inputs: ['pyproject.toml'], timeout: '2m' } },
})

test('an editable install leads to the main checkout, so that every candidate measures the same code', async () => {
  const project = makeKind({ files: PYTHON_FILES, spec: spec(QUICK_INSTALL) })
  execFileSync('/bin/sh', ['-c', QUICK_INSTALL], { cwd: project.repo.dir, env: project.repo.env })
  await journey(project, { baseline: 21, edit: PYTHON_BETTER, value: 1 })
})

test('a virtualenv that only the main checkout has is not reported', async () => {
  const project = makeKind({ files: PYTHON_FILES, spec: PYTHON_SPEC })
  const problem = await refusedInit(project)
  expect(problem).toMatchObject({ code: 'baseline_failed' })
  expect(problem.message).toContain('.venv/bin/python: not found')
  expect(problem.hint).toContain('worktree.setup')
})

test('a virtualenv of the main checkout, used by its absolute path, is not reported', async () => {
  const project = makeKind({ files: PYTHON_FILES, spec: PYTHON_SPEC })
  const { dir, env } = project.repo
  execFileSync('/bin/sh', ['-c', QUICK_INSTALL], { cwd: dir, env })
  const command = [project.repo.path('.venv/bin/python'), 'bench/lines.py']
  project.repo.write({ 'assay.yaml': specText({ ...PYTHON_SPEC, measure: { command } }) })
  const problem = await refusedInit(project)
  expect(problem.message).toContain('does not read')
})
