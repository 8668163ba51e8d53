/** What Assay keeps in the checkout is taken along by no tool, and hides nothing of a candidate. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { openScene } from './loop-scene.ts'
import { answers, numberFiles, numberSpec } from './number-scene.ts'

interface Findings {
  findings: { code: string; fixed?: string }[]
}

test('npm pack publishes the run, git status changes, or a new file of a candidate is taken for an ignored one', async () => {
  const spec = numberSpec(scriptedHost(answers()), {
    scope: { mutable: ['src/**'], immutable: ['bench/**'] },
  })
  const scene = await openScene({ ...numberFiles, 'package.json': '{"name":"x","version":"1.0.0"}' }, spec)
  const packed = () =>
    (
      JSON.parse(
        execFileSync('npm', ['pack', '--dry-run', '--json', '--offline'], {
          cwd: scene.repo.dir,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }),
      ) as [{ files: { path: string }[] }]
    )[0].files.map(({ path }) => path)
  expect(packed().filter((path) => path.startsWith('.assay'))).toEqual([])
  expect(scene.repo.git('status', '--porcelain', '--ignored')).toBe('!! .assay/')

  const { experiment, worktree } = dataOf(
    await scene.cli<{ experiment: string; worktree: string }>(['new', '-m', 'less']),
  )
  writeFileSync(`${worktree}/src/number.txt`, '90\n')
  writeFileSync(`${worktree}/src/new.txt`, 'new\n')
  const git = (...args: string[]) => execFileSync('git', args, { cwd: worktree, encoding: 'utf8' })
  expect(git('status', '--porcelain')).toBe(' M src/number.txt\n?? src/new.txt\n')
  const sealed = dataOf(await scene.cli<{ files: number; ignored: unknown[] }>(['seal', experiment]))
  expect(sealed).toMatchObject({ files: 2, ignored: [] })
  const ran = dataOf(await scene.cli<{ status: string }>(['run', experiment]))
  expect(ran.status).toBe('kept')

  // State of an earlier version has no such file.
  const file = scene.repo.path('.assay', '.gitignore')
  rmSync(file)
  expect(packed().filter((path) => path.startsWith('.assay')).length).toBeGreaterThan(5)
  const codes = async (...flags: string[]) =>
    dataOf(await scene.cli<Findings>(['doctor', ...flags])).findings.map(({ code }) => code)
  expect(await codes()).toEqual(expect.arrayContaining(['state_ignore_missing', 'crawler_npm']))
  await codes('--fix')
  expect(readFileSync(file, 'utf8')).toBe('*\n')
  expect(await codes()).not.toContain('state_ignore_missing')

  rmSync(file)
  dataOf(await scene.cli(['init', '--new']))
  expect(existsSync(file)).toBe(true)
})
