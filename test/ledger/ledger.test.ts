import { mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { call, next } from '../../cli/next.ts'
import { makeTemp } from '../rig/temp.ts'
import { created, noted, runStarted, stamped } from './drafts.ts'
import { fileOf, lineOf, opened, texts, write } from './file.ts'

const at = new Date('2026-01-02T03:04:05.678Z')

describe('reading', () => {
  test('a file that is missing, or is made by being read', () => {
    const file = join(makeTemp(), 'ledger.jsonl')
    expect(opened(file).state.seq).toBe(0)
    expect(() => statSync(file)).toThrow('ENOENT')
  })

  test('an empty file is not an empty run', () => {
    const ledger = opened(fileOf())
    expect(ledger.state.run).toBeNull()
    write(ledger, 'first')
    expect(texts(ledger)).toEqual(['first'])
  })

  test('lines that an editor saved with CRLF, and empty ones', () => {
    const file = fileOf(lineOf('first').replace('\n', '\r\n'), '\n', '\r\n', lineOf('second'))
    expect(texts(opened(file))).toEqual(['first', 'second'])
  })

  test('a damaged line in the middle is skipped, misnumbered, or repaired by a reader', () => {
    const file = fileOf(lineOf('first'), '\n', '{"v":"1.0","type":"no', '\n', lineOf('fourth'))
    const before = readFileSync(file, 'utf8')
    const problem = {
      kind: 'refused',
      code: 'ledger_corrupt',
      message: 'line 3 of the ledger cannot be read, and nothing says that it was left unfinished',
      hint: next`${call('doctor')} explains the damage and how to repair it; nothing was changed`,
      at: `${file}:3`,
    }
    expect(Ledger.open(file)).toEqual({ ok: false, problem })
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test.each(['[]', '"text"', '12', 'null', '{"a":1}{"b":2}'])('%s is taken for an event', (line) => {
    const file = fileOf(lineOf('first'), `${line}\n`)
    expect(Ledger.open(file)).toMatchObject({
      ok: false,
      problem: { code: 'ledger_corrupt', at: `${file}:2` },
    })
  })

  test('damage that appears under an open ledger counts events twice, or is misnumbered', () => {
    const file = fileOf(lineOf('first'))
    const reader = opened(file)
    const writer = opened(file)
    write(writer, 'second')
    const text = readFileSync(file, 'utf8')
    const damaged = fileOf(text, 'damage\n', lineOf('fourth'))
    const late = Ledger.open(damaged)
    expect(late).toMatchObject({ ok: false, problem: { at: `${damaged}:3` } })
    expect(reader.refresh().ok).toBe(true)
    expect(texts(reader)).toEqual(['first', 'second'])
  })

  test('a failed read is not repeatable: what it folded is folded again', () => {
    const file = join(makeTemp(), 'ledger.jsonl')
    const ledger = opened(file)
    const bad = fileOf(lineOf('first'), lineOf('second'), 'damage\n')
    symlinkSync(bad, file)
    for (let times = 0; times < 3; times++) {
      expect(ledger.refresh()).toMatchObject({ ok: false, problem: { at: `${file}:3` } })
      expect(texts(ledger)).toEqual(['first', 'second'])
    }
  })

  test('an unknown type of a newer minor is refused, dropped, or spoils the lines around it', () => {
    const strange = `${JSON.stringify({ v: '1.7', id: 'n', at: '', type: 'from_the_future', experiment: 'exp_0000' })}\n`
    const file = fileOf(lineOf('first'), strange, lineOf('third', { v: '1.7', extra: { deep: [1] } }))
    const ledger = opened(file)
    write(ledger, 'fourth')
    expect(texts(ledger)).toEqual(['first', 'third', 'fourth'])
    expect(readFileSync(file, 'utf8')).toContain(strange)
  })

  test('a newer major is read as if it were ours', () => {
    const file = fileOf(lineOf('first'), lineOf('second', { v: '2.0' }))
    const before = readFileSync(file, 'utf8')
    expect(Ledger.open(file)).toEqual({
      ok: false,
      problem: {
        kind: 'refused',
        code: 'ledger_newer',
        message: 'the ledger was written in format 2.0; this Assay reads 1.0',
        hint: 'update Assay, then run the same command again',
      },
    })
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('a line without a format is read as if it were ours', () => {
    expect(Ledger.open(fileOf('{"type":"noted","text":"x"}\n'))).toMatchObject({
      ok: false,
      problem: { code: 'ledger_unknown' },
    })
  })

  test('a record that cannot be read is a bug of ours, or an empty run', () => {
    const folder = join(makeTemp(), 'ledger.jsonl')
    mkdirSync(folder)
    const below = join(fileOf('x'), 'ledger.jsonl')
    const loop = join(makeTemp(), 'ledger.jsonl')
    symlinkSync(loop, loop)
    for (const file of [folder, below, loop]) {
      expect(Ledger.open(file)).toMatchObject({
        ok: false,
        problem: { kind: 'failed', code: 'not_read', at: file },
      })
    }
  })
})

describe('proposing', () => {
  test('the event is not what the file holds', () => {
    const file = fileOf()
    const proposed = opened(file).propose<'noted'>(noted('hello'), at)
    const line = JSON.parse(readFileSync(file, 'utf8'))
    expect(line).toMatchObject({ v: '1.0', at: '2026-01-02T03:04:05.678Z', type: 'noted', text: 'hello' })
    expect(proposed).toEqual({ ok: true, value: { accepted: true, event: line } })
  })

  test('events of other processes are not read before our own proposal', () => {
    const file = fileOf()
    const [one, other] = [opened(file), opened(file)]
    one.propose<'run_started'>(runStarted(), at)
    expect(one.propose<'created'>(created('exp_0000', null), at)).toMatchObject({ value: { accepted: true } })
    expect(other.propose<'created'>(created('exp_0000', null), at)).toEqual({
      ok: true,
      value: {
        accepted: false,
        because: { code: 'exists', message: 'exp_0000 exists', hint: 'take the next number', raced: true },
      },
    })
    expect(other.state.seq).toBe(2)
  })

  test('a listener hears void events, or misses those of others', () => {
    const file = fileOf(`${JSON.stringify(stamped(runStarted(), 'a'))}\n`)
    const [one, other] = [opened(file), opened(file)]
    const heard: string[] = []
    one.listen((event) => heard.push(event.type))
    other.propose<'created'>(created('exp_0000', null), at)
    one.propose<'created'>(created('exp_0000', null), at)
    one.propose<'noted'>(noted('own'), at)
    expect(heard).toEqual(['created', 'noted'])
  })
})

describe('a key', () => {
  const begun = () => {
    const ledger = opened(fileOf(`${JSON.stringify(stamped(runStarted(), 'a'))}\n`))
    return { ledger, first: ledger.record<'created'>(created('exp_0000', null), at, 'k') }
  }

  test('is answered by a later event, or writes a second one', () => {
    const { ledger, first } = begun()
    const again = ledger.record<'created'>(created('exp_0001', null), at, 'k')
    expect(again).toEqual({ ok: true, value: { event: first.ok && first.value.event, repeated: true } })
    expect([...ledger.state.experiments.keys()]).toEqual(['exp_0000'])
  })

  test('answers for a different verb, for a different experiment, or when it is new', () => {
    const { ledger } = begun()
    const said = (types: Parameters<typeof ledger.answeredBefore>[0], key: string | null, about?: string) => {
      const found = ledger.answeredBefore(types, key, about)
      return found && (found.ok ? found.value.type : found.problem.message)
    }
    expect(said(['created'], 'k')).toBe('created')
    expect(said(['sealed', 'created'], 'k', 'exp_0000')).toBe('created')
    expect(said(['created'], 'k', 'exp_0001')).toBe('the key k was used for exp_0000')
    expect(said(['sealed'], 'k')).toBe('the key k was used by another verb')
    expect([said(['created'], 'l'), said(['created'], null)]).toEqual([null, null])
  })

  test('an event that lost a race is not marked as raced, or a refusal by a rule is', () => {
    const { ledger } = begun()
    const raced = (result: { ok: boolean; problem?: { code: string; raced?: true } }) =>
      result.ok ? null : [result.problem?.code, result.problem?.raced]
    expect(raced(ledger.record<'created'>(created('exp_0000', null), at))).toEqual(['exists', true])
    expect(raced(ledger.record<'created'>(created('exp_0001', 'exp_0000'), at))).toEqual([
      'bad_parent',
      undefined,
    ])
  })
})
