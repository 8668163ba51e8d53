import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { ASSAY, benchEnv, tinyProject } from './project.mjs'

const FLOOR = 'node /dev/null'
const ROUNDS = 40

/** Milliseconds that a program takes; throws when it does not end with 0. */
function time(args, options) {
  const began = performance.now()
  const ended = spawnSync(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const ms = performance.now() - began
  if (ended.status !== 0) throw new Error(`${args.join(' ')} ended with ${ended.status}: ${ended.stderr}`)
  return ms
}

export const STARTUP = [
  {
    name: 'startup-version',
    floor: FLOOR,
    bar: 1.35,
    rounds: ROUNDS,
    prepare: async () => {
      const options = { cwd: tmpdir(), env: benchEnv(tmpdir()) }
      return { ours: () => time([ASSAY, '--version'], options), floor: () => time(['/dev/null'], options) }
    },
  },
  {
    name: 'startup-status',
    floor: FLOOR,
    bar: 2.0,
    rounds: ROUNDS,
    prepare: async () => {
      const { dir, env, clean } = tinyProject()
      const options = { cwd: dir, env }
      return {
        ours: () => time([ASSAY, 'status'], options),
        floor: () => time(['/dev/null'], options),
        clean,
      }
    },
  },
]
