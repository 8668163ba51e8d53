/** A recorded run as a repository, with a clock that stands still a minute after its last event. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTemp } from '../rig/temp.ts'

export const RUNS = fileURLToPath(new URL('./runs/', import.meta.url))
const CLOCK = fileURLToPath(new URL('./clock-preload.cjs', import.meta.url))

export interface Unpacked {
  repo: string
  env: Record<string, string>
}

export function unpack(kind: string): Unpacked {
  const folder = makeTemp('unpacked')
  execFileSync('tar', ['-xzf', join(RUNS, `${kind}.tar.gz`), '-C', folder])
  const repo = join(folder, 'repo')
  return {
    repo,
    env: {
      XDG_STATE_HOME: join(folder, 'state'),
      NODE_OPTIONS: `--require=${JSON.stringify(CLOCK)}`,
      CLOCK_AT: String(lastMoment(repo) + 60_000),
    },
  }
}

/** Of the ledgers, in ms since 1970: time stands still a minute later. */
function lastMoment(repo: string): number {
  const runs = join(repo, '.assay/runs')
  const lines = readdirSync(runs).flatMap((run) => {
    const ledger = join(runs, run, 'ledger.jsonl')
    return existsSync(ledger) ? (readFileSync(ledger, 'utf8').match(/"at":"[^"]+"/g) ?? []) : []
  })
  return Math.max(...lines.map((line) => Date.parse(line.slice(6, -1))))
}
