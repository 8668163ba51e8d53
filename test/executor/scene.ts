import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeProject, type Project, type SpecParts } from '../e2e/project.ts'
import type { Files } from '../rig/repo.ts'
import type { Cluster } from '../rig/slurm.ts'
import { makeTemp } from '../rig/temp.ts'

export const SLURM = { kind: 'slurm', partition: 'bench', limit: '5m', jobs: 2 }

/** A project whose attempts are jobs. Its benchmark logs each start, and runs `src/hook.sh`. */
export function projectOnCluster(
  cluster: Pick<Cluster, 'env'>,
  { executor = SLURM, spec = {}, files = {} }: { executor?: object; spec?: SpecParts; files?: Files } = {},
): Project {
  return makeProject({ spec: { executor, ...spec }, files, env: { ...cluster.env } })
}

/** Whose jobs are processes of this machine, with the folders and slots of a node of their own. */
export function projectOnNode({
  spec = {},
  files = {},
}: {
  spec?: SpecParts
  files?: Files
} = {}): Project & {
  env: { TMPDIR: string }
} {
  const env = { TMPDIR: makeTemp('node') }
  const project = makeProject({ spec: { executor: { kind: 'local', jobs: 2 }, ...spec }, files, env })
  return { ...project, env }
}

/** For one without a cluster: a job is a process that the submission waits for, and what `then` does to its folder afterwards. */
export const waitedFor = (then = ''): object => ({
  kind: 'command',
  submit: [
    'sh',
    '-c',
    `sh "$1" > "$2/job.out" 2>&1; cd "$2"\n${then}\necho job-1`,
    'sh',
    '{script}',
    '{folder}',
  ],
  status: ['sh', '-c', 'echo done', 'sh', '{job}'],
  cancel: ['sh', '-c', 'true', 'sh', '{job}'],
})

export interface LedgerLine extends Record<string, unknown> {
  type: string
  at: string
  experiment?: string
}

export function eventsOf(project: Project): LedgerLine[] {
  return readFileSync(project.repo.path('.assay/runs/run_0001/ledger.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

export const typesOf = (project: Project, experiment: string): string[] =>
  eventsOf(project).flatMap((event) => (event.experiment === experiment ? [event.type] : []))

export const jobFolderOf = (project: Project, experiment: string, attempt = 1): string =>
  project.repo.path('.assay/runs/run_0001/exp', experiment.slice(4), 'attempts', String(attempt), 'job')

interface StepLine {
  step: string
  detail?: { context?: { tries: number } }
}

/** The record of an attempt. */
export const stepsOf = (project: Project, experiment: string, attempt = 1): StepLine[] =>
  readFileSync(join(jobFolderOf(project, experiment, attempt), '../steps.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** All text below a folder. */
export function textBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}
