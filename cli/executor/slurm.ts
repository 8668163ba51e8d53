/** Jobs of a Slurm cluster (22.05 and newer), with or without its accounting database. */
import { join } from 'node:path'
import { type Completed, execute } from '../process.ts'
import { ok, type Result } from '../result.ts'
import type { NodeJob } from './config.ts'
import {
  type Ability,
  type Executor,
  type ExecutorWorld,
  type HowEnded,
  type JobId,
  type JobSeen,
  lastWords,
  refusedJob,
  silent,
} from './executor.ts'

/** A controller that is down makes the commands fail after 9 s; a busy one may take longer to answer. */
const PATIENCE_MS = 60_000

/** Of Slurm itself, where the cluster sets no other. */
const MIN_JOB_AGE_MS = 300_000

/** How long `doctor` waits for a node, and by how much clocks may differ. */
const FREE_NODE_S = 10
const MOST_SKEW_S = 30

/** What the commands print when nobody answered, so that nothing is known. */
const UNREACHABLE =
  /unable to contact slurm|slurm_persist_conn|socket timed out|connection (?:refused|timed out|reset)|zero bytes were transmitted|communication (?:connection )?failure|transport endpoint|insane message length|temporarily (?:unable|unavailable)|slurm backup controller in standby|no route to host|configuration source|too many (?:open|incoming)/i

const ENDED: Readonly<Record<string, HowEnded>> = {
  COMPLETED: 'done',
  FAILED: 'failed',
  TIMEOUT: 'timeout',
  DEADLINE: 'timeout',
  CANCELLED: 'cancelled',
  REVOKED: 'cancelled',
  NODE_FAIL: 'node',
  BOOT_FAIL: 'node',
  LAUNCH_FAILED: 'node',
  OUT_OF_MEMORY: 'memory',
  PREEMPTED: 'preempted',
}
const QUEUED = [
  ...['PENDING', 'CONFIGURING', 'REQUEUED', 'REQUEUE_FED', 'REQUEUE_HOLD', 'RESV_DEL_HOLD'],
  ...['SPECIAL_EXIT', 'RESIZING', 'STOPPED', 'SUSPENDED', 'POWER_UP_NODE'],
]
const RUNNING = ['RUNNING', 'COMPLETING', 'STAGE_OUT', 'SIGNALING', 'RECONFIG_FAIL', 'UPDATE_DB']

/** `word` as any of the commands prints it: `CANCELLED by 1000`, `RUNNING+`. */
export function seenInSlurm(word: string, node: string | null, why: string | null): JobSeen {
  const [name = ''] = word.trim().split(/[\s+]/)
  const how = ENDED[name]
  if (how !== undefined) return { state: 'ended', how }
  const at = node === null || /^(?:\(null\)|None assigned|n\/a|)$/i.test(node.trim()) ? null : node.trim()
  if (RUNNING.includes(name)) return { state: 'running', node: at }
  if (QUEUED.includes(name))
    return { state: 'queued', why: why === null || why === '' || why === 'None' ? null : why }
  return { state: 'unknown' }
}

export class Slurm implements Executor {
  readonly #world: ExecutorWorld
  /** null = not asked yet. */
  #accounting: boolean | null = null
  #remembers: number | null = null

  constructor(world: ExecutorWorld) {
    this.#world = world
  }

  async submit(job: NodeJob): Promise<Result<JobId>> {
    // The answer of an earlier call may have been lost: the name finds its job.
    const found = await this.find(job)
    if (!found.ok || found.value !== null) return found as Result<JobId>
    const done = await this.#run(['sbatch', ...this.#flags(job), join(job.folder, 'job.sh')])
    const id = done.stdout
      .toString('utf8')
      .trim()
      .split('\n')
      .findLast((line) => /^\d+/.test(line))
    if (done.code === 0 && id !== undefined) return ok(/^\d+/.exec(id)?.[0] ?? '')
    const said = lastWords(done)
    if (done.startError)
      return refusedJob('sbatch', 'it is not installed here', 'run Assay where sbatch works')
    if (done.code === 0 || done.code === null || UNREACHABLE.test(said)) return silent('sbatch', said)
    return refusedJob('Slurm', said, hintFor(said))
  }

