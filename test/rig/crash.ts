/** Deaths of the CLI at planned moments, and what they may not cost. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTemp } from './temp.ts'

const PRELOAD = fileURLToPath(new URL('./crash-preload.cjs', import.meta.url))

interface Manner {
  /** The line is not there, half there, or there and not yet acknowledged. */
  how: 'before' | 'torn' | 'after'
  /** Who dies: the process at that moment; the command that was started first; or all of them with what they run. */
  who: 'one' | 'root' | 'all'
}

/** At the nth line of a record that the regular expression matches, counted by each process for itself. */
export interface LineDeath extends Manner {
  line: string
  nth?: number
}

/** At the nth moment whose name the regular expression matches, counted by each process for itself. */
export interface NamedDeath extends Manner {
  name: string
  nth?: number
}

/** At a moment by its number, counted over all processes from 1. */
export interface MomentDeath extends Manner {
  moment: number
}

export interface Crash {
  env: Record<string, string>
  /** How many of the planned deaths came. */
  deaths: () => number
  /** Names of the moments that the processes came to, in order. */
  moments: () => string[]
  /** Ids of the lines whose writers knew that they are on disk. */
  acknowledged: () => string[]
}

/** The environment of one command that dies as planned, once or in this order; null: it lives, and its moments are listed. */
export function crash(plan: LineDeath | NamedDeath | MomentDeath[] | null): Crash {
  const folder = makeTemp('crash')
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(Array.isArray(plan) ? { deaths: plan } : plan))
  const lines = (name: string) => {
    const file = join(folder, name)
    return existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== '')
      : []
  }
  return {
    env: { CRASH_FOLDER: folder, NODE_OPTIONS: `--require=${JSON.stringify(PRELOAD)}` },
    deaths: () => readdirSync(folder).filter((name) => name.startsWith('died-')).length,
    moments: () => lines('moments'),
    acknowledged: () => lines('acknowledged'),
  }
}
