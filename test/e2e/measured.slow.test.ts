import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { identify } from '../../cli/process.ts'
import { ASSAY_BIN, assay, dataOf, problemOf } from '../rig/assay.ts'
import { makeProject, ms, specText } from './project.ts'

const CLI = `'${process.execPath}' '${ASSAY_BIN}'`

test('a candidate, gate or setup can change the run that measures it, or a test suite cannot call Assay in a different repository', async () => {
  const other = makeProject()
  const project = makeProject()
  await other.data('init')
  const log = join(project.control, 'calls')
  const call = (command: string) =>
    `${CLI} ${command} --json >> '${log}'; echo "$? ${command}" >> '${log}.exits'`
  const spec = {
    noise: { mode: 'deterministic', calibrate: 2 },
    worktree: { setup: { command: `sh src/setup.sh`, inputs: ['src/setup.sh'] } },
    gates: [{ name: 'suite', command: 'sh src/gate.sh' }],
  }
  project.repo.commit('spec', {
    'assay.yaml': specText(spec),
    'src/setup.sh': 'true\n',
    'src/gate.sh': 'true\n',
  })
  await project.data('init')
  await project.attempt(ms(95))
  await project.attempt({
    ...ms(90),
    'src/setup.sh': `${call('loop stop')}\n`,
    'src/gate.sh': `${call('note hello')}\n`,
    'src/hook.sh': `[ -e '${log}.done' ] || {
touch '${log}.done'
${call('status')}
${call('steer "do it my way"')}
${call('config set budget.experiments 9999 --reason mine')}
${call('prune exp_0001 --reason rival')}
${call('gc')}
${call('--version')}
unset ASSAY_TOKEN
${call('epoch open --reason mine')}
cd '${other.repo.dir}'
${call('note "from a test suite"')}
cd -
}\n`,
  })
  const exits = readFileSync(`${log}.exits`, 'utf8').trim().split('\n')
  expect(exits.filter((line) => !/ (loop|note hello)/.test(line))).toEqual([
    '0 status',
    '3 steer do it my way',
    '3 config set budget.experiments 9999 --reason mine',
    '3 prune exp_0001 --reason rival',
    '3 gc',
    '0 --version',
    '3 epoch open --reason mine',
    '0 note from a test suite',
  ])
  expect(exits).toContain('3 note hello')
  // The setup of the worktree runs before the candidate writes it, that of the slot afterwards.
  expect(exits).toContain('3 loop stop')
  expect(readFileSync(log, 'utf8')).toContain('was called from inside a measurement')
  const ledger = readFileSync(project.repo.path('.assay/runs/run_0001/ledger.jsonl'), 'utf8')
  expect(ledger).not.toMatch(/"type":"(steered|configured|pruned|noted|epoch_opened|asked)"/)
})

test('an invented token, or one of a dead owner, locks the user out', async () => {
  const project = makeProject()
  await project.data('init')
  const state = Buffer.from(project.repo.path('.assay')).toString('base64url')
  const dead = Buffer.from(JSON.stringify({ pid: 4194303, started: '1@x', host: hostname() }))
  for (const ASSAY_TOKEN of ['abc', `abc::${state}`, `abc:${dead.toString('base64url')}:${state}`, `:::::`]) {
    dataOf(await project.cli(['note', 'mine'], { env: { ASSAY_TOKEN } }))
  }
  const alive = Buffer.from(JSON.stringify(identify()))
  const refused = await assay(['note', 'mine', '--json'], {
    cwd: project.repo.dir,
    env: { ASSAY_TOKEN: `abc:${alive.toString('base64url')}:${state}` },
  })
  expect([problemOf(refused).code, refused.code]).toEqual(['measured', 3])
})
