/** Writers of snapshots that are killed, side by side, while others read. The seeds are fixed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bestOf } from '../../cli/ledger/best.ts'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { snapshotOf } from '../../cli/ledger/snapshot.ts'
import { makeTemp } from '../rig/temp.ts'
import { keptNode, runStarted, stamped } from './drafts.ts'
import { fileOf, opened, texts } from './file.ts'

let script = ''
const children = new Set<ChildProcess>()

beforeAll(() => {
  script = join(makeTemp('keeper'), 'keeper.mjs')
  buildSync({
    entryPoints: [join(import.meta.dirname, 'keeper.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: script,
  })
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

interface Keeper {
  acknowledged: string[]
  /** Resolves when so many notes were acknowledged, which is when the snapshot after the last one is begun. */
  come: (count: number) => Promise<void>
  kill: () => void
  ended: Promise<number | null>
  errors: () => string
}

function keep(file: string, name: string, times: number): Keeper {
  const child = spawn(process.execPath, [script, file, name, String(times)], { stdio: 'pipe' })
  children.add(child)
  let [out, err] = ['', '']
  const waiting: { count: number; resolve: () => void }[] = []
  const acknowledged: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    const lines = out.split('\n')
    out = lines.pop() ?? ''
    acknowledged.push(...lines)
    for (const { count, resolve } of waiting) if (acknowledged.length >= count) resolve()
  })
  return {
    acknowledged,
    come: (count) => new Promise((resolve) => waiting.push({ count, resolve })),
    kill: () => child.kill('SIGKILL'),
    ended: new Promise((resolve) => child.on('close', (code) => resolve(code))),
    errors: () => err,
  }
}

/** A run whose snapshot takes long enough to be killed in it. */
function largeRun(): string {
  const drafts = [runStarted(), ...keptNode('exp_0000', null, 10)]
  for (let n = 1; n <= 2_000; n++) {
    const parent = `exp_${String(n >> 1).padStart(4, '0')}`
    drafts.push(...keptNode(`exp_${String(n).padStart(4, '0')}`, parent, 10 - n / 1e4))
  }
  return fileOf(...drafts.map((draft, n) => `${JSON.stringify(stamped(draft, `e${n}`))}\n`))
}

function whole(file: string): Ledger {
  const ledger = Ledger.open(file, { whole: true })
  if (!ledger.ok) throw new Error(ledger.problem.message)
  return ledger.value
}

const told = (ledger: Ledger) => {
  const { experiments, seq, counts } = ledger.state
  const nodes = Array.from(experiments.values(), ({ id, status, value, parent, children, attempts }) =>
    JSON.stringify([id, status, value, parent, children, attempts]),
  )
  return { nodes, seq, counts, best: bestOf(ledger.state)?.id, texts: texts(ledger) }
}

test('a writer of a snapshot that is killed leaves half of one, or what it had acknowledged is lost', async () => {
  const file = largeRun()
  const all: string[] = []
  for (let round = 0; round < 20; round++) {
    const keeper = keep(file, `k${round}`, 1_000)
    await Promise.race([keeper.come(1 + (round % 5)), keeper.ended])
    keeper.kill()
    await keeper.ended
    expect(keeper.errors()).toBe('')
    all.push(...keeper.acknowledged)
    const ledger = opened(file)
    expect(texts(ledger)).toEqual(expect.arrayContaining(all))
    expect(told(ledger)).toEqual(told(whole(file)))
  }
})

test('writers of snapshots at once leave a mixture, or a reader fails while they write and one is deleted', async () => {
  const file = largeRun()
  const keepers = [0, 1, 2].map((n) => keep(file, `k${n}`, 6))
  for (let count = 1; count <= 6; count++) {
    await Promise.race([keepers[count % 3]?.come(count), keepers[count % 3]?.ended])
    const reader = opened(file)
    if (count % 2 === 0) rmSync(snapshotOf(file), { force: true })
    // It reads on from a snapshot that is gone or replaced.
    const said = told(reader)
    expect(said.nodes).toHaveLength(2_001)
    expect(said.best).toBe('exp_2000')
  }
  expect(await Promise.all(keepers.map(({ ended }) => ended))).toEqual([0, 0, 0])
  expect(keepers.map(({ errors }) => errors())).toEqual(['', '', ''])
  const ledger = opened(file)
  expect(texts(ledger)).toHaveLength(18)
  expect(told(ledger)).toEqual(told(whole(file)))
})
