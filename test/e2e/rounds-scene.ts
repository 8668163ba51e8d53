/** One turn of the loop, as a driver calls it. */
import { dataOf, type Ran } from '../rig/assay.ts'
import { makeProject, ms, type Project, type SpecParts } from './project.ts'

export interface Opened {
  round: number | null
  token: string | null
  stop: string | null
  best: { experiment: string; value: number } | null
  parents: { experiment: string }[]
  width: number
  depth: number
  ideate: { why: string } | null
  repairable: string[]
  retests: string[]
  proposals: { hypothesis: string }[]
  learnings: string[]
  scan: { batches: string[][] }
  repeated?: true
  [key: string]: unknown
}
export interface Briefed {
  lanes: { lane: number; parent: string; experiment: string; brief: { objective: string } }[]
  refused: { index: number; reason: string; message: string }[]
  repeated?: true
}
export interface Closed {
  improved: boolean
  best: { experiment: string; value: number } | null
  stall: number
  stop: string | null
  [key: string]: unknown
}

export async function start(parts: SpecParts = {}): Promise<Project> {
  const project = makeProject({
    spec: {
      noise: { mode: 'deterministic', calibrate: 2 },
      search: { policy: 'argmax', k: 1 },
      loop: { width: 2, depth: 1 },
      ...parts,
    },
  })
  await project.data('init')
  return project
}

export const send = <T>(project: Project, args: string[], input: object): Promise<Ran<T>> =>
  project.cli<T>(args, { input: JSON.stringify(input) })
export const open = (project: Project) => project.data<Opened>('round', 'open')
export const briefs = async (project: Project, token: string | null, list: object[]) =>
  dataOf(await send<Briefed>(project, ['round', 'briefs', '--token', String(token)], { briefs: list }))
export const close = async (project: Project, token: string | null, lanes: object[] = []) =>
  dataOf(await send<Closed>(project, ['round', 'close', '--token', String(token)], { lanes }))
export const brief = (parent: string, objective: string) => ({ parent, kind: 'edit', objective })

/** One turn whose only lane makes candidates with these numbers, all children of the parent. */
export async function turn(project: Project, parent: string, values: number[]): Promise<Closed> {
  const { token } = await open(project)
  await briefs(project, token, [brief(parent, `reach ${values.join(' and ')}`)])
  for (const value of values) await project.attempt(ms(value), parent)
  return close(project, token)
}
