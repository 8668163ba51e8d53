import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { initLockOf, leaseFolder, siteAt } from '../../cli/paths.ts'
import { makeProject, ms, type Project } from '../e2e/project.ts'
import { isolatedEnv } from '../rig/temp.ts'
import { at, codesOf, deadOwner, troubles, without, withText } from './patient.ts'

let project: Project
let root: string
let kept: string
let open: { experiment: string; worktree: string }
const ledger = () => at(root, 'runs/run_0001/ledger.jsonl')
const store = (...args: string[]) =>
  execFileSync('git', ['--git-dir', at(root, '.git'), ...args], { encoding: 'utf8' }).trim()
const look = async (fix = false) => codesOf(await troubles(root, { fix }))
const looseObject = (oid: string) => at(root, '.git/objects', oid.slice(0, 2), oid.slice(2))

beforeAll(async () => {
  project = makeProject()
  root = project.repo.dir
  await project.data('init')
  kept = (await project.attempt(ms(90))).experiment
  open = await project.open(ms(80), kept)
})

test('doctor finds a problem in a run without one', async () => {
  expect(await troubles(root)).toEqual([])
  expect(await troubles(open.worktree)).toEqual([])
})

describe('ledger', () => {
  test('an unfinished last line is not found, or is ended in a different way than the next writer ends it', async () => {
    const size = readFileSync(ledger()).length
    appendFileSync(ledger(), '{"v":"1.')
    expect(await look()).toEqual(['warning ledger_torn fixable'])
    expect((await troubles(root, { fix: true })).map(({ fixed }) => fixed)).toEqual([
      `ended the unfinished line at byte ${size}`,
    ])
    const added = readFileSync(ledger()).subarray(size).toString().split('\n')
    expect(added[0]).toBe('{"v":"1.\u0018')
    expect(JSON.parse(added[1] ?? '')).toMatchObject({ type: 'healed', offset: size, bytes: 8 })
    expect(await look()).toEqual([])
    expect(await project.data('status')).toMatchObject({ run: 'run_0001' })
  })

  test('a corrupt line is not named, its bytes reach the terminal raw, or the repair does not work', async () => {
    const broken = (text: Buffer) => {
      const end = text.indexOf(10) + 1
      return Buffer.concat([text.subarray(0, end), Buffer.from([0, 255, 0x1b, 0x78, 10]), text.subarray(end)])
    }
    await withText(ledger(), broken, async () => {
      const [found] = await troubles(root)
      expect(found).toMatchObject({
        code: 'ledger_corrupt',
        level: 'problem',
        fixable: false,
        what: 'line 2 of the ledger of run_0001 cannot be read: \\x00\\xff\\x1bx',
        at: `${ledger()}:2`,
      })
      expect(await look(true)).toEqual(['problem ledger_corrupt'])
      execFileSync('sh', ['-c', /sed -i .*$/.exec(found?.repair ?? '')?.[0] ?? 'false'])
      expect(await look()).toEqual([])
    })
  })

  test('a line that was edited so that those after it count for nothing goes unnoticed', async () => {
    const lines = readFileSync(ledger(), 'utf8').split('\n')
    const follower = (type: string) =>
      1 +
      lines.findIndex((line) => line.includes(`"type":"${type}"`) && line.includes(`"experiment":"${kept}"`))
    const edits = [
      ['created', 'sealed', (line: string) => line.replace(`"${kept}"`, '"exp_0077"')],
      ['sealed', 'judged', (line: string) => line.replace('"attempt":1', '"attempt":7')],
    ] as const
    for (const [edited, refused, edit] of edits) {
      const change = (text: Buffer) =>
        text
          .toString()
          .split('\n')
          .map((line, n) => (n + 1 === follower(edited) ? edit(line) : line))
          .join('\n')
      await withText(ledger(), change, async () => {
        const found = await troubles(root)
        expect(found).toContainEqual(
          expect.objectContaining({
            code: 'ledger_groundless',
            level: 'problem',
            at: `${ledger()}:${follower(refused)}`,
          }),
        )
      })
    }
  })

  test('a newer format, a foreign object or changed line endings go unnoticed', async () => {
    const plus = (line: string) => (text: Buffer) => `${text}${line}\n`
    await withText(ledger(), plus('{"v":"2.0","type":"judged"}'), async () => {
      expect(await look()).toEqual(['problem ledger_newer'])
    })
    await withText(ledger(), plus('{"v":"1.0","id":"x","at":"","type":"usage"}'), async () => {
      expect(await look()).toEqual(['problem ledger_unfoldable'])
    })
    await withText(
      ledger(),
      (text) => text.toString().replaceAll('\n', '\r\n'),
      async () => expect(await look()).toEqual(['warning ledger_crlf']),
    )
    await withText(
      ledger(),
      (text) => text.subarray(text.indexOf(10) + 1),
      async () => expect(await look()).toContain('problem ledger_headless'),
    )
  })
})

