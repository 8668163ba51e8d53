import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { identify } from '../../cli/process.ts'
import { until } from '../rig/until.ts'
import { hook, makeProject, ms, type NewData, type Project, type RunData, writeFiles } from './project.ts'

const STATUSES = ['open', 'running', 'kept', 'rejected', 'failed', 'discarded', 'pruned', 'revoked'] as const
type Status = (typeof STATUSES)[number]

/**
 * What each verb makes of an experiment in each status, through the real CLI. A status means exit 0 and that status
 * afterwards; anything else is the code of a refusal (exit 3) that leaves the status alone. Columns as in STATUSES.
 */
const TABLE = `
            open       running    kept    rejected   failed     discarded    pruned     revoked
  seal      open       is_running is_kept   rejected   failed     is_discarded is_pruned  is_revoked
  run       kept       running    kept    kept       kept       is_discarded is_pruned  is_revoked
  confirm   is_open    is_running kept    is_rejected is_failed is_discarded pruned     is_revoked
  audit     not_judged not_judged kept    rejected   failed     discarded    pruned     revoked
  discard   discarded  is_running is_kept discarded  discarded  discarded    is_pruned  is_revoked
  prune     is_open    is_running pruned  is_rejected is_failed is_discarded pruned     is_revoked
  restore   open       running    kept    rejected   failed     rejected     kept       kept
  new       bad_parent bad_parent kept    bad_parent bad_parent bad_parent   bad_parent bad_parent
  annotate  open       running    kept    rejected   failed     discarded    pruned     revoked
  abort     is_open    failed     is_kept is_rejected is_failed is_discarded is_pruned  is_revoked
`

const [head = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))

const CALLS: Record<string, (id: string, status: Status) => string[]> = {
  seal: (id) => ['seal', id],
  // A second run of what is being judged joins it; only a detached one answers before the verdict.
  run: (id, status) => ['run', id, ...(status === 'running' ? ['--detach'] : [])],
  confirm: (id) => ['confirm', id],
  audit: (id) => ['audit', id],
  discard: (id) => ['discard', id, '--reason', 'r'],
  prune: (id) => ['prune', id, '--reason', 'r'],
  restore: (id) => ['restore', id, '--reason', 'r'],
  new: (id) => ['new', '--parent', id, '-m', 'a child'],
  annotate: (id) => ['annotate', id, 'a remark'],
  abort: (id) => ['abort', id, '--reason', 'r'],
}

let project: Project
let judge: ChildProcess
let ledger = ''
let prepared: Buffer
const ids = {} as Record<Status, string>

/** One run with an experiment in each status, all brought there by the CLI; only the one that runs is claimed by hand. */
beforeAll(async () => {
  project = makeProject()
  await project.data('init')
  ledger = project.repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl')
  const attempt = async (status: Status, files: Parameters<Project['open']>[0], later = {}) => {
    const made = await project.open(files)
    ids[status] = made.experiment
    await project.cli(['run', made.experiment])
    writeFiles(made.worktree, later)
  }
  await attempt('kept', ms(90))
  await attempt('rejected', ms(110), ms(81))
  await attempt('failed', hook('echo broken >&2; exit 3'), { ...ms(82), ...hook('true') })
  await attempt('discarded', ms(111))
  await project.data('discard', ids.discarded, '--reason', 'r')
  await attempt('pruned', ms(91))
  await project.data('prune', ids.pruned, '--reason', 'r')
  const worse = join(project.control, 'worse')
  await attempt('revoked', {
    ...ms(92),
    ...hook(`if [ -f '${worse}' ]; then echo METRIC ms=93 > src/metrics.txt; fi`),
  })
  writeFileSync(worse, '')
  await project.data('confirm', ids.revoked)
  ids.open = (await project.open(ms(83))).experiment
  const running = await project.open(ms(84))
  ids.running = running.experiment
  await project.data('seal', ids.running)
  await claimFor(ids.running)
  // The same content again would be the same seal.
  writeFiles(running.worktree, ms(85))
  prepared = readFileSync(ledger)
  expect((await project.data<{ counts: Record<string, number> }>('status')).counts).toEqual({
    open: 1,
    running: 1,
    kept: 2,
    rejected: 1,
    failed: 1,
    discarded: 1,
    pruned: 1,
    revoked: 1,
  })
})
afterAll(() => {
  judge?.kill('SIGKILL')
})

/** A process that lives and judges nothing: what another terminal's `assay run` looks like from outside. */
async function claimFor(experiment: string): Promise<void> {
  judge = spawn('sleep', ['1000'], { stdio: 'ignore' })
  await until(() => identify(judge.pid) !== null, { what: 'the process to live' })
  const owner = identify(judge.pid)
  const opened = Ledger.open(ledger)
  if (!opened.ok || !owner) throw new Error('no ledger or no process')
  const draft = { type: 'started' as const, experiment, attempt: 1, owner }
  expect(opened.value.record<'started'>(draft, new Date())).toMatchObject({ ok: true })
}

test('a status or a verb is missing from the table', () => {
  expect(head).toEqual([...STATUSES])
  expect(rows.map(([verb]) => verb).sort()).toEqual(Object.keys(CALLS).sort())
  expect(rows.map((row) => row.length)).toEqual(rows.map(() => 9))
})

describe('a verb does something else than the table says', () => {
  test.each(rows.map(([verb = '', ...cells]) => ({ verb, cells })))('$verb', async ({ verb, cells }) => {
    const found: string[] = []
    for (const [at, status] of STATUSES.entries()) {
      writeFileSync(ledger, prepared)
      const expected = cells[at] ?? ''
      const id = ids[status]
      const ran = await project.cli<Partial<RunData & NewData>>(CALLS[verb]?.(id, status) ?? [], {
        input: '{"findings":[]}',
      })
      const shown = await project.data<{ status: string }>('show', id)
      const refused = !STATUSES.some((one) => one === expected)
      expect([ran.code, verb, status]).toEqual([refused ? 3 : 0, verb, status])
      found.push(ran.json?.ok === false ? ran.json.problem.code : shown.status)
      if (refused) expect([verb, shown.status]).toEqual([verb, status])
      if (ran.json?.ok === false) expect(ran.json.problem.hint ?? '').toMatch(/assay|take/)
    }
    expect(found).toEqual(cells)
  })
})

test('an aborted measurement still runs', async () => {
  await until(() => judge.signalCode !== null, { what: 'the process that was judging to end' })
  expect(judge.signalCode).toBe('SIGTERM')
})
