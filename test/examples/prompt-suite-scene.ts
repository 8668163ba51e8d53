/** The example `prompt-suite` in a repository of its own. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Scene, sceneOf } from '../e2e/loop-scene.ts'
import { repoAt } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/prompt-suite', import.meta.url))

/** `more`: lines at the end of its spec. */
export function promptSuite(more: string): Scene {
  const folder = join(makeTemp('prompts'), 'project')
  cpSync(EXAMPLE, folder, { recursive: true })
  const spec = join(folder, 'assay.yaml')
  writeFileSync(spec, `${readFileSync(spec, 'utf8')}${more}`)
  const repo = repoAt(folder)
  repo.git('init', '--quiet', '--initial-branch=main')
  repo.git('config', 'user.name', 'Rig')
  repo.git('config', 'user.email', 'rig@example.invalid')
  repo.commit('first')
  return sceneOf(repo)
}
