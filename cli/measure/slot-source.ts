/** The slot as the source of a trial: the candidate lies in one checkout, what it is compared with in the other. */

import { lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeTree } from '../disk/remove.ts'
import { recordable } from '../evaluate/comparable.ts'
import { runGate } from '../evaluate/gates.ts'
import { takeSample } from '../evaluate/measure.ts'
import { redactStored } from '../evaluate/stored.ts'
import type { GateRule, Sample, SampleFault } from '../ledger/events.ts'
import { BASELINE, type Experiment } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { slotArtifacts, slotDesk } from '../paths.ts'
import type { Problem } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { artifactPlaces, changedSince, type Guard, readDeclared } from './artifacts.ts'
import { type Bench, type Place, type Placed, placeCandidate } from './bench.ts'
import { type Chance, chanceOfAttempt } from './chance.ts'
import { knownMetrics } from './known.ts'
import { DiskWatch } from './room.ts'
import { baselineSample, recordedSamples } from './samples.ts'
import type { Seal } from './seal.ts'
import { RecordLost } from './steps.ts'
import { Touches, tamperedFiles } from './tamper.ts'
import { must, type SampleAt, type Secluded, type Source } from './trial.ts'
import { keptCommit } from './worktree.ts'

interface Subject {
  place: Place
  experiment: string
  tree: string
  placed: Placed
  /** See `knownMetrics`. */
  known: Record<string, number>
  artifacts: string
  environment: Record<string, string>
}

export interface InSlot {
  run: OpenRun
  node: Experiment
  seal: Seal
  bench: Bench
  placed: Placed
  known: Record<string, number>
  /** The artifacts as they were before the samples. */
  guard: Guard
  /** Of the attempt. */
  folder: string
}

export class SlotSource implements Source {
  readonly #in: InSlot
  readonly #own: Subject
  readonly #chance: Chance
  #other: Subject | null = null
  /** Found when another one was put in the place of what was tampered with. */
  readonly #tampered: string[] = []
  readonly #touches: Touches

  constructor(slot: InSlot) {
    const { run, node, seal, placed, known, guard } = slot
    const { own: artifacts, environment } = guard.places
    this.#in = slot
    this.#touches = new Touches(slot.bench, join(slot.folder, 'touches.json'))
    this.#chance = chanceOfAttempt(run, node, seal.attempt)
    const place = this.#chance.place('candidate')
    this.#own = { place, experiment: node.id, tree: seal.tree, placed, known, artifacts, environment }
  }

  async place(experiment: string): Promise<SampleFault | null> {
    if (this.#other?.experiment === experiment) return null
    this.#tampered.push(...(await this.#tamperedOther()))
    this.#other = null
    const { run, bench, folder } = this.#in
    const commit = keptCommit(run, experiment)
    const node = run.ledger.state.experiments.get(experiment)
    if (!commit || !node) throw new Error(`${experiment} is compared with, and has no candidate`)
    const { tree } = commit
    const outputs = join(folder, 'other')
    mkdirSync(outputs, { recursive: true })
    const places = artifactPlaces(run, node)
    const made = slotArtifacts(run.site, bench.slot, tree)
    keepOnly(made)
    // What a build makes again must not touch what was judged.
    const own = run.spec.worktree.build === null ? places.own : made
    const environment = { ...places.environment, ASSAY_ARTIFACTS: own }
    const artifacts = { own, environment }
    const place = this.#chance.place('parent')
    const placed = must(await placeCandidate(run, bench, place, commit, { outputs, artifacts }))
    this.#touches.placedAgain(place)
    const broken = placed.setup ?? placed.build
    if (broken) return broken
    const known = must(await knownMetrics(run, tree))
    this.#other = { place, experiment, tree, placed, known, artifacts: own, environment }
    return null
  }

  async sample({ stage, pair, side }: SampleAt, secluded?: Secluded): Promise<Sample> {
    const { run, bench, folder } = this.#in
    const subject = side === 'candidate' ? this.#own : this.#other
    if (!subject) throw new Error('a pair needs something to compare with')
    await this.#ready(subject)
    const disk = new DiskWatch(run.site)
    const sampled = await takeSample({
      config: run.spec.measure,
      metric: run.spec.metric,
      aggregate: run.spec.tasks.aggregate,
      checkout: subject.placed.folder,
      folder: secluded?.folder ?? folder,
      stage,
      side,
      pair,
      seed: this.#chance.seed(stage, pair),
      slot: bench.slot,
      ...(secluded ? {} : { desk: slotDesk(run.site, bench.slot) }),
      environment: { ...bench.environment, ...subject.environment, ...secluded?.environment },
      artifacts: subject.artifacts,
      known: subject.known,
      isolation: subject.placed.apart?.renew(),
      reference: this.#reference(),
      signal: run.signal,
      scoring: () => this.#touches.glance(subject.experiment, this.#seats()),
      ended: disk.ended,
    })
    this.#look(subject)
    const taken = { ...sampled, fault: disk.blame(sampled.fault) }
    // There was no room to take the secrets out.
    if (taken.fault !== sampled.fault) redactStored(join(secluded?.folder ?? folder, 'samples'))
    return secluded ? valueOnly(taken) : recordable(taken)
  }

  /** What `subject` changed is noted and what it left is removed: also in what it is compared with, which it can reach. */
  #look({ experiment }: Subject): void {
    this.#touches.look(experiment, this.#seats())
  }

