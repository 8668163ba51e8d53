import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repoAt } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { isolatedProject, noBubblewrap } from './isolated.ts'
import { projectIn, type RunData } from './project.ts'

test.for(['none', 'strict'])(
  'a repository that was moved is looked for where it was: with isolation %s, nothing can be measured',
  async (isolation, { skip }) => {
    skip(isolation === 'strict' && noBubblewrap !== null, noBubblewrap ?? '')
    const before = isolatedProject({ measure: { isolation } })
    await before.data('init')
    const { experiment } = await before.open({ 'src/main.sh': "printf '%089d\\n' 7\n" })
    const dir = join(makeTemp('elsewhere'), 'moved')
    renameSync(before.repo.dir, dir)
    const moved = projectIn(repoAt(dir), before.control)
    expect(await moved.data<RunData>('run', experiment)).toMatchObject({ status: 'kept', value: 90 })
    expect(await moved.data<RunData>('status')).toMatchObject({ best: { experiment, value: 90 } })
    expect(await moved.attempt({ 'src/main.sh': "printf '%095d\\n' 7\n" }, experiment)).toMatchObject({
      reason: 'not_better',
    })
  },
)
