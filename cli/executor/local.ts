/** Jobs as processes of this machine: what a cluster does, without one. The slots of the machine still hold among them. */
import { join } from 'node:path'
import { asIdentity, endProcess, identify, isAlive, startDetached } from '../process.ts'
import { ok, type Result } from '../result.ts'
import type { NodeJob } from './config.ts'
import type { Ability, Executor, ExecutorWorld, JobId, JobSeen } from './executor.ts'
import { readJobNote, writeJobNote } from './job-folder.ts'

/** As Slurm leaves it to a job between the request and the kill. */
const GRACE_MS = 5000

export class LocalJobs implements Executor {
  readonly #world: ExecutorWorld

  constructor(world: ExecutorWorld) {
    this.#world = world
  }

  async submit({ folder }: NodeJob): Promise<Result<JobId>> {
    const known = readJobNote(folder)?.id
    if (known !== undefined) return ok(known)
    const { pid } = startDetached({
      argv: ['/bin/sh', join(folder, 'job.sh')],
      cwd: folder,
      env: this.#world.env,
      logFile: join(folder, 'job.out'),
    })
    const identity = identify(pid)
    const id = Buffer.from(JSON.stringify(identity ?? { pid, started: '', host: '' })).toString('base64url')
    writeJobNote(folder, { id })
    return ok(id)
  }

  async look(ids: readonly JobId[]): Promise<Map<JobId, JobSeen>> {
    return new Map(
      ids.map((id): [JobId, JobSeen] => {
        const process = identityIn(id)
        const lives = process !== null && isAlive(process)
        return [id, lives ? { state: 'running', node: process.host } : { state: 'ended', how: 'done' }]
      }),
    )
  }

  async cancel(id: JobId): Promise<Result<void>> {
    const process = identityIn(id)
    if (process !== null) await endProcess(process, GRACE_MS)
    return ok(undefined)
  }

  async probe(): Promise<Ability[]> {
    return []
  }
}

function identityIn(id: JobId) {
  try {
    return asIdentity(JSON.parse(Buffer.from(id, 'base64url').toString('utf8')))
  } catch {
    return null
  }
}
