import { fileURLToPath } from 'node:url'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'
import { build } from '../../scripts/build.mjs'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Why the CLI under test could not be built, null when it could. */
    buildProblem: string | null
  }
}

/**
 * Builds the CLI once before the tests. A build that fails does not stop tests of single modules; every test that
 * starts the CLI through the rig then fails with this reason instead of testing yesterday's build.
 */
export default async function setup(project: TestProject): Promise<void> {
  let problem: string | null = null
  try {
    await build({ root: fileURLToPath(new URL('../..', import.meta.url)) })
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error)
  }
  project.provide('buildProblem', problem)
}
