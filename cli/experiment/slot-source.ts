/** The slot as the source of a trial: the candidate lies in one checkout, what it is compared with in the other. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { recordable } from '../evaluate/comparable.ts'
import { runGate } from '../evaluate/gates.ts'
import { takeSample } from '../evaluate/measure.ts'
import type { GateRule, Sample, SampleFault } from '../ledger/events.ts'
import { BASELINE, type Experiment } from '../ledger/state.ts'
import { slotArtifacts, slotDesk } from '../paths.ts'
import type { OpenRun } from '../run/open.ts'
import { artifactPlaces, changedSince, type Guard, readDeclared } from './artifacts.ts'
import { type Bench, type Place, type Placed, placeCandidate } from './bench.ts'
import { type Chance, chanceOfAttempt } from './chance.ts'
import { knownMetrics } from './known.ts'
import { baselineSample, recordedSamples } from './samples.ts'
import type { Seal } from './seal.ts'
import { sweepLeftovers, tamperedFiles } from './tamper.ts'
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

  constructor(slot: InSlot) {
    const { run, node, seal, placed, known, guard } = slot
    const { own: artifacts, environment } = guard.places
    this.#in = slot
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
    must(await sweepLeftovers({ run, bench, ...subject }))
    const taken = await takeSample({
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
    })
    if (!secluded) return recordable(taken)
    // What it wrote may repeat what it read.
    must(await sweepLeftovers({ run, bench, ...subject }))
    return valueOnly(taken)
  }

  /** The baseline keeps to its own first sample. */
  #reference(): Sample | null {
    const { run, node, seal } = this.#in
    if (node.id !== BASELINE) return baselineSample(run)
    return recordedSamples(run, node.id, seal.attempt)[0] ?? null
  }

  async gate(gate: GateRule) {
    const { run, bench, placed, folder } = this.#in
    const { environment } = bench
    const { folder: checkout } = placed
    const isolation = placed.apart?.renew()
    return runGate({ gate, checkout, environment, folder, isolation, signal: run.signal })
  }

  artifacts(sample: Sample) {
    return readDeclared(this.#in.guard, sample.artifacts)
  }

  /** What decides a verdict and was changed by the candidate's run, which can find both checkouts of its slot. */
  async tampered(): Promise<string[]> {
    const { run, bench, node, guard } = this.#in
    const own = must(await tamperedFiles({ run, bench, judged: node.id, ...this.#own }))
    return [...own, ...this.#tampered, ...(await this.#tamperedOther()), ...(await changedSince(guard))]
  }

  async #tamperedOther(): Promise<string[]> {
    const { run, bench, node } = this.#in
    if (!this.#other) return []
    const found = must(await tamperedFiles({ run, bench, judged: node.id, ...this.#other }))
    return found.map((path) => `${path} in the checkout of ${this.#other?.experiment}`)
  }
}

/** Of what builds made for others, nothing is needed any more. */
function keepOnly(folder: string): void {
  const parent = dirname(folder)
  if (!existsSync(parent)) return
  for (const name of readdirSync(parent))
    if (join(parent, name) !== folder) rmSync(join(parent, name), { recursive: true, force: true })
}

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
