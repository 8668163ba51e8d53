import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { redactStored } from '../../cli/evaluate/stored.ts'
import { ALL_SECRETS, leaked } from '../rig/secrets.ts'
import { makeTemp } from '../rig/temp.ts'

const CHUNK = 64 * 1024

test('a secret across the border of two reads, or at the very end, stays in the file', () => {
  const folder = makeTemp('stored')
  const file = join(folder, 'big.out')
  for (const [name, { text }] of Object.entries(ALL_SECRETS)) {
    const line = `${'.'.repeat(99)}\n`
    // Its beginning, its middle and its end at the border, and where the look at a chunk ends early.
    for (const border of [CHUNK, CHUNK - 20_000]) {
      for (const part of [1, text.length >> 1, text.length - 1]) {
        const before = line.repeat(border / 100).slice(0, border - part - 1)
        writeFileSync(file, `${before} ${text}\nMETRIC ms=1\n${line.repeat(300)}${text}`)
        redactStored(file, CHUNK)
        const safe = readFileSync(file, 'latin1')
        expect(leaked(safe), `${name} ${border} ${part}`).toEqual([])
        expect(safe.startsWith(before)).toBe(true)
        expect(safe).toContain('\nMETRIC ms=1\n')
      }
    }
  }
})

test('redaction changes bytes that are no text, the mode, or a file without secrets', () => {
  const folder = makeTemp('stored')
  const secret = ALL_SECRETS.github?.text ?? ''
  mkdirSync(join(folder, 'in'))
  const [raw, clean] = [join(folder, 'in', 'raw'), join(folder, 'in', 'clean')]
  const noise = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256))
  writeFileSync(raw, Buffer.concat([noise, Buffer.from(` ${secret} `), noise]))
  chmodSync(raw, 0o600)
  writeFileSync(clean, noise)
  const before = statSync(clean)
  redactStored(join(folder, 'in'))
  expect(readFileSync(raw)).toEqual(Buffer.concat([noise, Buffer.from(' [redacted GitHub token] '), noise]))
  expect(statSync(raw).mode & 0o777).toBe(0o600)
  expect(statSync(clean).ino).toBe(before.ino)
  expect(readdirSync(join(folder, 'in')).sort()).toEqual(['clean', 'raw'])
})

test('a link that a benchmark left leads to a change elsewhere', () => {
  const folder = makeTemp('stored')
  const secret = ALL_SECRETS.github?.text ?? ''
  const outside = join(makeTemp('outside'), 'mine.txt')
  writeFileSync(outside, secret)
  symlinkSync(outside, join(folder, 'link'))
  redactStored(folder)
  redactStored(join(folder, 'link'))
  redactStored(join(folder, 'absent'))
  expect(readFileSync(outside, 'utf8')).toBe(secret)
})
