import { appendFileSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { appendLine, type Torn } from '../../cli/ledger/append.ts'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { readSteps, recordStep, stepsDigest } from '../../cli/ledger/steps.ts'
import { makeTemp } from '../rig/temp.ts'
import { noted, runStarted } from './drafts.ts'
import { fileOf, lineOf, opened, texts, write } from './file.ts'

const at = new Date(0)

describe('a tail without newline', () => {
  test('a half-written line poisons the append after it', () => {
    const file = fileOf(lineOf('first'), lineOf('lost').slice(0, 40))
    const ledger = opened(file)
    expect(texts(ledger)).toEqual(['first'])
    write(ledger, 'second')
    write(ledger, 'third')
    expect(texts(ledger)).toEqual(['first', 'second', 'third'])
    expect(texts(opened(file))).toEqual(['first', 'second', 'third'])
  })

  test('what was torn is cut off, or is not named by offset and bytes', () => {
    const first = lineOf('first')
    const file = fileOf(first, '{"half":')
    write(opened(file), 'second')
    const text = readFileSync(file, 'utf8')
    expect(text.startsWith(`${first}{"half":`)).toBe(true)
    const healed = text.split('\n').find((line) => line.includes('"healed"')) ?? ''
    expect(JSON.parse(healed)).toMatchObject({ type: 'healed', offset: first.length, bytes: 8 })
  })

  test("another's write in flight is lost by being healed", () => {
    const file = fileOf(lineOf('first'))
    const flying = lineOf('in flight')
    appendFileSync(file, flying.slice(0, 30))
    const landed = appendLine(file, lineOf('ours').trimEnd(), (torn) => {
      appendFileSync(file, flying.slice(30))
      return healedLine(torn)
    })
    expect(landed.ok).toBe(true)
    expect(texts(opened(file))).toEqual(['first', 'in flight', 'ours'])
  })

  test('two processes that heal the same tail damage the file', () => {
    const file = fileOf(lineOf('first'), '{"half":')
    const inner = lineOf('inner').trimEnd()
    appendLine(file, lineOf('outer').trimEnd(), (torn) => {
      appendLine(file, inner, healedLine)
      return healedLine(torn)
    })
    expect(texts(opened(file))).toEqual(['first', 'inner', 'outer'])
  })

  test('an unfinished event counts, though its writer was told that nothing was written', () => {
    const whole = lineOf('all but the newline').trimEnd()
    const file = fileOf(lineOf('first'), whole)
    const ledger = opened(file)
    write(ledger, 'second')
    expect(texts(ledger)).toEqual(['first', 'second'])
    expect(texts(opened(file))).toEqual(['first', 'second'])
  })

  test('the rest of a line that comes after a different line is taken for an event', () => {
    const file = fileOf(lineOf('first'))
    const flying = lineOf('never one write')
    appendFileSync(file, flying.slice(0, 30))
    write(opened(file), 'second')
    appendFileSync(file, flying.slice(30))
    const number = readFileSync(file, 'utf8').split('\n').length - 1
    expect(Ledger.open(file)).toMatchObject({
      ok: false,
      problem: { code: 'ledger_corrupt', at: `${file}:${number}` },
    })
  })

  test('a healing that is cut short at some byte makes the file unreadable', () => {
    const whole = fileOf(lineOf('first'), lineOf('lost').slice(0, 40))
    const before = readFileSync(whole).length
    write(opened(whole), 'second')
    const after = readFileSync(whole)
    const broken: number[] = []
    const file = join(makeTemp(), 'ledger.jsonl')
    for (let cut = before; cut <= after.length; cut++) {
      writeFileSync(file, after.subarray(0, cut))
      const ledger = Ledger.open(file)
      const wrote = ledger.ok && ledger.value.propose<'noted'>(noted('third'), at).ok
      const again = Ledger.open(file)
      const wanted = cut === after.length ? ['first', 'second', 'third'] : ['first', 'third']
      if (!wrote || !again.ok || texts(again.value).join() !== wanted.join()) broken.push(cut)
    }
    expect(broken).toEqual([])
  })

  test('a writer that looked at the tail before a different one died there loses its event', () => {
    const metric = lineOf('second', { metrics: { v: 1, w: { v: 'x' } } })
    const file = fileOf(lineOf('first'), lineOf('lost').slice(0, 40), metric, lineOf('third'))
    expect(texts(opened(file))).toEqual(['first', 'second', 'third'])
    const within = fileOf(lineOf('lost {"v":"1.0"} quoted').slice(0, -9), lineOf('second {"v":"'))
    expect(texts(opened(within))).toEqual(['second {"v":"'])
    const damaged = fileOf(lineOf('first'), lineOf('{"v":"1.0"} quoted').replace('"at":', '"at"'))
    expect(Ledger.open(damaged)).toMatchObject({ ok: false, problem: { at: `${damaged}:2` } })
  })

  test('a tail of zero bytes, as a power cut leaves it, is not healed', () => {
    const file = fileOf(lineOf('first'), '\0'.repeat(5000))
    write(opened(file), 'second')
    expect(texts(opened(file))).toEqual(['first', 'second'])
  })

  test('the longest possible tail is reported with a wrong offset', () => {
    const first = lineOf('first')
    const file = fileOf(first, 'x'.repeat(64 * 1024 - 1))
    let seen: Torn | null = null
    appendLine(file, lineOf('second').trimEnd(), (torn) => {
      seen = torn
      return healedLine(torn)
    })
    expect(seen).toEqual({ offset: first.length, bytes: 65_535 })
  })
})

describe('what cannot be written', () => {
  test('a line over 64 KiB is written in part before it is refused', () => {
    const file = fileOf(lineOf('first'))
    const before = readFileSync(file, 'utf8')
    const tooLong = { ok: false, problem: { kind: 'usage', code: 'too_long' } }
    expect(appendLine(file, 'x'.repeat(64 * 1024), healedLine)).toMatchObject(tooLong)
    expect(appendLine(file, 'é'.repeat(32 * 1024), healedLine)).toMatchObject(tooLong)
    expect(opened(file).propose<'noted'>(noted('x'.repeat(64 * 1024)), at)).toMatchObject(tooLong)
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('a line of exactly 64 KiB with its newline is refused', () => {
    const file = fileOf()
    expect(appendLine(file, 'x'.repeat(64 * 1024 - 1), healedLine)).toEqual({ ok: true, value: undefined })
    expect(readFileSync(file).length).toBe(65_536)
  })

  test.runIf(process.platform === 'linux')('an event on a full disk is acknowledged', () => {
    const file = join(makeTemp(), 'ledger.jsonl')
    symlinkSync('/dev/full', file)
    const wrote = appendLine(file, lineOf('first').trimEnd(), healedLine)
    expect(wrote).toMatchObject({ ok: false, problem: { kind: 'failed', code: 'disk_full', at: file } })
    const step = recordStep(file, { step: 'seal', state: 'began' }, at)
    expect(step).toMatchObject({ ok: false, problem: { code: 'disk_full' } })
  })

  test('a folder that cannot be written to is a bug of ours', () => {
    const file = join(makeTemp(), 'ledger.jsonl')
    mkdirSync(file)
    expect(appendLine(file, '{}', healedLine)).toMatchObject({
      ok: false,
      problem: { kind: 'failed', code: 'not_written', at: file },
    })
    const inside = join(fileOf('x'), 'ledger.jsonl')
    expect(appendLine(inside, '{}', healedLine)).toMatchObject({
      ok: false,
      problem: { code: 'not_written', at: inside },
    })
  })
})

describe("an attempt's steps", () => {
  test('an unfinished step counts as done, or takes the next one with it', () => {
    const file = join(makeTemp(), 'steps.jsonl')
    recordStep(file, { step: 'seal', state: 'began' }, at)
    recordStep(file, { step: 'seal', state: 'ended' }, at)
    truncateSync(file, readFileSync(file).length - 1)
    expect(readSteps(file)).toMatchObject([{ step: 'seal', state: 'began' }])
    recordStep(file, { step: 'scope', state: 'began' }, at)
    expect(readSteps(file)).toMatchObject([
      { step: 'seal', state: 'began' },
      { step: 'healed' },
      { step: 'scope', state: 'began' },
    ])
  })

  test('the digest that binds a verdict is not that of the bytes', () => {
    const file = join(makeTemp(), 'steps.jsonl')
    writeFileSync(file, '{"a":1}\n{"b":2}\n')
    expect(stepsDigest(file)).toEqual({
      ok: true,
      value: { sha256: '3881dc2ee848fe04d776737c86afbc783e482e7c5be6431d3aab36fa8fa2c928', lines: 2 },
    })
  })
})

const healedLine = (torn: Torn): string =>
  JSON.stringify({ v: '1.0', id: 'h', at: at.toISOString(), type: 'healed', ...torn })

test('a run that has only its first event is not read', () => {
  const file = fileOf()
  const ledger = opened(file)
  expect(ledger.propose<'run_started'>(runStarted(), at)).toMatchObject({
    ok: true,
    value: { accepted: true },
  })
  expect(opened(file).state.run?.run).toBe('run_0001')
})
