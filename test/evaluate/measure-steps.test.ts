import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '../rig/until.ts'
import { scene } from './scene.ts'

const step = (command: string, timeoutMs = 30_000) => ({ command, timeoutMs })

describe('measure.before and measure.after', () => {
  test('count as part of the measured time, get other variables, or run in the wrong order', async () => {
    const { sample, checkout } = scene('echo run $ASSAY_PORT >> order; echo METRIC t=5', {
      config: {
        before: step('sleep 0.3; echo before $ASSAY_PORT {result} >> order'),
        after: step('echo after $ASSAY_PORT >> order'),
      },
    })
    const taken = await sample()
    expect(taken).toMatchObject({ value: 5, fault: null })
    const [before, run, after] = readFileSync(join(checkout, 'order'), 'utf8').split('\n')
    const port = run?.split(' ')[1]
    expect(before).toMatch(new RegExp(`^before ${port} .*/desk/result\\.json$`))
    expect(after).toBe(`after ${port}`)
    const whole = Date.parse(taken.ended) - Date.parse(taken.started)
    expect(whole - taken.wall_ms).toBeGreaterThanOrEqual(290)
  })

  test('a failure of before counts against the candidate, or after does not run then', async () => {
    const { sample, checkout } = scene('touch ran; echo METRIC t=5', {
      config: { before: step('echo "no docker" >&2; exit 3'), after: step('touch after') },
    })
    expect(await sample()).toMatchObject({
      value: null,
      exit: null,
      fault: { reason: 'environment', message: 'measure.before failed: exit 3: no docker' },
    })
    expect([existsSync(join(checkout, 'ran')), existsSync(join(checkout, 'after'))]).toEqual([false, true])
  })

  test.each([
    ['a crash', 'exit 1', 'crash'],
    ['a time limit', 'sleep 60', 'timeout'],
  ])('after does not run behind %s', async (_, command, reason) => {
    const { sample, checkout } = scene(command, { config: { after: step('touch after'), timeoutMs: 300 } })
    expect(await sample()).toMatchObject({ value: null, fault: { reason } })
    expect(existsSync(join(checkout, 'after'))).toBe(true)
  })

  test('after does not run behind an interruption', async () => {
    const stop = new AbortController()
    const { sample, checkout } = scene('touch ran; exec sleep 60', {
      config: { before: step('true'), after: step('touch after') },
      signal: stop.signal,
    })
    const taken = sample()
    await until(() => existsSync(join(checkout, 'ran')), { what: 'the benchmark to start', dir: checkout })
    stop.abort()
    expect(await taken).toMatchObject({ value: null, fault: { reason: 'aborted' } })
    expect(existsSync(join(checkout, 'after'))).toBe(true)
  })

  test('a good value hides that after failed, so the next sample starts on its ruins', async () => {
    const { sample } = scene('echo METRIC t=5', { config: { after: step('echo busy >&2; exit 1') } })
    expect(await sample()).toMatchObject({
      value: null,
      fault: { reason: 'environment', message: 'measure.after failed: exit 1: busy' },
    })
  })
})

describe('measure.requires', () => {
  test('a sample begins although a required output is missing, or the failure counts as one of the evaluation', async () => {
    const { sample, checkout } = scene('touch ran; echo METRIC t=5', {
      config: { requires: ['there.txt', 'dist/index.js'] },
    })
    writeFileSync(join(checkout, 'there.txt'), '')
    const taken = await sample()
    expect(taken).toMatchObject({ value: null, fault: { reason: 'crash', failure_class: 'build' } })
    expect(taken.fault?.message).toContain('dist/index.js is not there')
    expect(existsSync(join(checkout, 'ran'))).toBe(false)
  })
})

describe('measure.score', () => {
  test('the measured program scores itself', async () => {
    const { sample } = scene('echo \'{"score": 99}\' > $ASSAY_RESULT; echo METRIC t=98; echo answer 41', {
      config: { score: step('test ! -e {result} && grep -c answer "$ASSAY_STDOUT" | sed "s/^/METRIC t=/"') },
    })
    expect(await sample()).toMatchObject({ value: 1, metrics: { t: 1 }, fault: null })
  })

  test('the scorer does not get what was written to the result file, or cannot answer there', async () => {
    const { sample } = scene('echo 12 > $ASSAY_RESULT', {
      config: { score: step('echo "{\\"score\\": $(cat "$ASSAY_OUTPUT")}" > {result}') },
    })
    expect(await sample()).toMatchObject({ value: 12 })
  })

  test('the time of the scorer is the time of the benchmark', async () => {
    const { sample } = scene('true', {
      metric: { name: 'wall_ms' },
      config: { score: step('sleep 0.5; echo METRIC n=1') },
    })
    const taken = await sample()
    expect(taken.metrics.n).toBe(1)
    expect(taken.value).toBeLessThan(Date.parse(taken.ended) - Date.parse(taken.started) - 490)
  })

  test('a scorer that fails is not named', async () => {
    const { sample } = scene('echo METRIC t=5', { config: { score: step('echo "no key" >&2; exit 2') } })
    expect(await sample()).toMatchObject({
      value: null,
      exit: 0,
      fault: { reason: 'crash', message: 'measure.score: exit 2: no key' },
    })
  })
})
