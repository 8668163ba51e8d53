import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { acquireLease, type SlotLease, tryHold, withLock } from '../cli/lock.ts'
import type { Notice } from '../cli/notices.ts'
import { identify } from '../cli/process.ts'
import { bundle } from './process/scene.ts'
import { makeTemp } from './rig/temp.ts'
import { until } from './rig/until.ts'

/** Takes orders, one a line, and answers each with one line of JSON. */
const PARTNER = `
import { createInterface } from 'node:readline'
import { readFileSync, writeFileSync } from 'node:fs'
import { acquireLease, tryHold, withLock } from './lock.ts'
import { identify } from './process.ts'
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
let lease, hold
const orders = {
  identify: () => identify(),
  lease: async (request) => (lease = await acquireLease({ ...request, tell: say })).slot,
  release: () => lease.release(),
  hold: (path) => (hold = tryHold(path)).held,
  count: async ({ lock, file, times }) => {
    for (let i = 0; i < times; i++)
      await withLock(lock, async () => {
        const before = Number(readFileSync(file, 'utf8'))
        await new Promise((resolve) => setImmediate(resolve))
        writeFileSync(file, String(before + 1))
      })
  },
}
for await (const line of createInterface({ input: process.stdin })) {
  const [order, argument] = JSON.parse(line)
  say({ done: order, value: (await orders[order](argument)) ?? null })
}
`

let program: string
beforeAll(async () => {
  program = await bundle(PARTNER, makeTemp('partner'))
})

const partners: ChildProcess[] = []
afterEach(() => {
  for (const partner of partners.splice(0)) partner.kill('SIGKILL')
})

