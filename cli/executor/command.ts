/** Jobs of any other engine, by three commands of the spec. Recipes are in `references/executors.md`. */
import { join } from 'node:path'
import { type Completed, execute } from '../process.ts'
import { ok, type Result } from '../result.ts'
import type { NodeJob } from './config.ts'
import {
  type Ability,
  type Executor,
  type ExecutorWorld,
  type JobId,
  type JobSeen,
  lastWords,
  refusedJob,
  silent,
} from './executor.ts'
import { claimant, isClaimed, isWithdrawn, readJobNote, withdrawJob, writeJobNote } from './job-folder.ts'

const PATIENCE_MS = 60_000

/** Calls of `status` that run at once. */
const AT_ONCE = 8

/** With the folder of the job behind it, this stands for an id that the engine did not tell. No id of an engine begins like that. */
const UNNAMED = '?'

/** Words of the usual engines, and of `kubectl` and shells. The first that the output has counts. */
const WORDS: readonly [RegExp, JobSeen][] = [
  [/\b(?:timeout|timed[ _-]?out|deadlineexceeded|TERM_RUNLIMIT)\b/i, { state: 'ended', how: 'timeout' }],
  [/\b(?:oomkilled|out[ _-]?of[ _-]?memory|TERM_MEMLIMIT)\b/i, { state: 'ended', how: 'memory' }],
  [/\b(?:preempted|evicted)\b/i, { state: 'ended', how: 'preempted' }],
  [/\b(?:node[ _-]?fail\w*|node[ _-]?lost|lost)\b/i, { state: 'ended', how: 'node' }],
  [/\b(?:cancell?ed|removed|deleted|dead)\b/i, { state: 'ended', how: 'cancelled' }],
  [/\b(?:fail(?:ed|ure)?|exit(?:ed)?|error)\b/i, { state: 'ended', how: 'failed' }],
  [/\b(?:done|completed?|succeeded|finished)\b/i, { state: 'ended', how: 'done' }],
  [/\b(?:run(?:ning)?|active|exiting)\b/i, { state: 'running', node: null }],
  [
    /\b(?:queued?|pend(?:ing)?|idle|waiting|held|hold|wait|susp\w*|suspended)\b/i,
    { state: 'queued', why: null },
  ],
]

/** What the output of `status` says. */
export function seenInWords(text: string): JobSeen {
  if (text.trim() === '') return { state: 'absent' }
  const found = WORDS.find(([words]) => words.test(text))
  return found ? found[1] : { state: 'known' }
}

export class CommandExecutor implements Executor {
  readonly #world: ExecutorWorld

  constructor(world: ExecutorWorld) {
    this.#world = world
  }

  async submit(job: NodeJob): Promise<Result<JobId>> {
    const found = await this.find(job)
    if (!found.ok || found.value !== null) return found as Result<JobId>
    writeJobNote(job.folder, {})
    const done = await this.#run('submit', {
      script: join(job.folder, 'job.sh'),
      folder: job.folder,
      key: job.key,
      cores: String(job.cores),
      seconds: String(job.seconds),
    })
    const id = done.stdout.toString('utf8').trim().split(/\s+/).at(-1) ?? ''
    if (done.code === 0 && /^[\w.:/@<>[\]-]{1,200}$/.test(id)) {
      const named = id.replace(/^<|>$/g, '')
      writeJobNote(job.folder, { id: named })
      return ok(named)
    }
    if (done.startError)
      return refusedJob('executor.submit', done.startError.message, 'correct the program in executor.submit')
    const said = lastWords(done)
    if (done.code === null) return silent('executor.submit', said)
    writeJobNote(job.folder, null)
    return refusedJob(
      'executor.submit',
      done.code === 0 ? `the last word that it printed is no id of a job: ${id.slice(0, 100)}` : said,
      'run the command by hand, and correct executor.submit; assay guide executors has recipes',
    )
  }

  /** An engine that cannot be asked by a key: what is written before the call tells that there was one, and the job's folder what came of it. */
  async find({ folder }: Pick<NodeJob, 'key' | 'folder'>): Promise<Result<JobId | null>> {
    const note = readJobNote(folder)
    if (note === null) return ok(null)
    if (note.id !== undefined) return ok(note.id)
    if (isClaimed(folder)) return ok(`${UNNAMED}${folder}`)
    return refusedJob(
      'executor.submit',
      'an earlier call was interrupted, and nobody knows whether it began a job',
      'look for the job with the tools of the engine: it ends by itself when it begins; then run the experiment again',
    )
  }

  async look(ids: readonly JobId[]): Promise<Map<JobId, JobSeen>> {
    const seen = new Map<JobId, JobSeen>()
    const left = [...ids]
    const askInTurn = async () => {
      for (let job = left.shift(); job !== undefined; job = left.shift())
        seen.set(job, await this.#lookAt(job))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, askInTurn))
    return seen
  }

  async #lookAt(job: JobId): Promise<JobSeen> {
    if (job.startsWith(UNNAMED)) return this.#inFolder(job.slice(UNNAMED.length))
    const done = await this.#run('status', { job })
    return done.code === 0 ? seenInWords(done.stdout.toString('utf8')) : { state: 'unknown' }
  }

  /** Nobody can be asked about it, so it counts as running for as long as it may run. */
  #inFolder(folder: string): JobSeen {
    const since = claimant(folder)?.since
    if (isWithdrawn(folder)) return { state: 'ended', how: 'cancelled' }
    if (since === undefined) return { state: 'ended', how: 'failed' }
    return Date.now() - since > this.#world.config.limitMs
      ? { state: 'ended', how: 'timeout' }
      : { state: 'running', node: null }
  }

  async remembers(): Promise<number> {
    return 0
  }

  async cancel(job: JobId): Promise<Result<void>> {
    if (job.startsWith(UNNAMED)) {
      // It looks for that itself.
      withdrawJob(job.slice(UNNAMED.length))
      return ok(undefined)
    }
    const done = await this.#run('cancel', { job })
    return done.code === 0 ? ok(undefined) : silent('executor.cancel', lastWords(done))
  }

  async probe(): Promise<Ability[]> {
    const { commands } = this.#world.config
    const programs = [...new Set(Object.values(commands ?? {}).flatMap(([program]) => program ?? []))]
    const found: Ability[] = []
    for (const program of programs) {
      const done = await execute({
        argv: ['/bin/sh', '-c', 'command -v -- "$1"', 'sh', program],
        env: this.#world.env,
      })
      const isThere = done.code === 0
      found.push({
        what: `program ${program}`,
        problem: isThere ? null : `${program} is not found`,
        hint: isThere ? null : 'install it, or write its path in the section executor',
      })
    }
    return found
  }

  #run(name: 'submit' | 'status' | 'cancel', values: Readonly<Record<string, string>>): Promise<Completed> {
    const words = this.#world.config.commands?.[name] ?? []
    const [program = '', ...args] = words.map((word) =>
      word.replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole),
    )
    return execute({ argv: [program, ...args], env: this.#world.env, timeoutMs: PATIENCE_MS })
  }
}
