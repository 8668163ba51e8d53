import { switches, switchProject } from './attribute-scene.ts'
import type { Project } from './project.ts'

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
  best: string
  left: string[]
}

/** Siblings on the baseline, each with one of the switches on, and their ids. The metric is 100 less `gain`. */
export async function siblings(count: number, gain: string): Promise<{ project: Project; ids: string[] }> {
  const project = switchProject(count, gain)
  await project.data('init')
  const ids: string[] = []
  for (let n = 1; n <= count; n++) ids.push((await project.attempt(switches(count, [n]))).experiment)
  return { project, ids }
}