  #seats = (): Subject[] => (this.#other ? [this.#own, this.#other] : [this.#own])

  /** A checkout that the last sample spoilt is made again before something runs in it. */
  async #ready(subject: Subject): Promise<void> {
    if (!this.#touches.isSpoilt(subject.place)) return
    const { run, bench, folder } = this.#in
    const commit = keptCommit(run, subject.experiment)
    const isOwn = subject === this.#own
    const candidate = isOwn ? this.#in.seal : commit
    if (!candidate) throw new Error(`${subject.experiment} was placed, and has no candidate`)
    const { artifacts: own, environment } = subject
    const how = {
      outputs: isOwn ? folder : join(folder, 'other'),
      artifacts: { own, environment },
    }
    subject.placed = must(await placeCandidate(run, bench, subject.place, candidate, how))
    this.#touches.placedAgain(subject.place)
    const broken = subject.placed.setup ?? subject.placed.build
    if (broken) throw new RecordLost(notMadeAgain(subject.experiment, broken.message))
  }

  /** The baseline keeps to its own first sample. */
  #reference(): Sample | null {
    const { run, node, seal } = this.#in
    if (node.id !== BASELINE) return baselineSample(run)
    return recordedSamples(run, node.id, seal.attempt)[0] ?? null
  }

  async gate(gate: GateRule) {
    const { run, bench, folder } = this.#in
    await this.#ready(this.#own)
    const { placed } = this.#own
    const { environment } = bench
    const { folder: checkout } = placed
    const isolation = placed.apart?.renew()
    const disk = new DiskWatch(run.site)
    const done = await runGate({ gate, checkout, environment, folder, isolation, signal: run.signal })
    disk.ended()
    this.#look(this.#own)
    return { ...done, fault: disk.blame(done.fault) }
  }

  artifacts(sample: Sample) {
    return readDeclared(this.#in.guard, sample.artifacts)
  }

  /** What decides a verdict and was changed by the candidate's run, which can find both checkouts of its slot. */
  async tampered(): Promise<string[]> {
    const { run, bench, node, guard } = this.#in
    const habits = this.#touches.habits(node.id)
    const touched = this.#touches.by(node.id, node.id).filter((path) => !habits.has(path))
    const own = this.#touches.isSpoilt(this.#own.place)
      ? touched
      : must(await tamperedFiles({ run, bench, judged: node.id, touched, ...this.#own }))
    return [...own, ...this.#tampered, ...(await this.#tamperedOther()), ...(await changedSince(guard))]
  }

  async #tamperedOther(): Promise<string[]> {
    const { run, bench, node } = this.#in
    if (!this.#other) return []
    const touched = this.#touches.by(node.id, this.#other.experiment)
    const found = this.#touches.isSpoilt(this.#other.place)
      ? touched
      : must(await tamperedFiles({ run, bench, judged: node.id, touched, ...this.#other }))
    return found.map((path) => `${path} in the checkout of ${this.#other?.experiment}`)
  }
}

/** Of what builds made for others, nothing is needed any more. Behind a link lies what is not ours. */
function keepOnly(folder: string): void {
  const parent = dirname(folder)
  const found = lstatSync(parent, { throwIfNoEntry: false })
  if (found && !found.isDirectory()) removeTree(parent)
  if (!found?.isDirectory()) return
  for (const name of readdirSync(parent)) if (join(parent, name) !== folder) removeTree(join(parent, name))
}

const notMadeAgain = (experiment: string, why: string): Problem => ({
  kind: 'failed',
  code: 'checkout_not_made',
  message: `the checkout of ${experiment} had to be made again, and could not be prepared: ${why}`,
  hint: next`run the same command again; ${call('doctor')} looks for what is in the way`,
})

function valueOnly({ converted: _, ...sample }: Sample): Sample {
  const { fault } = sample
  return {
    ...sample,
    metrics: {},
    units: {},
    tasks: null,
    artifacts: null,
    fault: fault && { reason: fault.reason, message: 'no value' },
  }
}
