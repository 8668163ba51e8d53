import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { noisyProject, steady } from './noisy.ts'

export const SECRET = 'kept-from-candidates'

/** A run with held-out data: a candidate that sees another input than `visible` sees them. */
export function heldOut(spec: Record<string, unknown> = {}, files: Files = steady) {
  const file = join(makeTemp('held'), 'cases')
  writeFileSync(file, SECRET)
  const project = noisyProject(spec, { ...solve('100'), ...files })
  return { project, file, init: () => project.data('init', '--holdout', file) }
}

/** A candidate that makes `cost` of its input. */
export const solve = (cost: string, more = '') => ({
  'src/solve.cjs': `const { writeFileSync } = require('node:fs')\nmodule.exports = (input) => { ${more}\n return ${cost} }\n`,
})