function startPartner() {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  partners.push(child)
  const said: unknown[] = []
  createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line)))
  const answers = () =>
    said.filter((one): one is { done: string; value: unknown } => Object.hasOwn(one as object, 'done'))
  const order = (name: string, argument: unknown = null) =>
    child.stdin.write(`${JSON.stringify([name, argument])}\n`)
  return {
    said,
    order,
    async ask(name: string, argument: unknown = null): Promise<unknown> {
      const before = answers().length
      order(name, argument)
      await until(() => answers().length > before, { what: `an answer to ${name}` })
      return answers()[before]?.value
    },
    async die(): Promise<void> {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

async function deadIdentity() {
  const partner = startPartner()
  const identity = await partner.ask('identify')
  await partner.die()
  return identity as { pid: number; started: string; host: string }
}

describe('a lock', () => {
  test('lets one in at a time, over processes and within each', async () => {
    const folder = makeTemp('lock')
    const [lock, file] = [join(folder, 'lock'), join(folder, 'count')]
    writeFileSync(file, '0')
    const six = Array.from({ length: 6 }, startPartner)
    await Promise.all(six.map((one) => one.ask('count', { lock, file, times: 40 })))
    expect(readFileSync(file, 'utf8')).toBe('240')
    let inside = 0
    const most: number[] = []
    const work = () =>
      withLock(lock, async () => {
        most.push(++inside)
        await new Promise((resolve) => setImmediate(resolve))
        inside -= 1
      })
    await Promise.all([work(), work(), work()])
    expect(most).toEqual([1, 1, 1])
    expect(readdirSync(folder)).toEqual(['count'])
  })

  test('is released, and passes the failure on, when the work throws', async () => {
    const lock = join(makeTemp('lock'), 'lock')
    await expect(withLock(lock, () => Promise.reject(new Error('work')))).rejects.toThrow('work')
    expect(await withLock(lock, async () => 'free')).toBe('free')
  })

  test('of a living process is never taken, and names it', async () => {
    const path = join(makeTemp('lock'), 'driver')
    const partner = startPartner()
    const owner = await partner.ask('identify')
    expect(await partner.ask('hold', path)).toBe(true)
    expect(tryHold(path)).toEqual({ held: false, owner })
    await partner.die()
    const hold = tryHold(path)
    expect(hold.held).toBe(true)
  })

  test('is not re-entrant, and a late release does not take it from the next owner', () => {
    const path = join(makeTemp('lock'), 'driver')
    const first = tryHold(path)
    expect(tryHold(path)).toEqual({ held: false, owner: identify() })
    if (!first.held) throw new Error('not held')
    first.release()
    const second = tryHold(path)
    first.release()
    expect(tryHold(path).held).toBe(false)
    expect(second.held).toBe(true)
  })

  test('of an owner on a different host is never taken', async () => {
    const path = join(makeTemp('lock'), 'driver')
    const owner = { ...(await deadIdentity()), host: 'another-host' }
    symlinkSync(JSON.stringify({ ...owner, nonce: '1' }), path)
    expect(tryHold(path)).toEqual({ held: false, owner })
  })

  test('of a dead owner goes to exactly one of many that try at once', async () => {
    const folder = makeTemp('lock')
    const dead = await deadIdentity()
    const three = Array.from({ length: 3 }, startPartner)
    await Promise.all(three.map((one) => one.ask('identify')))
    for (let round = 0; round < 20; round++) {
      const path = join(folder, `lock-${round}`)
      symlinkSync(JSON.stringify({ ...dead, nonce: String(round) }), path)
      const tries = await Promise.all(three.map((one) => one.ask('hold', path)))
      // All may find another at it; two may never hold it.
      expect(tries.filter(Boolean).length).toBeLessThanOrEqual(1)
    }
    expect(readdirSync(folder).filter((name) => name.includes('~'))).toEqual([])
  })

  test('of a dead owner goes to the next although a process died as it took the lock over', async () => {
    const folder = makeTemp('lock')
    const path = join(folder, 'lock')
    const text = JSON.stringify({ ...(await deadIdentity()), nonce: 'a' })
    symlinkSync(text, path)
    // The lock under which this very link is removed, as a process that died left it.
    const removalLock = `${path}~${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
    symlinkSync(JSON.stringify({ ...(await deadIdentity()), nonce: 'b' }), removalLock)
    expect(await withLock(path, async () => readdirSync(folder))).toEqual(['lock'])
  })

  test('is never mistaken for a file of someone else', () => {
    const folder = makeTemp('lock')
    writeFileSync(join(folder, 'plain'), '')
    symlinkSync('/etc/passwd', join(folder, 'link'))
    for (const name of ['plain', 'link'])
      expect(() => tryHold(join(folder, name))).toThrow('is not a lock of Assay')
    expect(readlinkSync(join(folder, 'link'))).toBe('/etc/passwd')
  })
})

describe('leases', () => {
  const lease = (folder: string, capacity: number, tell: (fact: Notice) => void = () => {}) =>
    acquireLease({ folder, capacity, tell })

  test('as many as the capacity at once, each with a slot of its own, the lowest free one first', async () => {
    const folder = join(makeTemp('leases'), 'made/on/demand')
    const [one, two] = [await lease(folder, 3), await lease(folder, 3)]
    const three = await lease(folder, 3)
    expect([one.slot, two.slot, three.slot]).toEqual([0, 1, 2])
    two.release()
    two.release()
    expect((await lease(folder, 3)).slot).toBe(1)
  })

  test('come in the order of asking, over processes, and say how many are ahead', async () => {
    const folder = makeTemp('leases')
    const first = await lease(folder, 1)
    const line = [startPartner(), startPartner(), startPartner()]
    for (const [index, partner] of line.entries()) {
      partner.order('lease', { folder, capacity: 1 })
      await until(() => partner.said.length > 0, { what: `partner ${index} to wait` })
      // Who measures, and the lock that says so.
      const what = `a slot, ${index + 1} ahead: process ${process.pid} on ${hostname()} (${join(folder, 's-0')})`
      expect(partner.said).toEqual([{ type: 'waiting', what }])
    }
    first.release()
    const admitted = (one: (typeof line)[number]) =>
      one.said.some((fact) => Object.hasOwn(fact as object, 'done'))
    for (const [index, partner] of line.entries()) {
      await until(() => admitted(partner), { what: `the lease of partner ${index}` })
      for (const [behind, other] of line.slice(index + 1).entries()) {
        expect(admitted(other)).toBe(false)
        const told = `a slot, ${behind + 1} ahead: process `
        await until(() => (other.said.at(-1) as { what?: string }).what?.startsWith(told) ?? false, {
          what: 'the news of a shorter line',
        })
      }
      await partner.ask('release')
    }
    expect(readdirSync(folder)).toEqual([])
  })

  test('of dead owners and dead waiters are removed', async () => {
    const folder = makeTemp('leases')
    const [holder, waiter] = [startPartner(), startPartner()]
    expect(await holder.ask('lease', { folder, capacity: 1 })).toBe(0)
    waiter.order('lease', { folder, capacity: 1 })
    await until(() => waiter.said.length > 0, { what: 'the waiter' })
    const mine = lease(folder, 1)
    await waiter.die()
    await holder.die()
    expect((await mine).slot).toBe(0)
  })

  test('one that wants the machine alone waits for all, and all wait for it', async () => {
    const folder = makeTemp('leases')
    const shared = await lease(folder, 4)
    const order: string[] = []
    const facts: Notice[] = []
    const alone = lease(folder, 1, (fact) => facts.push(fact)).then((got) => {
      order.push('alone')
      return got
    })
    await until(() => facts.length > 0, { what: 'the exclusive one to wait' })
    const later = lease(folder, 4, (fact) => facts.push(fact)).then((got) => {
      order.push('later')
      return got
    })
    await until(() => facts.length > 1, { what: 'the later one to wait behind it' })
    shared.release()
    const exclusive = await alone
    expect(order).toEqual(['alone'])
    exclusive.release()
    expect((await later).slot).toBe(0)
    expect(order).toEqual(['alone', 'later'])
  })

  test('a waiter that gives up leaves the line', async () => {
    const folder = makeTemp('leases')
    const held = await lease(folder, 1)
    const stop = new AbortController()
    const facts: Notice[] = []
    const waiting = acquireLease({
      folder,
      capacity: 1,
      tell: (fact) => facts.push(fact),
      signal: stop.signal,
    })
    await until(() => facts.length > 0, { what: 'the waiter' })
    stop.abort(new Error('given up'))
    await expect(waiting).rejects.toThrow('given up')
    await expect(acquireLease({ folder, capacity: 1, signal: stop.signal })).rejects.toThrow('given up')
    expect(readdirSync(folder)).toEqual(['s-0'])
    held.release()
  })

  test('never more than the capacity, when many ask at once', async () => {
    const folder = makeTemp('leases')
    const slots = join(makeTemp('slots'), 'taken')
    mkdirSync(slots)
    let inside = 0
    let most = 0
    const work = async (): Promise<number> => {
      const got: SlotLease = await lease(folder, 2)
      const mark = join(slots, String(got.slot))
      expect(existsSync(mark)).toBe(false)
      writeFileSync(mark, '')
      most = Math.max(most, ++inside)
      await new Promise((resolve) => setImmediate(resolve))
      inside -= 1
      unlinkSync(mark)
      got.release()
      return got.slot
    }
    const used = await Promise.all(Array.from({ length: 12 }, work))
    expect([most, new Set(used)]).toEqual([2, new Set([0, 1])])
  })
})
