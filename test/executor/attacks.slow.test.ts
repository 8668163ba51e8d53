/** What the code that a job measures tries on its node, and from there. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { hook, makeProject, ms } from '../e2e/project.ts'
import { ASSAY_BIN } from '../rig/assay.ts'
import { missingProgram } from '../rig/needs.ts'
import { eventsOf, projectOnNode, typesOf } from './scene.ts'

test('a job commands the run that it is measured for, by the shared folder', async () => {
  const project = projectOnNode()
  await project.data('init', '--no-canary')
  const said = join(project.control, 'said')
  const assay = `${process.execPath} ${ASSAY_BIN}`
  const verbs = [
    'steer "prefer mine"',
    'config set budget.experiments 9999 --reason x',
    'prune exp_0000 --reason x',
  ]
  const calls = verbs.map((verb) => `${assay} ${verb} --json >> ${said} 2>&1 || true`)
  const verdict = await project.attempt({
    ...ms(90),
    ...hook(`(cd ${project.repo.dir}; ${calls.join('; ')})`),
  })
  expect(verdict.status).toBe('kept')
  expect(readFileSync(said, 'utf8').match(/"code":"\w+"/g)).toEqual(Array(6).fill('"code":"measured"'))
  expect(eventsOf(project).map(({ type }) => type)).not.toContain('steered')
  expect(typesOf(project, verdict.experiment).at(-1)).toBe('judged')
})

test('what a candidate leaves above its checkout stays on the node for the next job', async () => {
  const project = projectOnNode()
  await project.data('init', '--no-canary')
  const memo = '../../../../package.json'
  const remembers = await project.attempt({
    ...ms(90),
    ...hook(`if [ -e ${memo} ]; then echo METRIC ms=50; exit; fi; echo {} > ${memo}`),
  })
  expect(remembers).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
  const seen = join(project.control, 'seen')
  const next = await project.attempt({ ...ms(91), ...hook(`[ ! -e ${memo} ] || touch ${seen}`) })
  expect(next).toMatchObject({ status: 'kept', value: 91 })
  expect(existsSync(seen)).toBe(false)
})

test('an isolated sample reads what another job keeps in the folder that TMPDIR names, or cannot write there', async (context) => {
  const missing = missingProgram('bubblewrap', ['bwrap', '--version'])
  if (missing !== null) context.skip(missing)
  // Not below /tmp, which each job has for itself.
  const TMPDIR = mkdtempSync(fileURLToPath(new URL('../../node_modules/.assay-tmp-', import.meta.url)))
  try {
    // As a job that measures on held-out data has it.
    const other = join(TMPDIR, 'assay-held-out-1-1-x')
    mkdirSync(other)
    writeFileSync(join(other, 'data'), 'held out')
    const project = makeProject({
      env: { TMPDIR },
      spec: {
        executor: { kind: 'local' },
        worktree: { build: { command: `echo built > ${TMPDIR}/built` } },
        measure: { command: 'sh bench/run.sh', timeout: '30s', isolation: 'strict' },
      },
      files: { 'bench/run.sh': '. ./src/hook.sh\ncat src/metrics.txt\n', 'src/hook.sh': 'true\n' },
    })
    await project.data('init', '--no-canary')
    const verdict = await project.attempt({
      ...ms(90),
      ...hook(`echo METRIC seen=$(cat ${other}/data 2> /dev/null | wc -c)
echo METRIC built=$(grep -c built ${TMPDIR}/built)`),
    })
    const { metrics } = await project.data<{ metrics: object }>('show', verdict.experiment)
    expect(metrics).toMatchObject({ ms: 90, seen: 0, built: 1 })
    expect(existsSync(join(TMPDIR, 'built'))).toBe(false)
  } finally {
    rmSync(TMPDIR, { recursive: true, force: true })
  }
})
