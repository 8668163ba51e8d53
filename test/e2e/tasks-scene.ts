/** An agent of the loop: it asks for its task, edits, and answers. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { splitLines } from '../../cli/ledger/append.ts'
import { dataOf } from '../rig/assay.ts'
import type { Project } from './project.ts'
import { brief } from './rounds-scene.ts'

export interface TaskData {
  id: string
  role: string
  lane: number | null
  experiment: string | null
}
export interface NextData {
  round: number | null
  over: string | null
  tasks: TaskData[]
  measuring: string[]
  lanes: number[]
  paused: { why: string; since: string } | null
}
export interface AnswerData {
  repeated?: true
  ignored: string[]
  findings: string[]
  next: Pick<NextData, 'tasks' | 'measuring' | 'round'>
}
export interface Card {
  worktree: string
  artifacts: string
  experiment: string
  findings?: { message: string }[]
  brief: { proposals?: { hypothesis: string }[]; retests?: string[]; repairable?: string[] }
  capsule: { notes: string[] }
  parent_artifacts?: string
  seed_artifact?: string
  repair?: { experiment: string; why: string }
}

export const next = (project: Project, ...flags: string[]) =>
  project.data<NextData>('round', 'next', ...flags)
export const ids = ({ tasks }: { tasks: TaskData[] }) => tasks.map(({ id }) => id)
export const answer = (project: Project, id: string, input: unknown) =>
  project.cli<AnswerData>(['answer', id], {
    input: typeof input === 'string' ? input : JSON.stringify(input),
  })
export const answered = async (project: Project, id: string, input: unknown) =>
  dataOf(await answer(project, id, input))
export async function card(project: Project, id: string): Promise<Card> {
  const { prompt } = await project.data<{ prompt: string }>('task', id)
  return JSON.parse(/```json\n(.*)\n```$/.exec(prompt)?.[1] ?? 'null')
}
/** What an agent that implements does. */
export async function edit(
  project: Project,
  id: string,
  value: number,
  words: unknown = { summary: 'done' },
) {
  const { worktree } = await card(project, id)
  writeFileSync(join(worktree, 'src/metrics.txt'), `METRIC ms=${value}\n`)
  return answered(project, id, words)
}
/** Round 1 with these briefs on the baseline. */
export async function briefed(project: Project, ...objectives: string[]) {
  await next(project)
  return answered(project, 'r1/brief', { briefs: objectives.map((text) => brief('exp_0000', text)) })
}
export const ledger = (project: Project) =>
  splitLines(readFileSync(project.repo.path('.assay/runs/run_0001/ledger.jsonl')), 0).map(
    ({ value }) => value as Record<string, unknown>,
  )
