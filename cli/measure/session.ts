/**
 * A measuring session: places candidates, runs jobs and inspects checkouts in a slot, from its lease to its release. Every
 * sample and gate goes through it; callers pass only what is specific to them. After each job it inspects and cleans the
 * checkouts of the slot.
 */
import { join } from 'node:path'
import { runGate } from '../evaluate/gates.ts'
import { type SampleRequest, takeSample } from '../evaluate/measure.ts'
import { redactStored } from '../evaluate/stored.ts'
import { changesBetween, listTree } from '../git/trees.ts'
import type { GateResult, GateRule, Sample, SampleFault, Side } from '../ledger/events.ts'
import { call, next } from '../next.ts'
import { type Site, slotDesk, slotDeskOf } from '../paths.ts'
import { ok, type Problem, type Result } from '../result.ts'
import type { RunRecord } from '../run/open.ts'
import type { FixedSpec } from '../spec/spec.ts'
import { inTurns, type Turn } from '../suite/turns.ts'
import { levelAges, timeOfDisk } from './ages.ts'
import type { ArtifactPlaces } from './artifacts.ts'
import { scopeOfRun } from './data.ts'
import { DiskWatch } from './disk-space.ts'
import { diffStat } from './seal.ts'
import { type CheckoutPlace, type LeasedSlot, type Placed, placeCandidate, type RunInSlot } from './slot.ts'
import { RecordLost } from './steps.ts'
import { ChangedFilesLog, type Occupied, tamperedFiles, unlike } from './tamper.ts'
import { must } from './trial.ts'

// ---------------------------------------------------------------- one job in a checkout of a slot

/** A sample, without the slot in which it is taken. */
export interface SessionQuestion
  extends Pick<
    SampleRequest,
    | 'stage'
    | 'side'
    | 'pair'
    | 'seed'
    | 'items'
    | 'folder'
    | 'reference'
    | 'known'
    | 'scoring'
    | 'ended'
    | 'turn'
    | 'desk'
  > {
  /** Where artifacts are, and what else it sees of them. */
  artifacts?: Artifacts | undefined
  /** Variables in addition to those of the slot. */
  environment?: Readonly<Record<string, string>> | undefined
  /** Used when it is below the limit of the spec. */
  limitMs?: number
  /** No file of the sample may get into the folders of the slot: it writes into `folder` from the beginning. */
  secluded?: boolean
}

type Artifacts = Pick<ArtifactPlaces, 'own' | 'environment'>

/** Metrics that Assay records itself. */
const OWN = new Set(['wall_ms', 'cpu_ms', 'peak_mb', 'source_bytes', 'diff_lines', 'answer_chars'])

export function sampleIn(
  { spec, signal }: Pick<RunInSlot, 'spec' | 'signal'>,
  { site, slot, environment }: LeasedSlot,
  { folder: checkout, apart }: Placed,
  { artifacts, limitMs = Number.POSITIVE_INFINITY, secluded, environment: more, ...asked }: SessionQuestion,
): Promise<Sample> {
  const { measure, metric, tasks } = spec
  return takeSample({
    ...(secluded ? {} : { desk: slotDesk(site, slot) }),
    ...asked,
    config: { ...measure, timeoutMs: Math.min(measure.timeoutMs, limitMs) },
    metric,
    mark: spec.constraints.find(({ metric: name, value }) => typeof value === 'number' && !OWN.has(name))
      ?.metric,
    aggregate: tasks.aggregate,
    checkout,
    slot,
    environment: { ...environment, ...artifacts?.environment, ...more },
    ...(artifacts ? { artifacts: artifacts.own } : {}),
    isolation: apart?.renew(),
    signal,
  })
}

export type GateDone = GateResult & { fault: SampleFault | null }

export const gateIn = (
  { signal }: Pick<RunInSlot, 'signal'>,
  { environment }: LeasedSlot,
  { folder: checkout, apart }: Placed,
  gate: GateRule,
  folder: string,
): Promise<GateDone> => runGate({ gate, checkout, environment, folder, isolation: apart?.renew(), signal })

// ---------------------------------------------------------------- candidates in the checkouts of the slot, and which files their jobs changed

export interface PinnedCandidate {
  experiment: string
  commit: string
  tree: string
}

/** A candidate in a checkout of the slot. */
export interface Seat extends PinnedCandidate, Occupied {
  /** Where what its jobs print goes. */
  outputs: string
  artifacts: Artifacts
  /** See `staticMetrics`. */
  known: Record<string, number>
}

export interface About {
  /** The experiment that is measured. */
  experiment: string
  /** Keeps the list of changed files for a process that resumes the measurement. */
  touches: string
}

/** A sample that a seat is asked for. */
export interface WantedSample {
  seat: Seat
  asked: Asked
}

type Asked = Omit<SessionQuestion, 'artifacts' | 'known' | 'scoring' | 'ended' | 'turn' | 'desk'>

