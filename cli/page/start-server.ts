/** Starts `assay serve` as a process of its own for `loop --serve`: the page must outlive the loop. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pageRecord } from '../paths.ts'
import { startDetached } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { addressOf, lastServed } from './record.ts'

const LOOK_MS = 50
const STARTING_MS = 20_000

/** The address of the page; starts its server if no process serves this repository. Problem: `not_served`. */
export async function ensurePageServer({ env, site, signal }: OpenRun): Promise<Result<string>> {
  const before = lastServed(env, site)
  if (before?.alive) return ok(addressOf(before))
  const record = pageRecord(env, site)
  mkdirSync(dirname(record), { recursive: true })
  const log = record.replace(/\.json$/, '.log')
  const child = startDetached({
    argv: [process.execPath, process.argv[1] ?? '', 'serve', '--quiet'],
    cwd: site.root,
    env,
    logFile: log,
  })
  const deadline = performance.now() + STARTING_MS
  while (performance.now() < deadline && !child.exited() && !signal.aborted) {
    const now = lastServed(env, site)
    if (now?.alive) return ok(addressOf(now))
    await pause(LOOK_MS)
  }
  return fail({
    kind: 'failed',
    code: 'not_served',
    message: 'the page of the loop could not be served',
    hint: 'read its log, or serve the page in a process of its own: assay serve',
    at: log,
  })
}
