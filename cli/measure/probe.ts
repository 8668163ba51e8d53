/** A look at one candidate in a slot that is no attempt: its gates and samples, kept in a numbered folder of their own. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runGate } from '../evaluate/gates.ts'
import { takeSample } from '../evaluate/measure.ts'
import { checkRef } from '../git/refs.ts'
import { pinCommit } from '../git/seal.ts'
import type { GateResult, GateRule, Sample, SampleFault, Side, Stage } from '../ledger/events.ts'
import { type Experiment, lastAttempt } from '../ledger/state.ts'
import { slotDesk } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { type ArtifactPlaces, artifactPlaces } from './artifacts.ts'
import { type Bench, openBench, type Place, placeCandidate } from './bench.ts'
import { type Chance, chanceOfLook, drawNonce } from './chance.ts'
import { knownMetrics } from './known.ts'
import { baselineSample } from './samples.ts'
import { snapshot } from './seal.ts'
import { type Seat, Touches, tamperedFiles } from './tamper.ts'
import { must } from './trial.ts'
import { baseOf, keptCommit } from './worktree.ts'

export interface Pinned {
  commit: string
  tree: string
}

/** A folder of its own for each look: whoever makes it has the number. */
export interface Numbered {
  number: number
  folder: string
}

export function numberedFolder(parent: string): Numbered {
  mkdirSync(parent, { recursive: true })
  const taken = readdirSync(parent).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  for (let number = Math.max(0, ...taken) + 1; ; number++) {
    const folder = join(parent, String(number))
    try {
      mkdirSync(folder)
      mkdirSync(join(folder, 'samples'))
      return { number, folder }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

export interface Looked extends Pinned {
  /** The worktree was looked at, not what was sealed. */
  fromWorktree: boolean
  /** Secret-looking files that are not part of it. */
  secrets: { path: string; reason: string }[]
}

/** What stands for the experiment now: what its worktree holds while that may still change, else what was judged. */
export async function candidateNow(run: OpenRun, node: Experiment): Promise<Result<Looked>> {
  const editable = node.status === 'open' || node.status === 'rejected' || node.status === 'failed'
  if (!editable) {
    const sealed = keptCommit(run, node.id) ?? lastAttempt(node)?.sealed ?? baseOf(run, node.id)
    return ok({ commit: sealed.commit, tree: sealed.tree, fromWorktree: false, secrets: [] })
  }
  const taken = await snapshot(run, node)
  if (!taken.ok) return taken
  const commit = await pinCommit(run.site, {
    tree: taken.value.tree,
    parents: [baseOf(run, node.id).commit],
    message: `${node.id}: a look`,
    ref: checkRef(run.run, node.id, run.random(8)),
    at: run.clock(),
  })
  if (!commit.ok) return commit
  const { tree, secrets } = taken.value
  return ok({ commit: commit.value, tree, fromWorktree: true, secrets })
}

export interface Probe {
  /** Why it cannot be asked anything: setup or build failed. */
  unprepared: { step: 'setup' | 'build'; fault: SampleFault } | null
  /** Runs gates in order, all of them, and answers how each ended. */
  gates(rules: readonly GateRule[]): Promise<(GateResult & { fault: SampleFault | null })[]>
  sample(at: { stage: Stage; side: Side; pair: number }): Promise<Sample>
  /** What decides a verdict and was changed by its own gates and samples, also when they put it back; see `tamperedFiles`. */
  tampered(): Promise<Result<string[]>>
}

/** What lies in the slot during a look, and what its samples touched. */
interface Room {
  seats: Seat[]
  touches: Touches
}

export interface Drawn {
  nonce: string
  chance: Chance
}

/**
 * Waits for a slot, brings candidates there, lets `look` ask, and gives the slot back. `about`: the experiment that the
 * look is about. What chance decides is drawn once the slot is there: it is never that of an attempt, whose samples were
 * selected by what they said.
 */
export async function inSlot<T>(
  run: OpenRun,
  at: Numbered & { about: string },
  look: (
    put: (candidate: Pinned, place: Place, experiment: string) => Promise<Result<Probe>>,
    drawn: Drawn,
  ) => Promise<Result<T>>,
): Promise<Result<T>> {
  let bench: Result<Bench>
  try {
    bench = await openBench(run)
  } catch (error) {
    if (!run.signal.aborted) throw error
    return fail(interrupted)
  }
  if (!bench.ok) return bench
  try {
    const nonce = drawNonce(run)
    const chance = chanceOfLook(nonce, at.about)
    const room: Room = { seats: [], touches: new Touches(bench.value, null) }
    const answer = await look(
      (candidate, place, name) =>
        probeOf(run, bench.value, at.folder, chance, room, { candidate, place, name }),
      { nonce, chance },
    )
    return run.signal.aborted ? fail(interrupted) : answer
  } finally {
    bench.value.release()
  }
}

async function probeOf(
  run: OpenRun,
  bench: Bench,
  folder: string,
  chance: Chance,
  { seats, touches }: Room,
  { candidate, place, name: experiment }: { candidate: Pinned; place: Place; name: string },
): Promise<Result<Probe>> {
  const known = await knownMetrics(run, candidate.tree)
  if (!known.ok) return known
  const artifacts = artifactsOf(run, experiment, join(folder, `${place}-artifacts`))
  const prepare = () => placeCandidate(run, bench, place, candidate, { outputs: folder, artifacts })
  const placed = await prepare()
  if (!placed.ok) return placed
  const { setup, build } = placed.value
  const seat: Seat = { place, experiment, placed: placed.value }
  seats.splice(0, seats.length, ...seats.filter((one) => one.place !== place), seat)
  touches.placedAgain(place)
  /** The checkout as it was placed; one that the last sample spoilt is made again. */
  const ready = async () => {
    if (!touches.isSpoilt(place)) return seat.placed
    seat.placed = must(await prepare())
    touches.placedAgain(place)
    return seat.placed
  }
  return ok({
    bench,
    unprepared: setup ? { step: 'setup', fault: setup } : build ? { step: 'build', fault: build } : null,
    gates: async (rules) => {
      const done: (GateResult & { fault: SampleFault | null })[] = []
      for (const gate of rules) {
        const { environment } = bench
        const { signal } = run
        const { folder: checkout, apart } = await ready()
        const isolation = apart?.renew()
        done.push(await runGate({ gate, checkout, environment, folder, isolation, signal }))
        touches.look(experiment, seats)
      }
      return done
    },
    sample: async ({ stage, side, pair }) => {
      const { folder: checkout, apart } = await ready()
      const sample = await takeSample({
        config: run.spec.measure,
        metric: run.spec.metric,
        aggregate: run.spec.tasks.aggregate,
        checkout,
        folder,
        stage,
        side,
        pair,
        seed: chance.seed(stage, pair),
        slot: bench.slot,
        desk: slotDesk(run.site, bench.slot),
        environment: { ...bench.environment, ...artifacts.environment },
        artifacts: artifacts.own,
        known: known.value,
        isolation: apart?.renew(),
        reference: baselineSample(run),
        signal: run.signal,
        scoring: () => touches.glance(experiment, seats),
      })
      touches.look(experiment, seats)
      return sample
    },
    tampered: async () => {
      const found: string[] = []
      const habits = touches.habits(experiment)
      for (const { place: where, experiment: whose, placed: there } of seats) {
        const touched = touches.by(experiment, whose).filter((path) => !habits.has(path))
        const { tree } = whose === experiment ? candidate : (keptCommit(run, whose) ?? candidate)
        const changed = touches.isSpoilt(where)
          ? ok(touched)
          : await tamperedFiles({
              run,
              bench,
              place: where,
              tree,
              placed: there,
              judged: experiment,
              touched,
            })
        if (!changed.ok) return changed
        found.push(
          ...changed.value.map((path) =>
            whose === experiment ? path : `${path} in the checkout of ${whose}`,
          ),
        )
      }
      return ok(found)
    },
  })
}

/** What a build makes for a look must not touch what the experiment has. */
function artifactsOf(
  run: OpenRun,
  experiment: string,
  made: string,
): Pick<ArtifactPlaces, 'own' | 'environment'> {
  const node = run.ledger.state.experiments.get(experiment)
  const places = node && artifactPlaces(run, node)
  if (!places) return { own: made, environment: {} }
  const own = run.spec.worktree.build === null ? places.own : made
  return { own, environment: { ...places.environment, ASSAY_ARTIFACTS: own } }
}

export const interrupted: Problem = {
  kind: 'interrupted',
  code: 'interrupted',
  message: 'interrupted; nothing was recorded',
  hint: 'repeat the same command',
}

/** Setup or build failed in the slot: nothing can be said of the candidate by this look. */
export function unpreparedProblem(experiment: string, { step, fault }: NonNullable<Probe['unprepared']>) {
  return fail({
    kind: 'failed',
    code: `${step}_failed`,
    message: `worktree.${step} failed for ${experiment}: ${fault.message}`,
    hint: `mend it, then repeat the command; it runs in a slot, not in the edit worktree`,
  })
}
