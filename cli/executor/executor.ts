/**
 * An engine that runs jobs, as the submitting machine sees it. The state that an engine tells is a hint: only the result in
 * the folder of a job says what came of it.
 */
import { fail, type Problem, type Result } from '../result.ts'
import type { ExecutorConfig, NodeJob } from './config.ts'

/** What the engine calls a job. */
export type JobId = string

export type HowEnded = 'done' | 'failed' | 'timeout' | 'cancelled' | 'node' | 'memory' | 'preempted'

export type JobSeen =
  | { state: 'queued'; why: string | null }
  | { state: 'running'; node: string | null }
  | { state: 'ended'; how: HowEnded }
  /** The engine knows the job, and what it says of it is no known word. */
  | { state: 'known' }
  /** The engine answered, and knows no such job. */
  | { state: 'absent' }
  /** It did not answer. This says nothing about the job. */
  | { state: 'unknown' }

/** One thing that `doctor` looks at. */
export interface Ability {
  what: string
  /** null = nothing is wrong. */
  problem: string | null
  /** What to do about it. */
  hint: string | null
}

export interface Executor {
  /** Looks whether jobs can be submitted as configured, and whether a free node sees the folder. Measures nothing. */
  probe(folder: string): Promise<Ability[]>
  /**
   * Makes the job, or finds the one with this key that an earlier call made. Problem `executor_silent` when the engine did
   * not answer, so that nobody knows: the call may be repeated. Any other problem is a refusal.
   */
  submit(job: NodeJob): Promise<Result<JobId>>
  /** The job that an earlier call of `submit` made; null when none did. Problems as of `submit`. */
  find(job: Pick<NodeJob, 'key' | 'folder'>): Promise<Result<JobId | null>>
  /** One question for all of them, where the engine can answer that. */
  look(ids: readonly JobId[]): Promise<Map<JobId, JobSeen>>
  /**
   * Milliseconds for which the engine surely knows each job from its submission on, whether it has ended or not. That it knows no
   * younger one says nothing about it.
   */
  remembers(): Promise<number>
  /** Asks for the end of the job; `look` tells when it has come. */
  cancel(id: JobId): Promise<Result<void>>
}

/** What an implementation needs of the world. */
export interface ExecutorWorld {
  env: NodeJS.ProcessEnv
  config: ExecutorConfig
}

export const SILENT = 'executor_silent'

export const silent = (what: string, said: string): { ok: false; problem: Problem } =>
  fail({
    kind: 'failed',
    code: SILENT,
    message: `${what} gave no answer${said === '' ? '' : `: ${said}`}`,
    hint: 'a job that it may have begun goes on; repeat the command when the engine answers again',
  })

export const refusedJob = (what: string, said: string, hint: string): { ok: false; problem: Problem } =>
  fail({
    kind: 'refused',
    code: 'executor_refused',
    message: `${what} refused the job${said === '' ? '' : `: ${said}`}`,
    hint,
  })

/** The last lines of what a command said, for a message. */
export const lastWords = ({ stdout, stderr }: { stdout: Buffer; stderr: Buffer }): string =>
  `${stderr.toString('utf8').trim() || stdout.toString('utf8').trim()}`
    .split('\n')
    .slice(-3)
    .join('; ')
    .slice(0, 400)
