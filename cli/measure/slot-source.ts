/** The slot as the source of a trial: the candidate lies in one checkout, what it is compared with in the other. */

import { lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeTree } from '../disk/remove.ts'
import { recordable } from '../evaluate/comparable.ts'
import type { GateRule, Sample, SampleFault } from '../ledger/events.ts'
import { BASELINE, type Experiment } from '../ledger/state.ts'
import { slotArtifacts } from '../paths.ts'
import type { OpenRun } from '../run/open.ts'
import { artifactPlaces, changedSince, type Guard, readDeclared } from './artifacts.ts'
import type { Chance } from './chance.ts'
import { baselineSample, recordedSamples } from './samples.ts'
import type { Seal } from './seal.ts'
import type { Seat, Session } from './session.ts'
import { must, type SampleAt, type Secluded, type Source } from './trial.ts'
import { keptCommit } from './worktree.ts'

export interface InSlot {
  run: OpenRun
  node: Experiment
  seal: Seal
  session: Session
  chance: Chance
  /** The candidate, as it was placed. */
  own: Seat
  /** The artifacts as they were before the samples. */
  guard: Guard
}

export class SlotSource implements Source {
  readonly #in: InSlot
  #other: Seat | null = null

  constructor(slot: InSlot) {
    this.#in = slot
  }

  async place(experiment: string): Promise<SampleFault | null> {
    if (this.#other?.experiment === experiment) return null
    this.#other = null
    const { run, session, chance, own } = this.#in
    const commit = keptCommit(run, experiment)
    const node = run.ledger.state.experiments.get(experiment)
    if (!commit || !node) throw new Error(`${experiment} is compared with, and has no candidate`)
    const outputs = join(own.outputs, 'other')
    mkdirSync(outputs, { recursive: true })
    const places = artifactPlaces(run, node)
    const made = slotArtifacts(run.site, session.bench.slot, commit.tree)
    keepOnly(made)
    // What a build makes again must not touch what was judged.
    const folder = run.spec.worktree.build === null ? places.own : made
    const artifacts = { own: folder, environment: { ...places.environment, ASSAY_ARTIFACTS: folder } }
    const place = chance.place('parent')
    const seat = must(await session.put({ experiment, ...commit }, place, { outputs, artifacts }))
    const broken = seat.placed.setup ?? seat.placed.build
    if (broken) session.leave(place)
    else this.#other = seat
    return broken
  }

  async sample({ stage, pair, side }: SampleAt, secluded?: Secluded): Promise<Sample> {
    const { session, chance, own } = this.#in
    const seat = side === 'candidate' ? own : this.#other
    if (!seat) throw new Error('a pair needs something to compare with')
    const sample = await session.sample(seat, {
      stage,
      side,
      pair,
      seed: chance.seed(stage, pair),
      folder: secluded?.folder ?? own.outputs,
      environment: secluded?.environment,
      secluded: secluded !== undefined,
      reference: this.#reference(),
    })
    return secluded ? valueOnly(sample) : recordable(sample)
  }

  /** The baseline keeps to its own first sample. */
  #reference(): Sample | null {
    const { run, node, seal } = this.#in
    if (node.id !== BASELINE) return baselineSample(run)
    return recordedSamples(run, node.id, seal.attempt)[0] ?? null
  }

  gate(gate: GateRule) {
    return this.#in.session.gate(this.#in.own, gate)
  }

  artifacts(sample: Sample) {
    return readDeclared(this.#in.guard, sample.artifacts)
  }

  /** What decides a verdict and was changed by the candidate's run. */
  async tampered(): Promise<string[]> {
    return [...(await this.#in.session.tampered()), ...(await changedSince(this.#in.guard))]
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
