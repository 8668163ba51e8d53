/** Jobs as processes of this machine: what a cluster does, without one. The slots of the machine still hold among them. */
import { join } from 'node:path'
import { endProcess, identify, isAlive, type ProcessIdentity, startDetached } from '../process.ts'
import { ok, type Result } from '../result.ts'
import type { NodeJob } from './config.ts'
import type { Ability, Executor, ExecutorWorld, JobId, JobSeen } from './executor.ts'
import { claimant, isClaimed, readJobNote, writeJobNote } from './job-folder.ts'

/** As Slurm leaves it to a job between the request and the kill. */
const GRACE_MS = 5000

/** A job is called by its folder: there the process that measures says who it is, also when nobody wrote down what was started. */
export class LocalJobs implements Executor {
  readonly #world: ExecutorWorld

  constructor(world: ExecutorWorld) {
    this.#world = world
  }

  async submit({ key, folder }: NodeJob): Promise<Result<JobId>> {
    const known = await this.find({ key, folder })
    if (!known.ok || known.value !== null) return known as Result<JobId>
    // One that was started before and has not begun yet ends at its claim, or this one does.
    const { pid } = startDetached({
      argv: ['/bin/sh', join(folder, 'job.sh')],
      cwd: folder,
      env: this.#world.env,
      logFile: join(folder, 'job.out'),
    })
    const process = identify(pid)
    writeJobNote(folder, { id: folder, ...(process === null ? {} : { process }) })
    return ok(folder)
  }

  async find({ folder }: Pick<NodeJob, 'key' | 'folder'>): Promise<Result<JobId | null>> {
    return ok(isClaimed(folder) || readJobNote(folder) !== null ? folder : null)
  }

  async look(ids: readonly JobId[]): Promise<Map<JobId, JobSeen>> {
    return new Map(
      ids.map((id): [JobId, JobSeen] => {
        const living = processesOf(id).find(isAlive)
        return [id, living ? { state: 'running', node: living.host } : { state: 'ended', how: 'done' }]
      }),
    )
  }

  async remembers(): Promise<number> {
    return 0
  }

  async cancel(id: JobId): Promise<Result<void>> {
    for (const process of processesOf(id)) await endProcess(process, GRACE_MS)
    return ok(undefined)
  }

  async probe(): Promise<Ability[]> {
    return []
  }
}

/** The one that measures, and the one that was started last. Mostly they are the same. */
const processesOf = (folder: JobId): ProcessIdentity[] =>
  [claimant(folder)?.process, readJobNote(folder)?.process].flatMap((one) => one ?? [])