  async find({ key }: Pick<NodeJob, 'key'>): Promise<Result<JobId | null>> {
    const done = await this.#run(['squeue', '-h', '-t', 'all', '--name', key, '-o', '%i %j'])
    if (done.startError)
      return refusedJob('squeue', 'it is not installed here', 'run Assay where squeue works')
    if (done.code !== 0) return silent('squeue', lastWords(done))
    const [first] = done.stdout.toString('utf8').matchAll(/^(\d+)\S* (\S+)$/gm)
    if (first) return ok(first[1] ?? null)
    if (!(await this.#counts())) return ok(null)
    const before = await this.#run(['sacct', '-X', '-n', '-P', '-S', SINCE, '-o', 'JobIDRaw', '--name', key])
    return ok(before.code === 0 ? (/^\d+/m.exec(before.stdout.toString('utf8'))?.[0] ?? null) : null)
  }

  #flags({ key, folder, cores, seconds }: NodeJob): string[] {
    const { partition, constraint, options } = this.#world.config
    return [
      ...['--parsable', '--no-requeue', '--export=NONE', '--nodes=1', '--ntasks=1', '--open-mode=append'],
      ...(cores === 'node' ? ['--exclusive'] : [`--cpus-per-task=${cores}`]),
      `--time=${Math.max(1, Math.ceil(seconds / 60))}`,
      `--output=${join(folder, 'job.out')}`,
      `--job-name=${key}`,
      `--comment=${key}`,
      `--chdir=${folder}`,
      ...(partition === null ? [] : [`--partition=${partition}`]),
      ...(constraint === null ? [] : [`--constraint=${constraint}`]),
      ...options,
    ]
  }

  async look(ids: readonly JobId[]): Promise<Map<JobId, JobSeen>> {
    const seen = new Map<JobId, JobSeen>(ids.map((id) => [id, { state: 'unknown' }]))
    if (ids.length === 0) return seen
    const left = () => ids.filter((id) => seen.get(id)?.state === 'unknown')
    const note = (id: string, found: JobSeen) => {
      if (seen.has(id) && found.state !== 'unknown') seen.set(id, found)
    }
    if (await this.#counts()) {
      const fields = ['-X', '-n', '-P', '-S', SINCE, '-o', 'JobIDRaw,State,NodeList', '-j', ids.join(',')]
      const told = await this.#run(['sacct', ...fields])
      if (told.code === 0)
        for (const [id = '', state = '', node = ''] of rows(told)) note(id, seenInSlurm(state, node, null))
    }
    if (left().length > 0) {
      const told = await this.#run(['squeue', '-h', '-t', 'all', '-o', '%i|%T|%N|%r', '--me'])
      if (told.code === 0)
        for (const [id = '', state = '', node = '', why = ''] of rows(told))
          note(id, seenInSlurm(state, node, why))
    }
    // A listing without a job proves nothing: it may be one second old, or the job is of a different partition.
    for (const id of left()) {
      const told = await this.#run(['scontrol', 'show', 'job', '-o', id])
      const text = told.stdout.toString('utf8')
      const value = (name: string) => new RegExp(`(?:^|\\s)${name}=(\\S*)`).exec(text)?.[1] ?? null
      if (told.code === 0) note(id, seenInSlurm(value('JobState') ?? '', value('NodeList'), value('Reason')))
      else if (/invalid job id/i.test(lastWords(told))) note(id, { state: 'absent' })
    }
    return seen
  }

  /** The controller forgets a job only so long after its end. */
  async remembers(): Promise<number> {
    if (this.#remembers === null) {
      const told = await this.#run(['scontrol', 'show', 'config'])
      const [, seconds] = /^MinJobAge\s*=\s*(\d+)/m.exec(told.stdout.toString('utf8')) ?? []
      if (told.code !== 0 || seconds === undefined) return MIN_JOB_AGE_MS
      this.#remembers = Number(seconds) * 1000
    }
    return this.#remembers
  }

  async cancel(id: JobId): Promise<Result<void>> {
    const done = await this.#run(['scancel', id])
    const said = lastWords(done)
    if (done.code === 0 || /invalid job id|already (?:completing|completed)/i.test(said)) return ok(undefined)
    return silent('scancel', said)
  }

  async probe(folder: string): Promise<Ability[]> {
    const found: Ability[] = []
    const fine = (what: string) => found.push({ what, problem: null, hint: null })
    const bad = (what: string, problem: string, hint: string) => found.push({ what, problem, hint })
    const version = await this.#run(['sbatch', '--version'])
    if (version.code !== 0) {
      bad(
        'commands',
        'sbatch does not work here',
        'install the Slurm commands, or run Assay on a machine that submits jobs',
      )
      return found
    }
    fine(version.stdout.toString('utf8').trim())
    const { partition, constraint, cores } = this.#world.config
    const where = partition === null ? [] : ['-p', partition]
    const nodes = await this.#run(['sinfo', '-h', ...where, '-o', '%P|%D|%f|%c|%m'])
    if (nodes.code !== 0) {
      bad(
        'controller',
        `the controller does not answer: ${lastWords(nodes)}`,
        'ask the administrators of the cluster, or try again later',
      )
      return found
    }
    const kinds = rows(nodes)
    if (kinds.length === 0)
      bad(
        'partition',
        `there is no partition ${partition ?? ''}`,
        'correct executor.partition; sinfo lists the partitions',
      )
    else if (
      kinds.length > 1 &&
      constraint === null &&
      !this.#world.config.options.some((one) => /^(?:--constraint|-C)/.test(one))
    )
      bad(
        'nodes',
        `the nodes differ: ${kinds.map(([, count, features, cpus, memory]) => `${count} with ${cpus} processors, ${memory} MB, ${features}`).join('; ')}`,
        'name a feature of the nodes that are to measure in executor.constraint',
      )
    else
      fine(
        `partition: ${kinds.map(([name, count, , cpus]) => `${name} has ${count} nodes with ${cpus} processors`).join('; ')}`,
      )
    const flags = this.#flags({ key: 'assay-probe', folder: '/tmp', cores, seconds: 60 })
    const tried = await this.#run(
      ['sbatch', '--test-only', ...flags.filter((one) => one !== '--parsable')],
      '#!/bin/sh\n',
    )
    const said = lastWords(tried)
    if (tried.code === 0) fine('the partition accepts the options')
    else bad('options', `sbatch refuses a job with these options: ${said}`, hintFor(said))
    if (found.every(({ problem }) => problem === null)) found.push(await this.#fromNode(folder))
    fine(
      (await this.#counts())
        ? 'accounting: sacct answers'
        : 'accounting: none, so squeue and scontrol are asked',
    )
    return found
  }

  /** A command of a moment on a node, if one is free. */
  async #fromNode(folder: string): Promise<Ability> {
    const { partition, constraint, options } = this.#world.config
    const flags = [
      ...[
        '--nodes=1',
        '--ntasks=1',
        '--time=1',
        `--immediate=${FREE_NODE_S}`,
        '--quiet',
        '--job-name=assay-probe',
      ],
      ...(partition === null ? [] : [`--partition=${partition}`]),
      ...(constraint === null ? [] : [`--constraint=${constraint}`]),
      ...options,
    ]
    const ask = 'echo "$SLURMD_NODENAME $(date +%s)"; test -d "$1" && echo seen'
    const done = await this.#run(['srun', ...flags, '--chdir=/', '/bin/sh', '-c', ask, 'sh', folder])
    const now = Date.now() / 1000
    const [, node, at] = /^(\S+) (\d+)$/m.exec(done.stdout.toString('utf8')) ?? []
    if (node === undefined)
      return { what: `no node was free to look from: ${lastWords(done)}`, problem: null, hint: null }
    if (!/^seen$/m.test(done.stdout.toString('utf8')))
      return {
        what: 'folder',
        problem: `${node} does not see ${folder}`,
        hint: 'write executor.folder: a folder of a file system that the nodes share',
      }
    const skew = Math.round(Math.abs(now - Number(at)))
    if (skew > MOST_SKEW_S)
      return {
        what: 'clock',
        problem: `the clock of ${node} differs by ${skew} s from that of this machine`,
        hint: 'ask the administrators of the cluster to set the clocks; times in records are those of the nodes',
      }
    return {
      what: `${node} sees the folder of the run, and its clock differs by ${skew} s`,
      problem: null,
      hint: null,
    }
  }

  /** Whether the cluster has an accounting database: without one, `sacct` fails. */
  async #counts(): Promise<boolean> {
    if (this.#accounting !== null) return this.#accounting
    const done = await this.#run(['sacct', '-X', '-n', '-P', '-o', 'JobIDRaw', '-S', 'now'])
    if (done.code === 0) this.#accounting = true
    else if (done.startError || /disabled/i.test(lastWords(done))) this.#accounting = false
    return this.#accounting ?? false
  }

  #run(argv: [string, ...string[]], input?: string): Promise<Completed> {
    const { env } = this.#world
    return execute({ argv, env, timeoutMs: PATIENCE_MS, ...(input === undefined ? {} : { input }) })
  }
}

/** From when on sacct searches. By default it does not find jobs from before midnight. */
const SINCE = 'now-1days'

const rows = ({ stdout }: Completed): string[][] =>
  stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.split('|').map((field) => field.trim()))

/** Which key of the spec a refusal speaks of. */
function hintFor(said: string): string {
  if (/partition/i.test(said)) return 'correct executor.partition; sinfo lists the partitions'
  if (/exclusive|oversubscribe|whole node/i.test(said))
    return 'this cluster does not give whole nodes away: write executor.cores: N in place of exclusive'
  if (/time limit|timelimit/i.test(said)) return 'lower executor.limit; sinfo -o "%P %l" shows the limits'
  if (/feature|constraint/i.test(said)) return 'correct executor.constraint; sinfo -o "%f" lists the features'
  if (/account|qos|association/i.test(said))
    return 'add --account=NAME or --qos=NAME to executor.options; sacctmgr show associations lists them'
  if (/cpu|node count|node configuration|memory/i.test(said))
    return 'lower executor.cores, or correct executor.constraint and executor.options'
  return 'correct the section executor of the spec; assay doctor tries its options'
}
