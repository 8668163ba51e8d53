/** Where attempts are queued, run and ran, for runs whose attempts are measured by jobs. */
import { counted, duration } from '../evaluate/figure.ts'
import { type Attempt, type AttemptJob, queuedMs, type State, withTraits } from '../ledger/state.ts'
import { plain } from '../text.ts'

/** An attempt that has no verdict yet, or a confirmation without a result. */
export interface JobInFlight {
  experiment: string
  attempt: number
  /** What the experiment is compared with, where it is confirmed; absent = the attempt is measured. */
  confirms?: string
  executor: string
  /** What the engine calls it. */
  job: string
  /** null = it is queued, as far as was seen. */
  node: string | null
  /** Of the submission, or of the start. */
  since: string
}

/** What the jobs of a run came to. */
export interface JobsDone {
  jobs: number
  /** Name of a machine → jobs that it ran. */
  nodes: Record<string, number>
  /** Of all together. */
  queued_seconds: number
}

/** In order of creation; empty when none is queued or runs. */
export function jobsInFlight(state: State): JobInFlight[] {
  const running = withTraits(state, ({ status, jobs }) => jobs && status === 'running')
  return [
    ...running.flatMap(({ id, attempts }) => {
      const last = attempts.at(-1)
      const job = last && !last.judged ? last.job : undefined
      return job && last ? { experiment: id, attempt: last.attempt, ...inFlight(job) } : []
    }),
    ...state.confirming.flatMap(({ experiment, attempt, against, job }) =>
      job ? { experiment, attempt, confirms: against, ...inFlight(job) } : [],
    ),
  ]
}

const inFlight = (job: AttemptJob): Pick<JobInFlight, 'executor' | 'job' | 'node' | 'since'> => ({
  executor: job.executor,
  job: job.executor === 'local' ? 'of this machine' : job.id,
  node: job.placed?.node ?? null,
  since: job.placed?.at ?? job.at,
})

/** null when no attempt was measured by a job. */
export function jobsDone(state: State): JobsDone | null {
  const done: JobsDone = { jobs: 0, nodes: {}, queued_seconds: 0 }
  for (const { attempts } of withTraits(state, ({ jobs }) => jobs)) {
    for (const attempt of attempts) {
      if (!attempt.job || !attempt.judged) continue
      for (const job of [attempt.job, attempt.job.first ?? []].flat()) {
        done.jobs++
        const node = job.placed?.node
        if (node !== undefined) done.nodes[node] = (done.nodes[node] ?? 0) + 1
      }
      done.queued_seconds += queuedSeconds(attempt) ?? 0
    }
  }
  return done.jobs === 0 ? null : done
}

/** Of one attempt, rounded; null when it was not measured by a job, or its start was not seen. */
export const queuedSeconds = ({ job }: Attempt): number | null =>
  job?.placed ? Math.round(queuedMs(job) / 1000) : null

export function jobLine({ experiment, confirms, executor, job, node, since }: JobInFlight): string {
  const name = executor === 'local' ? 'a job of this machine' : `${executor} job ${plain(job, 60)}`
  const what = confirms === undefined ? experiment : `${experiment}, confirmed against ${confirms}`
  return node === null
    ? `${what}: ${name}, queued since ${since}`
    : `${what}: ${name}, runs on ${plain(node, 60)} since ${since}`
}

export function jobsText({ nodes, queued_seconds, jobs }: JobsDone): string {
  const each = Object.entries(nodes).map(([node, count]) => `${count} on ${plain(node, 60)}`)
  return `${[counted(jobs, 'job'), ...each].join(', ')}; ${duration(queued_seconds * 1000)} in the queue`
}
