import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { alive, processesWith } from '../process/scene.ts'
import { scene } from './scene.ts'

const MARK = 'echo $ASSAY_TOKEN > token;'

function sceneWith(command: string, timeoutMs = 30_000) {
  const made = scene(`${MARK} ${command}`, { config: { timeoutMs } })
  const at = (name: string) => join(made.checkout, name)
  const text = (name: string) => readFileSync(at(name), 'utf8').trim()
  return { ...made, at, text, left: () => processesWith(text('token')) }
}

describe('processes that hang a runner, or still run behind it', () => {
  test('a process that ignores SIGTERM outlives its limit', async () => {
    const { sample, left } = sceneWith('trap "" TERM; while :; do sleep 0.05; done', 300)
    expect(await sample()).toMatchObject({ timed_out: true, signal: 'SIGKILL', fault: { reason: 'timeout' } })
    expect(left()).toEqual([])
  })

  test('a child in a session of its own outlives the limit', async () => {
    const { sample, left } = sceneWith('setsid sleep 20 & sleep 15', 300)
    expect(await sample()).toMatchObject({ timed_out: true, fault: { reason: 'timeout' } })
    expect(left()).toEqual([])
  })

  test('a success that leaves a daemon behind hangs, or loses its value', async () => {
    const { sample, left } = sceneWith('echo METRIC t=1.5; setsid sleep 12 &')
    expect(await sample()).toMatchObject({ value: 1.5, exit: 0, timed_out: false, fault: null })
    expect(left()).toEqual([])
  })

  test('a process that starts its successor and ends, again and again, is never ended', async () => {
    // Now and then one has begun when the search has passed its place, and the one before it has ended when it is looked at.
    for (let round = 0; round < 20; round++) {
      const { sample, left, checkout } = sceneWith('setsid sh chain.sh & echo METRIC t=1')
      writeFileSync(join(checkout, 'chain.sh'), 'sleep 0.005; setsid sh chain.sh &\n')
      expect(await sample()).toMatchObject({ value: 1 })
      expect(left()).toEqual([])
    }
  })

  test('a process that dropped its environment, its group and its output is not ended', async () => {
    const daemon =
      "env -i /usr/bin/env PATH=/usr/bin:/bin setsid sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 </dev/null &"
    const { sample, text } = sceneWith(`${daemon} while [ ! -s pid ]; do sleep 0.01; done; echo METRIC t=1`)
    expect(await sample()).toMatchObject({ value: 1 })
    expect(alive(Number(text('pid')))).toBe(false)
  })

  test('a development server that keeps the pipes open is waited for, or keeps its port', async () => {
    const { sample, text, checkout, left } = sceneWith(
      'node server.mjs & until [ -s port ]; do sleep 0.01; done; echo METRIC t=3',
    )
    writeFileSync(
      join(checkout, 'server.mjs'),
      `import { createServer } from 'node:http'
       import { writeFileSync } from 'node:fs'
       const { ASSAY_PORT } = process.env
       createServer().listen(Number(ASSAY_PORT), '127.0.0.1', () => writeFileSync('port', ASSAY_PORT))
       setInterval(() => console.log('compiled'), 20)`,
    )
    const taken = await sample()
    expect(taken).toMatchObject({ value: 3, exit: 0, fault: null })
    expect(taken.peak_mb).toBeGreaterThan(1)
    expect(left()).toEqual([])
    const refused = await new Promise((resolve) =>
      createConnection(Number(text('port')), '127.0.0.1')
        .on('error', resolve)
        .on('connect', resolve),
    )
    expect(refused).toMatchObject({ code: 'ECONNREFUSED' })
  })
})

describe('output that hides a metric', () => {
  test.each<[string, string, number]>([
    ['50 MB of lines behind it', "echo METRIC t=5; head -c 50000000 /dev/zero | tr '\\0' x | fold -w 999", 5],
    [
      '10 MB without a newline before it',
      "head -c 10000000 /dev/zero | tr '\\0' x; echo; echo METRIC t=6",
      6,
    ],
    [
      'a progress bar on its line',
      "for n in 1 2 3; do printf '\\r%s of 3' $n; done; printf '\\rMETRIC t=7\\n'",
      7,
    ],
    ['line ends of another system', "printf 'working\\r\\nMETRIC t=8\\r\\ndone\\r\\n'", 8],
    ['writes that split it', 'printf MET; sleep 0.05; printf "RIC t="; sleep 0.05; printf "9\\n"', 9],
    ['colours', "printf '\\033[32mMETRIC t=1.5\\033[0m\\n'", 1.5],
  ])('%s', async (_, command, value) => {
    expect(await scene(command).sample()).toMatchObject({ value, fault: null, output_cut: false })
  })

  test('two values that contradict each other, far apart', async () => {
    const taken = await scene(
      "echo METRIC t=5; head -c 5000000 /dev/zero | tr '\\0' '\\n'; echo METRIC t=6",
    ).sample()
    expect(taken.fault).toMatchObject({ reason: 'metric_error', raw: 'METRIC t=6' })
    expect(taken.fault?.message).toContain('contradicts an earlier line: METRIC t=5')
  })
})

test('an unknown cost is shown as 0', async () => {
  const missing = scene('true', { config: { directory: 'gone' } })
  expect(existsSync(join(missing.checkout, 'gone'))).toBe(false)
  expect(await missing.sample()).toMatchObject({ cpu_ms: null, peak_mb: null, exit: null })
  const taken = await scene('sleep 0.1; echo METRIC t=1').sample()
  expect(taken.peak_mb).toBeGreaterThan(0)
  expect(taken.cpu_ms).toBeGreaterThanOrEqual(0)
})
