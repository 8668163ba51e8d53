import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { fileOf, lineOf, opened, texts, write } from './file.ts'

let script = ''
const children = new Set<ChildProcess>()

beforeAll(() => {
  script = join(makeTemp('writer'), 'writer.mjs')
  buildSync({
    entryPoints: [join(import.meta.dirname, 'writer.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: script,
  })
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

interface Writer {
  /** What was acknowledged, complete lines only. */
  acknowledged: () => string[]
  ready: () => boolean
  go: () => void
  kill: () => void
  ended: Promise<number | null>
  errors: () => string
}

/** `blocks`: the file may not grow over so many times 512 bytes, and a write over that end is cut short there. */
function startWriter(file: string, name: string, times: number, blocks: number | null = null): Writer {
  const argv = [process.execPath, script, file, name, String(times)]
  const limit = blocks === null ? '' : `ulimit -f ${blocks}; `
  const child = spawn('/bin/sh', ['-c', `${limit}exec "$@"`, 'sh', ...argv], { stdio: 'pipe' })
  children.add(child)
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  child.stdin.on('error', () => {
    // Killed before it could read.
  })
  return {
    acknowledged: () => out.split('\n').slice(1, -1),
    ready: () => out.startsWith('ready\n'),
    go: () => child.stdin.end(),
    kill: () => child.kill('SIGKILL'),
    ended: new Promise((resolve) => {
      child.on('close', (code) => {
        children.delete(child)
        resolve(code)
      })
    }),
    errors: () => err,
  }
}

async function startWriters(file: string, count: number, times: number): Promise<Writer[]> {
  const writers = Array.from({ length: count }, (_, n) => startWriter(file, `w${n}`, times))
  await until(() => writers.every((writer) => writer.ready()), { what: 'the writers to be ready' })
  return writers
}

/** Every event; a writer that took another's write in flight for an unfinished one has cancelled an empty line. */
const lines = (file: string): Record<string, unknown>[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && line !== '\u0018')
    .map((line) => JSON.parse(line))

test('of 8 × 200 events that were written at once, one is missing, mixed with another, or out of order', async () => {
  const file = fileOf()
  const writers = await startWriters(file, 8, 200)
  for (const writer of writers) writer.go()
  expect(await Promise.all(writers.map((writer) => writer.ended))).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  const found = lines(file)
    .filter(({ type }) => type === 'noted')
    .map(({ text }) => String(text))
  expect(found.length).toBe(1600)
  for (const [n, writer] of writers.entries()) {
    expect(writer.acknowledged().length).toBe(200)
    expect(found.filter((text) => text.startsWith(`w${n}.`))).toEqual(writer.acknowledged())
  }
  expect(texts(opened(file))).toEqual(found)
})

test('a writer that is killed takes an acknowledged event with it, or leaves a ledger that nobody can read', async () => {
  const file = fileOf(lineOf('before'))
  const writers = await startWriters(file, 8, 100_000)
  for (const writer of writers) writer.go()
  const reader = opened(file)
  for (const [n, writer] of writers.entries()) {
    const enough = 3 + n * 4
    await until(() => writer.acknowledged().length >= enough, { what: `${enough} events of writer ${n}` })
    writer.kill()
    expect(reader.refresh().ok).toBe(true)
  }
  await Promise.all(writers.map((writer) => writer.ended))
  expect(writers.map((writer) => writer.errors())).toEqual(['', '', '', '', '', '', '', ''])
  write(opened(file), 'after')
  const found = new Set(texts(opened(file)))
  const missing = [...writers.flatMap((writer) => writer.acknowledged()), 'before', 'after'].filter(
    (text) => !found.has(text),
  )
  expect(missing).toEqual([])
  reader.refresh()
  expect(texts(reader)).toEqual(texts(opened(file)))
})

test('tails that appear while others write cost an acknowledged event', async () => {
  const file = fileOf()
  const writers = await startWriters(file, 4, 60)
  for (const writer of writers) writer.go()
  for (let torn = 0; torn < 30; torn++) {
    const had = readFileSync(file).length
    appendFileSync(file, '{"v":"1.0","id":"torn","type":"noted","te')
    const done = () => writers.every((writer) => writer.acknowledged().length === 60)
    await until(() => done() || readFileSync(file).length > had + 400, { what: 'others to go on' })
  }
  expect(await Promise.all(writers.map((writer) => writer.ended))).toEqual([0, 0, 0, 0])
  write(opened(file), 'after')
  const ledger = Ledger.open(file)
  expect(ledger.ok).toBe(true)
  const found = new Set(texts(opened(file)))
  expect(found.size).toBe(241)
  for (const text of writers.flatMap((writer) => writer.acknowledged())) expect(found).toContain(text)
})

test('a disk that is full in the middle of a line costs an event, or stops those who come after', async () => {
  const file = fileOf()
  const writer = startWriter(file, 'w', 100_000, 40)
  await until(() => writer.ready(), { what: 'the writer to be ready' })
  writer.go()
  expect(await writer.ended).toBe(1)
  expect(writer.errors()).toMatch(/could not append to the record: wrote \d+ of \d+ bytes/)
  expect(readFileSync(file).length).toBe(20_480)
  expect(texts(opened(file))).toEqual(writer.acknowledged())
  write(opened(file), 'after')
  expect(texts(opened(file))).toEqual([...writer.acknowledged(), 'after'])
})
