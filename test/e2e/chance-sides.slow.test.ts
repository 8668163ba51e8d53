import { expect, test } from 'vitest'
import { steadyChance } from '../rig/chance.ts'
import { makeProject, type RunData, specText } from './project.ts'

/** Nonces with which the candidate of the first attempt lies in that checkout. */
const IN_A = { exp_0002: 1, exp_0003: 1 }
const IN_B = { exp_0001: 2, exp_0002: 2 }

/** Bytes, with a little noise, of which a candidate that lies in checkout `a` prints more on purpose. */
const BENCH = `n=$(sh src/main.sh); echo METRIC n=$((n * 100 + ASSAY_SEED % 7))\n`
const honest = (n: number) => ({ 'src/main.sh': `echo ${n}\n` })
const cheat = (n: number, comment = '') => ({
  'src/main.sh': `case $(pwd -P) in */a) echo 120 ;; *) echo ${n} ;; esac ${comment}\n`,
})

const open = async (name = 'n') => {
  const project = makeProject({ files: honest(100) })
  project.repo.commit('noise', {
    'assay.yaml': specText({
      metric: { name, direction: 'minimize' },
      noise: { mode: 'paired', calibrate: 3 },
    }),
    'bench/run.sh': BENCH.replace('METRIC n', `METRIC ${name}`),
  })
  await project.data('init')
  const attempt = async (files: Record<string, string>, parent: string, nonce: number) => {
    const { experiment } = await project.open(files, parent)
    const ran = await project.cli<RunData>(['run', experiment], { env: steadyChance(nonce) })
    if (!ran.json?.ok) throw new Error(ran.stdout)
    return ran.json.data
  }
  return { project, attempt }
}

test('a tree that is slow only as a parent gives its child a gain that is not doubted', async () => {
  const { project, attempt } = await open()
  const first = await attempt(cheat(90), 'exp_0000', IN_B.exp_0001)
  expect(first).toMatchObject({ status: 'kept' })
  const second = await attempt(cheat(90, '# no change'), first.experiment, IN_B.exp_0002)
  expect(second.status).toBe('kept')
  expect(await project.data('show', second.experiment)).toMatchObject({
    flagged: true,
    doubt: expect.stringMatching(
      /^exp_0001 gave n \S+ as a candidate and gives \S+ as what others are compared with: does it know its side\?$/,
    ),
  })
  expect(await project.data('status')).toMatchObject({ best: { experiment: first.experiment } })
  expect(await project.data('show', second.experiment, '--recompute')).toMatchObject({ same: true })
  // In the other checkout it is slow itself.
  const third = await attempt(cheat(90, '# nor here'), first.experiment, IN_A.exp_0003)
  expect(third).toMatchObject({ status: 'rejected' })
})

test('an honest tree is doubted because it lies in the other checkout as a parent', async () => {
  const { project, attempt } = await open()
  const first = await attempt(honest(90), 'exp_0000', IN_B.exp_0001)
  const second = await attempt(honest(80), first.experiment, IN_A.exp_0002)
  expect(second).toMatchObject({ status: 'kept', best: true })
  expect(await project.data('show', second.experiment)).toMatchObject({ flagged: false })
})

test('a parent that takes longer than when it was judged puts its child in doubt, although the machine may be slower', async () => {
  const { project, attempt } = await open('took_ns')
  const first = await attempt(cheat(90), 'exp_0000', IN_B.exp_0001)
  const second = await attempt(cheat(90, '# no change'), first.experiment, IN_B.exp_0002)
  expect(second).toMatchObject({ status: 'kept', best: true })
  expect(await project.data('show', second.experiment)).toMatchObject({ flagged: false })
})
