/**
 * Takes the samples and gates of a trial in a slot of this machine: the candidate is in one checkout, what it is compared with in the
 * other. `attempt.ts` makes one for an attempt, `confirm.ts` for a confirmation. The other source reads the record (`trial.ts`).
 */

import { lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeTree } from '../disk/remove.ts'
import { recordable } from '../evaluate/comparable.ts'
import type { GateRule, Sample, SampleFault, Side } from '../ledger/events.ts'
import { slotArtifacts } from '../paths.ts'
import { machineNow } from '../run/machine.ts'
import type { RunRecord, Surroundings } from '../run/open.ts'
import { artifactPlaces, artifactsChanged, type Guard, guardArtifacts, readDeclared } from './artifacts.ts'
import type { RandomChoices } from './random-choices.ts'
import type { Seat, Session, Tampered, WantedSample } from './session.ts'
import { type ItemJudge, must, type SampleAt, type SampleSource, type Secluded } from './trial.ts'
import { judgedCommit } from './worktree.ts'

export interface InSlot {
  run: Pick<RunRecord, 'site' | 'run' | 'spec' | 'ledger' | 'paths'> & Pick<Surroundings, 'env'>
  session: Session
  choices: RandomChoices
  /** The candidate, as it was placed. */
  own: Seat
  /** The artifacts as they were before the samples; null = changes to them are not checked. */
  guard: Guard | null
  /** The sample in whose units all are recorded. */
  reference: () => Sample | null
  /** null = the metric is not judged. */
  judge: ItemJudge | null
}

export class SlotSource implements SampleSource {
  readonly #in: InSlot
  #other: Seat | null = null
  /** Artifacts that changed, by name, with the experiments that ran then. They stay listed, because a later run may put the files back. */
  readonly #changedArtifacts = new Map<string, Set<string>>()
  /** The artifacts as of the last look. */
  #artifacts: Guard | null

  readonly judge: ItemJudge | null

  constructor(slot: InSlot) {
    this.#in = slot
    this.#artifacts = slot.guard
    this.judge = slot.judge
  }

  machine = () => machineNow({ libc: this.#in.run.env.ASSAY_JOB_HIDES !== undefined })

  async place(experiment: string): Promise<SampleFault | null> {
    if (this.#other?.experiment === experiment) return null
    this.#other = null
    const { run, session, choices, own } = this.#in
    const commit = judgedCommit(run, experiment)
    const node = run.ledger.state.experiments.get(experiment)
    if (!commit || !node) throw new Error(`${experiment} is compared with, and has no candidate`)
    const outputs = join(own.outputs, 'other')
    mkdirSync(outputs, { recursive: true })
    const places = artifactPlaces(run, node)
    const made = slotArtifacts(run.site, session.leased.slot, run.run, experiment)
    keepOnly(made)
    // A repeated build must not write into the artifacts that were judged.
    const folder = run.spec.worktree.build === null ? places.own : made
    const artifacts = { own: folder, environment: { ...places.environment, ASSAY_ARTIFACTS: folder } }
    const place = choices.place('parent')
    const seat = must(await session.put({ experiment, ...commit }, place, { outputs, artifacts }))
    const broken = seat.placed.setup ?? seat.placed.build
    if (broken) session.leave(place)
    else this.#other = seat
    return broken
  }

  async sample(at: SampleAt, secluded?: Secluded): Promise<Sample> {
    const wanted = this.#wanted(at, secluded)
    await this.#ready(wanted.seat)
    const sample = await this.#in.session.sample(wanted.seat, wanted.asked)
    await this.#lookAtArtifacts(wanted.seat)
    return secluded ? valueOnly(sample) : recordable(sample)
  }

  async pair(at: Omit<SampleAt, 'side'>, first: (task: number) => Side): Promise<Record<Side, Sample>> {
    const sides = {
      candidate: this.#wanted({ ...at, side: 'candidate' }),
      parent: this.#wanted({ ...at, side: 'parent' }),
    }
    for (const { seat } of [sides.candidate, sides.parent]) await this.#ready(seat)
    const { candidate, parent } = await this.#in.session.pair(sides, first)
    await this.#lookAtArtifacts(sides.candidate.seat)
    return { candidate: recordable(candidate), parent: recordable(parent) }
  }

  #wanted({ stage, pair, side, items }: SampleAt, secluded?: Secluded): WantedSample {
    const { choices, own, reference } = this.#in
    const seat = side === 'candidate' ? own : this.#other
    if (!seat) throw new Error('a pair needs something to compare with')
    return {
      seat,
      asked: {
        stage,
        side,
        pair,
        seed: choices.seed(stage, pair),
        items,
        folder: secluded?.folder ?? own.outputs,
        environment: secluded?.environment,
        secluded: secluded !== undefined,
        reference: reference(),
      },
    }
  }

  async gate(gate: GateRule) {
    const { session, own } = this.#in
    await this.#ready(own)
    const done = await session.gate(own, gate)
    await this.#lookAtArtifacts(own)
    return done
  }

  gateAgain = async (gate: GateRule) => (await this.gate(gate)).fault

  /** A checkout that is made again is built again, which writes the same artifacts once more. */
  async #ready(seat: Seat): Promise<void> {
    if (await this.#in.session.ready(seat)) await this.#lookAtArtifacts(seat, { content: true })
  }

  /** An artifact that differs from the last look was changed by the experiment that ran since. */
  async #lookAtArtifacts({ experiment }: Seat, how?: { content: boolean }): Promise<void> {
    const before = this.#artifacts
    if (before === null) return
    const now = await guardArtifacts(before.places)
    for (const name of artifactsChanged(before, now, how))
      this.#changedArtifacts.set(name, (this.#changedArtifacts.get(name) ?? new Set()).add(experiment))
    this.#artifacts = now
  }

  async gateOfOther(gate: GateRule, experiment: string): Promise<SampleFault | null> {
    const broken = await this.place(experiment)
    if (broken) return broken
    if (!this.#other) throw new Error('a gate needs an experiment to run on')
    const { fault } = await this.#in.session.gate(this.#other, gate)
    await this.#lookAtArtifacts(this.#other)
    return fault
  }

  artifacts(sample: Sample) {
    const { guard } = this.#in
    return guard ? readDeclared(guard, sample.artifacts) : { records: {} }
  }

  /** Files that decide a verdict and that a run changed. */
  async tampered(): Promise<Tampered> {
    const { session, own } = this.#in
    const { paths, by } = await session.tampered()
    await this.#lookAtArtifacts(own)
    const artifacts = [...this.#changedArtifacts.keys()].sort()
    const whose = new Set([...this.#changedArtifacts.values()].flatMap((who) => [...who]))
    const [who = null, ...more] = [...new Set([...whose, ...(paths.length > 0 ? [by] : [])])]
    const all = [...paths, ...artifacts]
    return {
      paths: all,
      beside: all.length > 0 && session.isBeside(),
      by: more.length > 0 || who === own.experiment ? null : who,
    }
  }
}

/** Removes the artifacts that builds of other experiments left beside this folder: they are not needed any more. Links are not followed. */
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
