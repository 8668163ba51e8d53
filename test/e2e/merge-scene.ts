import { switches, switchProject } from './attribute-scene.ts'
import type { Project, SpecParts } from './project.ts'

/** What `merge` answers. */
export interface Merged {
  experiments: string[]
  attempts: {
    experiments: string[]
    experiment: string | null
    status: string
    value: number | null
    message: string
    files?: string[]
  }[]
  best: string | null
  left: string[]
}

/** Lines of sh that wait while the file `hold` lies in a folder, and say in the file `at` that they do. */
export const haltIn = (folder: string): string =>
  `if [ -f '${folder}/hold' ]; then : > '${folder}/at'; while [ -f '${folder}/hold' ]; do sleep 0.05; done; fi`

/**
 * Siblings on the baseline, each with one of the switches on, and their ids. The metric is 100 less `gain`. `first`: what each sample
 * does before it measures. `halts`: a sample waits as in `haltIn`, in the control folder.
 */
export async function siblings(
  count: number,
  gain: string,
  { spec = {}, first = '', halts = false }: { spec?: SpecParts; first?: string; halts?: boolean } = {},
): Promise<{ project: Project; ids: string[] }> {
  const project = switchProject(count, gain, { spec })
  const { control, repo } = project
  const waits = halts ? haltIn(control) : ''
  repo.commit('each sample', { 'src/hook.sh': [waits, first, repo.read('src/hook.sh')].join('\n') })
  await project.data('init')
  const ids: string[] = []
  for (let n = 1; n <= count; n++) ids.push((await project.attempt(switches(count, [n]))).experiment)
  return { project, ids }
}
