/** A person aborts an attempt at the moment when its own process is about to record the verdict. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeProject, ms } from '../e2e/project.ts'
import { ledger } from '../e2e/tasks-scene.ts'
import { dataOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'

/**
 * Loaded into the command that judges. When it appends a line that MOMENT matches, it first starts `assay abort`, and goes on
 * once the ledger has that verdict, or the command waits for its turn.
 */
const PRELOAD = `const fs = require('node:fs')
const { spawn } = require('node:child_process')
const { MOMENT, LEDGER, WAITS, ROLE } = process.env
const real = { ...fs }
if (ROLE === 'aborts') {
  fs.symlinkSync = (...args) => {
    try {
      return real.symlinkSync(...args)
    } catch (error) {
      if (String(args[1]).endsWith('verdict.lock')) real.writeFileSync(WAITS, '')
      throw error
    }
  }
} else {
  const lines = new Set()
  let begun = false
  fs.openSync = (path, flags, ...rest) => {
    const fd = real.openSync(path, flags, ...rest)
    if (String(path).endsWith('.jsonl')) lines.add(fd)
    return fd
  }
  fs.writeSync = (fd, data, ...rest) => {
    if (!begun && lines.has(fd) && new RegExp(MOMENT).test(String(data))) {
      begun = true
      const argv = [process.argv[1], 'abort', 'exp_0001', '--failure-class', 'eval', '--reason', 'it hangs', '--json']
      spawn(process.execPath, argv, { env: { ...process.env, ROLE: 'aborts' }, stdio: 'ignore', detached: true }).unref()
      while (!real.existsSync(WAITS) && !real.readFileSync(LEDGER, 'utf8').includes('"aborted"'))
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
    return real.writeSync(fd, data, ...rest)
  }
}
`

test.each([
  ['before it looks whether it was aborted', '"step":"verdict"', ['failed aborted']],
  ['after it looked, before it records', '"type":"judged"', ['kept improved']],
])('an attempt gets two verdicts when it is aborted %s', async (_when, moment, verdict) => {
  const project = makeProject()
  await project.data('init')
  const { experiment } = await project.open(ms(90))
  const folder = makeTemp('meet')
  const preload = join(folder, 'preload.cjs')
  writeFileSync(preload, PRELOAD)
  const env = {
    MOMENT: moment,
    LEDGER: project.repo.path('.assay/runs/run_0001/ledger.jsonl'),
    WAITS: join(folder, 'waits'),
    NODE_OPTIONS: `--require=${JSON.stringify(preload)}`,
  }
  await project.cli(['run', experiment], { env })
  const judged = ledger(project).filter((line) => line.type === 'judged' && line.experiment === experiment)
  expect(judged.map(({ status, reason }) => `${status} ${reason}`)).toEqual(verdict)
  expect(dataOf(await project.cli(['show', experiment]))).toMatchObject({ status: verdict[0]?.split(' ')[0] })
})
