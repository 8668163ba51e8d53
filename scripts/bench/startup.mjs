import { tmpdir } from 'node:os'
import { ASSAY, benchEnv, time, tinyProject } from './project.mjs'

const FLOOR = 'node /dev/null'
const ROUNDS = 40

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
