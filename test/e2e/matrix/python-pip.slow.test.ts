/** The editable install of pip itself, in a full virtualenv, without network. Debian: `apt-get install python3-venv`. */
import { test } from 'vitest'
import { journey, makeKind } from './journey.ts'
import { PIP_INSTALL, PYTHON_BETTER, PYTHON_FILES, PYTHON_SPEC } from './python.ts'

test('an editable install by pip leads to the main checkout, or needs the network', async () => {
  const setup = { command: PIP_INSTALL, inputs: ['pyproject.toml'], timeout: '5m' }
  const project = makeKind({ files: PYTHON_FILES, spec: { ...PYTHON_SPEC, worktree: { setup } } })
  await journey(project, { baseline: 21, edit: PYTHON_BETTER, value: 1 })
})
