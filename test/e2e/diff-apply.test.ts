import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { makeProject, ms, type RunData } from './project.ts'

test('a diff in a pipe, when applied, differs from the candidate in line ends or control characters', async () => {
  const crlf = 'one\r\ntwo\r\n'
  const project = makeProject({ files: { 'src/windows.txt': crlf } })
  await project.data('init')
  const changed = 'one\r\nzwei\f\u200b\u001b[2J\r\n'
  const { experiment } = await project.attempt({ ...ms(80), 'src/windows.txt': changed })
  const piped = await assay<RunData>(['diff', experiment], { cwd: project.repo.dir })
  const patch = join(project.control, 'p.patch')
  writeFileSync(patch, piped.stdout)
  project.repo.git('apply', patch)
  expect(project.repo.read('src/windows.txt')).toBe(changed)
})
