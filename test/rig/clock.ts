/** A clock of the CLI under test that the test sets. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTemp } from './temp.ts'

const PRELOAD = fileURLToPath(new URL('./clock-preload.cjs', import.meta.url))

export interface Clock {
  /** The environment of commands that go by it. */
  env: Record<string, string>
  /** For all of them at once, also those that run: minutes ahead of the true time. */
  ahead: (minutes: number) => void
}

export function makeClock(): Clock {
  const file = join(makeTemp('clock'), 'ahead')
  const ahead = (minutes: number) => {
    // Whole or not at all: it is read all the time.
    writeFileSync(`${file}.new`, String(minutes))
    renameSync(`${file}.new`, file)
  }
  ahead(0)
  return { env: { CLOCK_FILE: file, NODE_OPTIONS: `--require=${JSON.stringify(PRELOAD)}` }, ahead }
}
