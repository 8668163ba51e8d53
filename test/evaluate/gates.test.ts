import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGate, runPreparation } from '../../cli/evaluate/gates.ts'
import { makeTemp } from '../rig/temp.ts'

function gate(command: string | string[], name = 'unit tests', timeoutMs = 30_000) {
  const folder = makeTemp('attempt')
  const environment = { PATH: process.env.PATH ?? '' }
  const done = runGate({
    gate: { name, command, phase: 'before', timeoutMs },
    checkout: makeTemp('checkout'),
    environment,
    folder,
  })
  return { folder, done }
}

test('the exit code is the verdict, and the end of both streams is kept in order', async () => {
  const passed = gate('echo one; echo two >&2; echo three')
  expect(await passed.done).toMatchObject({
    name: 'unit tests',
    phase: 'before',
    passed: true,
    exit: 0,
    signal: null,
    timed_out: false,
    output: 'one\ntwo\nthree\n',
    fault: null,
    escaped: 0,
  })
  expect(readFileSync(join(passed.folder, 'gates/unit%20tests.out'), 'utf8')).toBe('one\ntwo\nthree\n')
  expect(await gate('echo bad; exit 2').done).toMatchObject({
    passed: false,
    exit: 2,
    fault: { reason: 'crash', message: 'exit 2: bad' },
  })
})

test('a gate that could not run is the environment’s fault, one that ran too long is not', async () => {
  expect(await gate(['no-such-program']).done).toMatchObject({
    passed: false,
    fault: { reason: 'environment' },
  })
  expect(await gate('sleep 300', 'slow', 200).done).toMatchObject({
    passed: false,
    timed_out: true,
    fault: { reason: 'timeout' },
  })
})

test('a gate sees nothing of the measurement', async () => {
  const { output } = await gate('env | grep ^ASSAY_ | cut -d= -f1').done
  expect(output).toBe('ASSAY_TOKEN\n')
})

test('a name cannot leave the folder', async () => {
  const { folder, done } = gate('echo hi', '../../escape')
  await done
  expect(readFileSync(join(folder, 'gates/%2E%2E%2F%2E%2E%2Fescape.out'), 'utf8')).toBe('hi\n')
})

test('long output keeps its end, whole lines, without terminal codes', async () => {
  const { output } = await gate('seq 1 5000; printf "\\033[31mred\\033[0m\\n"').done
  expect(output.endsWith('4999\n5000\nred\n')).toBe(true)
  expect(output).toMatch(/^\d{4}\n/)
  expect(output.length).toBeLessThanOrEqual(4096)
})

test('a preparation runs where it is told, with the folder in its command', async () => {
  const [cwd, folder] = [makeTemp('it is here'), makeTemp('folder')]
  const request = {
    name: 'setup',
    cwd,
    folder,
    timeoutMs: 30_000,
    environment: { PATH: process.env.PATH ?? '' },
  }
  expect(
    await runPreparation({ ...request, command: 'test {worktree} = "$PWD" && echo made' }),
  ).toMatchObject({ passed: true, output: 'made\n' })
  expect(readFileSync(join(folder, 'setup.out'), 'utf8')).toBe('made\n')
})
