/** The programs of `overhead.mjs` that use the product's own code; the first argument names one. Each prints its measures as JSON. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { createExperiment } from '../../cli/experiment/create.ts'
import { discard } from '../../cli/experiment/manual-decisions.ts'
import { appendLine } from '../../cli/ledger/append.ts'
import type { Result } from '../../cli/result.ts'
import { openRun } from '../../cli/run/open.ts'

const [program = '', ...args] = process.argv.slice(2)

function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.message}`)
  return result.value
}

/** So many experiments that have ended, with their worktrees. */
async function ended(count: number) {
  const world = {
    cwd: process.cwd(),
    env: process.env,
    tell: () => {},
    signal: new AbortController().signal,
    clock: () => new Date(),
    random: () => 'bench',
  }
  const run = must(openRun(world, null))
  for (let n = 0; n < count; n++) {
    const request = { parent: 'exp_0000', hypothesis: `idea ${n}`, key: null, place: null }
    const { experiment } = must(await createExperiment(run, request))
    must(discard(run, experiment, { why: 'bench', failureClass: null, key: null }))
  }
}

/** Durable lines of 500 bytes by several processes that begin together: how long they take, and the slowest line of a hundred. */
async function append(how: string, file: string, writers: number, lines: number) {
  const all = Array.from({ length: writers }, () =>
    spawn(process.execPath, [process.argv[1] ?? '', 'writer', how, file, String(lines)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  )
  const said = all.map((child) => saidBy(child))
  await Promise.all(all.map((child) => once(child.stdout, 'data')))
  const began = performance.now()
  for (const child of all) child.stdin.end()
  const times = (await Promise.all(said)).flatMap(
    (text) => JSON.parse(text.slice('ready'.length)) as number[],
  )
  const ms = performance.now() - began
  times.sort((a, b) => a - b)
  console.log(JSON.stringify({ ms, p99: times[Math.floor(times.length * 0.99)] }))
}

async function writer(how: string, file: string, lines: number) {
  process.stdout.write('ready')
  process.stdin.resume()
  await once(process.stdin, 'end')
  const line = JSON.stringify({ type: 'noted', text: 'x'.repeat(470) })
  const times = Array.from({ length: lines }, () => {
    const began = performance.now()
    if (how === 'ours') must(appendLine(file, line, () => '{}'))
    else {
      const fd = openSync(file, 'a')
      writeSync(fd, `${line}\n`)
      fdatasyncSync(fd)
      closeSync(fd)
    }
    return performance.now() - began
  })
  process.stdout.write(JSON.stringify(times))
}

/** The same command so often at once; `{n}` in it is the number of the process, in four digits. */
async function crowd(from: number, count: number, command: readonly string[]) {
  const began = performance.now()
  const codes = Array.from({ length: count }, async (_, n) => {
    const number = String(from + n).padStart(4, '0')
    const [file = '', ...more] = command.map((one) => one.replace('{n}', number))
    const [code] = await once(spawn(file, more, { stdio: 'ignore' }), 'close')
    if (code !== 0) throw new Error(`${more.join(' ')} ended with ${code}`)
  })
  await Promise.all(codes)
  console.log(JSON.stringify({ ms: performance.now() - began }))
}

async function saidBy(child: ChildProcess): Promise<string> {
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await once(child, 'close')
  return text
}

const [first = '', second = '', third = '', fourth = ''] = args
if (program === 'ended') await ended(Number(first))
else if (program === 'append') await append(first, second, Number(third), Number(fourth))
else if (program === 'writer') await writer(first, second, Number(third))
else if (program === 'crowd') await crowd(Number(first), Number(second), args.slice(2))
else throw new Error(`no program ${program}`)