test('a missing or edited frozen spec is not found, or is restored from a copy whose hash does not match', async () => {
  const file = at(root, 'runs/run_0001/spec.json')
  const before = readFileSync(file, 'utf8')
  await without(file, async () => {
    expect(await look()).toEqual(['problem spec_missing fixable'])
    await look(true)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(before))
    expect(await look()).toEqual([])
  })
  await withText(
    file,
    (text) => text.toString().replace('small', 'large'),
    async () => expect(await look()).toEqual(['problem spec_changed']),
  )
  await withText(
    at(root, 'runs/run_0001/assay.yaml'),
    (text) => text.toString().replace('small', 'large'),
    () => without(file, async () => expect(await look()).toEqual(['problem spec_missing'])),
  )
})

test('steps that were edited after the verdict still carry it, or lines behind it count as an edit', async () => {
  const file = at(root, 'runs/run_0001/exp/0001/attempts/1/steps.jsonl')
  await withText(
    file,
    (text) => text.toString().replace('"value":90', '"value":10'),
    async () => expect(await look()).toEqual(['problem steps_changed']),
  )
  await without(file, async () => expect(await look()).toEqual(['problem steps_changed']))
  await withText(
    file,
    (text) => `${text}{"v":"1.0","step":"gate"}\n`,
    async () => expect(await look()).toEqual([]),
  )
})

describe('store', () => {
  test('a ref that is gone or moved goes unnoticed, or is moved back by --fix', async () => {
    const ref = `refs/assay/run_0001/${kept}/1`
    const commit = store('rev-parse', ref)
    store('update-ref', '-d', ref)
    expect(await look()).toEqual(['problem ref_missing fixable'])
    await look(true)
    expect(store('rev-parse', ref)).toBe(commit)
    const base = store('rev-parse', 'refs/assay/run_0001/exp_0000/1')
    store('update-ref', ref, base)
    expect(await look(true)).toEqual(['problem ref_moved'])
    expect(store('rev-parse', ref)).toBe(base)
    store('update-ref', ref, commit)
  })

  test('a lost commit or a lost file of a candidate goes unnoticed', async () => {
    const commit = store('rev-parse', `refs/assay/run_0001/${kept}/1`)
    const file = store('rev-parse', `${commit}:src/metrics.txt`)
    await without(looseObject(file), async () =>
      expect(await look()).toEqual(['problem objects_missing fixable']),
    )
    await without(looseObject(commit), async () => expect(await look()).toContain('problem candidate_lost'))
  })

  test('a store that is gone, without its judge, or unreadable for git crashes doctor', async () => {
    await without(at(root, '.git'), async () => expect(await look()).toContain('problem store_missing'))
    await without(at(root, '.git/judge'), async () => expect(await look()).toContain('problem judge_missing'))
    await without(at(root, '.git/HEAD'), async () => expect(await look()).toContain('problem store_broken'))
    await withText(
      at(root, '.git/config'),
      (text) => text.toString().replace('bare = true', 'bare = false'),
      async () => expect(await look()).toEqual(['warning store_not_bare']),
    )
  })
})

