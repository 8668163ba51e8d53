import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, dataOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { hook, type InitData, makeProject, ms } from './project.ts'

test('finish commits swap files and what the own ignore rules of the user name, or a candidate hides its code by them', async () => {
  const project = makeProject({ files: { 'src/kept.user': 'tracked\n' } })
  const config = makeTemp('config')
  writeFileSync(join(config, 'gitconfig'), `[core]\n\texcludesFile = ${join(config, 'ignore')}\n`)
  writeFileSync(join(config, 'ignore'), '*.user\n')
  const env = { GIT_CONFIG_GLOBAL: join(config, 'gitconfig') }
  dataOf(await project.cli<InitData>(['init'], { env }))
  const { worktree } = await project.open({
    ...ms(90),
    'src/.DS_Store': 'x',
    'src/.run.sh.swp': 'x',
    'src/mine.user': 'x\n',
    'src/kept.user': 'edited\n',
  })
  const sealed = await assay(['seal', 'exp_0001'], { cwd: project.repo.dir })
  expect(sealed.stdout).toContain(
    [
      'Not part of the candidate, ignored by well-known editor files (.DS_Store): src/.DS_Store',
      'Not part of the candidate, ignored by well-known editor files (.*.sw[a-p]): src/.run.sh.swp',
      `Not part of the candidate, ignored by ${join(config, 'ignore')}:1: src/mine.user`,
    ].join('\n'),
  )
  expect(await project.data('run', 'exp_0001')).toMatchObject({ status: 'kept', value: 90 })
  await project.data('finish')
  expect(project.repo.git('show', '--name-only', '--format=', 'assay/demo').split('\n')).toEqual([
    'src/kept.user',
    'src/metrics.txt',
  ])

  // What hides a file here is not there when it is measured.
  writeFileSync(join(config, 'ignore'), 'src/\n')
  writeFileSync(join(worktree, '.gitignore'), '')
  await project.open({ ...hook('. src/payload.user'), 'src/payload.user': 'echo METRIC ms=1\n' })
  expect(await project.data('run', 'exp_0002')).toMatchObject({ status: 'failed', reason: 'crash' })
})