interface TakenSample extends WantedSample {
  disk: DiskWatch
  sample: Sample
}

export interface Tampered {
  paths: string[]
  /** The other experiment, if only its jobs changed these files. null: the measured experiment did it, or nobody was seen. */
  by: string | null
  /** A different slot measured meanwhile and its processes can reach this one, so the culprit is unknown. */
  beside: boolean
}

export class Session {
  readonly leased: LeasedSlot
  readonly #run: RunInSlot
  readonly #experiment: string
  readonly #touches: ChangedFilesLog
  #seats: Seat[] = []
  /** When nothing was placed yet, or when the ages of both sides were made the same last, by the clock of the disk. */
  #levelSince: number | null = null
  /** Whether no gate ran and nothing was placed since. */
  #isLevel = false
  /** Found when a tampered checkout was replaced by a different candidate. */
  readonly #tampered: string[] = []

  constructor(run: RunInSlot, leased: LeasedSlot, { experiment, touches }: About) {
    this.#run = run
    this.leased = leased
    this.#experiment = experiment
    this.#touches = new ChangedFilesLog(leased, scopeOfRun(run), touches)
  }

  /** Brings a candidate to a checkout of the slot, after a last inspection of the candidate that was there. */
  async put(
    candidate: PinnedCandidate,
    place: CheckoutPlace,
    { outputs, artifacts }: Pick<Seat, 'outputs' | 'artifacts'>,
  ): Promise<Result<Seat>> {
    const gone = this.#seats.find((seat) => seat.place === place)
    if (gone) this.#tampered.push(...(await this.#tamperedIn(gone)))
    this.leave(place)
    this.#levelSince ??= timeOfDisk(this.leased)
    this.#isLevel = false
    const placed = await placeCandidate(this.#run, this.leased, place, candidate, { outputs, artifacts })
    if (!placed.ok) return placed
    this.#touches.placedAgain(place)
    const known = await staticMetrics(this.#run, this.leased.site, candidate.tree)
    if (!known.ok) return known
    const { experiment, commit, tree } = candidate
    const seat: Seat = {
      experiment,
      commit,
      tree,
      place,
      placed: placed.value,
      outputs,
      artifacts,
      known: known.value,
    }
    this.#seats.push(seat)
    return ok(seat)
  }

  /** Forgets what the checkout holds. */
  leave(place: CheckoutPlace): void {
    this.#seats = this.#seats.filter((seat) => seat.place !== place)
  }

  async sample(seat: Seat, asked: Asked): Promise<Sample> {
    await this.ready(seat)
    await this.#levelAges()
    return this.#inspected(await this.#take({ seat, asked }), this.#seats)
  }

  /**
   * Both samples of a pair of a suite, task by task: see `inTurns`. While both are at work, nobody can tell which of them
   * changed a file, so each is taken to have changed its own checkout.
   */
  async pair(
    { candidate, parent }: Record<Side, WantedSample>,
    first: (task: number) => Side,
  ): Promise<Record<Side, Sample>> {
    for (const { seat } of [candidate, parent]) await this.ready(seat)
    await this.#levelAges()
    const [own, other] = inTurns((task) => (first(task) === 'candidate' ? 0 : 1))
    const taken = await Promise.all([this.#take(candidate, own), this.#take(parent, other)])
    return {
      candidate: this.#inspected(taken[0], [candidate.seat]),
      parent: this.#inspected(taken[1], [parent.seat]),
    }
  }

  /** Both sides get the same ages before a sample, if something was placed or a gate ran: these happen on one side at a time. */
  async #levelAges(): Promise<void> {
    const [one, other] = this.#seats
    if (this.#isLevel || this.#levelSince === null || !one || !other) return
    // It is made again before its next job.
    if (this.#seats.some(({ place }) => this.#touches.isSpoilt(place))) return
    // `make` would build again what is older than its sources.
    if (this.#run.spec.worktree.build !== null) return
    must(await levelAges(this.leased, [one, other], this.#levelSince))
    this.#levelSince = timeOfDisk(this.leased)
    this.#isLevel = true
  }

  async #take(wanted: WantedSample, turn?: Turn): Promise<TakenSample> {
    const { seat, asked } = wanted
    const { experiment, artifacts, known, place } = seat
    const { site, slot } = this.leased
    const disk = new DiskWatch(site)
    const sample = await sampleIn(this.#run, this.leased, seat.placed, {
      ...asked,
      artifacts,
      known,
      ...(turn && { turn, desk: slotDeskOf(site, slot, place) }),
      scoring: () => this.#touches.glance(experiment, this.#seats),
      ended: disk.ended,
    })
    return { ...wanted, disk, sample }
  }

  /** Attributes a fault to the job or to a full disk: see `DiskWatch`. `seats`: whose checkouts it may have changed. */
  #inspected({ seat, asked, disk, sample }: TakenSample, seats: readonly Seat[]): Sample {
    // What fails gives no value, and may leave a dump.
    this.#touches.look(seat.experiment, seats, { planted: sample.fault === null })
    const fault = disk.blame(sample.fault)
    // There was no space to write the output without its secrets.
    if (fault !== sample.fault) redactStored(join(asked.folder, 'samples'))
    return { ...sample, fault }
  }

  async gate(seat: Seat, gate: GateRule): Promise<GateDone> {
    await this.ready(seat)
    this.#isLevel = false
    const disk = new DiskWatch(this.leased.site)
    const done = await gateIn(this.#run, this.leased, seat.placed, gate, seat.outputs)
    disk.ended()
    // The baseline never ran a gate that was added later, so nobody knows what such a gate makes itself.
    const isOfSpec = this.#run.spec.gates.some(({ name }) => name === gate.name)
    this.#touches.look(seat.experiment, this.#seats, { planted: done.passed && isOfSpec })
    return { ...done, fault: disk.blame(done.fault) }
  }

  /**
   * Files that decide a verdict and that the experiment's jobs changed, even if they restored them, or that are changed in its
   * checkout. Jobs can find both checkouts of their slot.
   */
  async tampered(): Promise<Tampered> {
    const own: string[] = []
    const others: string[] = []
    for (const seat of this.#seats)
      (seat.experiment === this.#experiment ? own : others).push(...(await this.#tamperedIn(seat)))
    const elsewhere = [...this.#tampered, ...others]
    const by = elsewhere.length === 0 ? this.#touches.culprit(this.#experiment, own) : null
    const paths = [...own, ...elsewhere]
    return { paths, by, beside: paths.length > 0 && this.isBeside() }
  }

  /** Whether a different slot that can reach this one measured meanwhile, also before this process resumed the attempt. */
  isBeside = (): boolean => this.#touches.isBeside()

  async #tamperedIn({ experiment, place, tree, placed }: Seat): Promise<string[]> {
    const judged = this.#experiment
    const isOwn = experiment === judged
    const habits = isOwn ? this.#touches.habits(judged) : new Set<string>()
    const touched = unlike(this.#touches.by(judged, experiment), habits)
    const found = this.#touches.isSpoilt(place)
      ? touched
      : must(
          await tamperedFiles({ run: this.#run, leased: this.leased, place, tree, placed, judged, touched }),
        )
    return isOwn ? found : found.map((path) => `${path} in the checkout of ${experiment}`)
  }

  /** Makes a checkout again that the last job made unusable, before a job runs in it. Whether it had to. */
  async ready(seat: Seat): Promise<boolean> {
    if (!this.#touches.isSpoilt(seat.place)) return false
    this.#isLevel = false
    const { place, outputs, artifacts } = seat
    seat.placed = must(await placeCandidate(this.#run, this.leased, place, seat, { outputs, artifacts }))
    this.#touches.placedAgain(place)
    const broken = seat.placed.setup ?? seat.placed.build
    if (broken) throw new RecordLost(notMadeAgain(seat.experiment, broken.message))
    return true
  }
}

const notMadeAgain = (experiment: string, why: string): Problem => ({
  kind: 'failed',
  code: 'checkout_not_made',
  message: `the checkout of ${experiment} had to be made again, and could not be prepared: ${why}`,
  hint: next`run the same command again; ${call('doctor')} looks for the cause`,
})

// ---------------------------------------------------------------- metrics that Assay knows without running the candidate
// Metrics that Assay knows of a candidate without running it; computed only when the spec names them.

/** `source_bytes`: size of the mutable files. `diff_lines`: lines added and removed against the baseline. */
export async function staticMetrics(
  run: Pick<RunRecord, 'spec' | 'started' | 'paths'>,
  site: Site,
  tree: string,
): Promise<Result<Record<string, number>>> {
  const named = metricsNamed(run.spec)
  const known: Record<string, number> = {}
  if (named.has('source_bytes')) {
    const files = await listTree(site, tree)
    if (!files.ok) return files
    const scope = scopeOfRun(run)
    known.source_bytes = files.value.reduce(
      (sum, { path, size }) => (scope(path) === 'mutable' ? sum + (size ?? 0) : sum),
      0,
    )
  }
  if (named.has('diff_lines')) {
    const changes = await changesBetween(site, run.started.base.tree, tree, { asText: true })
    if (!changes.ok) return changes
    const { added, removed } = diffStat(changes.value)
    known.diff_lines = added + removed
  }
  return ok(known)
}

const metricsNamed = (spec: FixedSpec): Set<string> =>
  new Set([
    spec.metric.name,
    ...spec.constraints.map(({ metric }) => metric),
    ...spec.protected.map(({ metric }) => metric),
    ...spec.tie_breakers.map(({ metric }) => metric),
  ])
