import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTemp } from './temp.ts'

const PRELOAD = fileURLToPath(new URL('./wall-preload.cjs', import.meta.url))

export interface Wall {
  /** With it, the CLI measures the wall time that samples say, whatever else the machine does. */
  env: Record<string, string>
  /** For `sh`, as a part of the benchmark: it took so many milliseconds, which may be an expression. */
  takes: (ms: string) => string
}

export function steadyWall(): Wall {
  const file = join(makeTemp('wall'), 'ms')
  writeFileSync(file, '0')
  return {
    env: { NODE_OPTIONS: `--require ${PRELOAD}`, WALL_FILE: file },
    // The CLI may read at any moment.
    takes: (ms) => `echo $(($(cat '${file}') + ${ms})) > '${file}.new' && mv '${file}.new' '${file}'`,
  }
}