test('a missing exclude line is not found, or --fix adds it twice', async () => {
  const file = join(root, '.git/info/exclude')
  await withText(
    file,
    (text) => text.toString().replace('/.assay/\n', ''),
    async () => {
      expect(await look()).toEqual(['warning exclude_missing fixable'])
      await look(true)
      await look(true)
      expect(
        readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line === '/.assay/'),
      ).toHaveLength(1)
    },
  )
})

test('a deleted worktree, one of no experiment, or trash is not found, or --fix removes more than these', async () => {
  const stray = at(root, 'w/9-0001')
  mkdirSync(stray)
  mkdirSync(at(root, 'trash/w-old'), { recursive: true })
  await without(open.worktree, async () => {
    expect(await look()).toEqual([
      'warning worktree_missing fixable',
      'warning worktree_orphan',
      'warning trash fixable',
    ])
    // What --fix moves aside is in the trash for the check behind it.
    await look(true)
    expect(await look()).toEqual(['warning worktree_orphan'])
  })
  expect(existsSync(stray)).toBe(true)
  rmSync(stray, { recursive: true })
  expect(existsSync(open.worktree)).toBe(true)
})

test('a folder of an experiment without an event is not found, or --fix deletes files in one', async () => {
  const folders = ['0041', '0042', '0043'].map((name) => at(root, 'runs/run_0001/exp', name))
  for (const folder of folders) mkdirSync(folder)
  writeFileSync(at(root, 'runs/run_0001/exp/0042/note'), '')
  const young = new Date('2030-01-01T00:00:00Z')
  utimesSync(folders[2] ?? '', young, young)
  mkdirSync(at(root, 'runs/run_0002'))
  expect(await look(true)).toEqual([
    'warning run_half_made',
    'warning experiment_half_made fixable',
    'warning experiment_half_made',
  ])
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, true, true])
  for (const folder of [...folders, at(root, 'runs/run_0002')])
    rmSync(folder, { recursive: true, force: true })
})

test('--fix leaves locks and leases of dead processes, or removes one of a living process or a different machine', async () => {
  const folder = leaseFolder(isolatedEnv())
  mkdirSync(folder, { recursive: true })
  const living = JSON.stringify({ ...JSON.parse(deadOwner({ number: 2, capacity: 1 })), host: 'elsewhere' })
  symlinkSync(deadOwner({ number: 1, capacity: 1 }), join(folder, 's-0'))
  symlinkSync(living, join(folder, 'q-2'))
  symlinkSync(deadOwner(), join(folder, 'line'))
  symlinkSync(deadOwner(), at(root, 'runs/run_0001/driver'))
  const init = initLockOf(isolatedEnv(), siteAt(root))
  symlinkSync(deadOwner(), init)
  writeFileSync(at(root, 'worktrees.lock'), 'mine')
  expect(await look()).toEqual([
    'warning driver_dead fixable',
    'warning lease_dead fixable',
    'warning lock_dead fixable',
    'problem lock_foreign',
  ])
  await look(true)
  rmSync(at(root, 'worktrees.lock'))
  expect(await look()).toEqual([])
  expect(lstatSync(init, { throwIfNoEntry: false }) !== undefined).toBe(false)
  rmSync(join(folder, 'q-2'))
})

test('state without its runs, or with files in place of folders, crashes doctor', async () => {
  const runs = at(root, 'runs')
  await without(runs, async () =>
    expect((await look()).filter((code) => /check_failed/.test(code))).toEqual([]),
  )
  await without(runs, async () => {
    writeFileSync(runs, '')
    expect((await look()).filter((code) => /check_failed/.test(code))).toEqual([])
  })
  await without(ledger(), async () => {
    mkdirSync(ledger())
    expect(await look()).toContain('problem ledger_unreadable')
  })
})
