/** A look at one candidate in a slot that is no attempt: its gates and samples, kept in a numbered folder of their own. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { checkRef } from '../git/refs.ts'
import { pinCommit } from '../git/seal.ts'
import type { GateRule, Sample, SampleFault, Side, Stage } from '../ledger/events.ts'
import { type Experiment, lastAttempt } from '../ledger/state.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { type ArtifactPlaces, artifactPlaces } from './artifacts.ts'
import { interrupted, openBench, type Place } from './bench.ts'
import { type Chance, chanceOfLook, drawNonce } from './chance.ts'
import { baselineSample } from './samples.ts'
import { snapshot } from './seal.ts'
import { type Candidate, type GateDone, Session } from './session.ts'
import { RecordLost } from './steps.ts'
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
  gates(rules: readonly GateRule[]): Promise<GateDone[]>
  sample(at: { stage: Stage; side: Side; pair: number }): Promise<Sample>
}

export interface Drawn {
  nonce: string
  chance: Chance
  session: Session
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
  const bench = await openBench(run)
  if (bench === null) return fail(interrupted)
  if (!bench.ok) return bench
  try {
    const nonce = drawNonce(run)
    const chance = chanceOfLook(nonce, at.about)
    const session = new Session(run, bench.value, { experiment: at.about, touches: null })
    const answer = await look(
      (candidate, place, experiment) =>
        probeOf(run, session, at.folder, chance, { ...candidate, experiment }, place),
      { nonce, chance, session },
    )
    return run.signal.aborted ? fail(interrupted) : answer
  } catch (error) {
    if (error instanceof RecordLost) return fail(error.problem)
    throw error
  } finally {
    bench.value.release()
  }
}

async function probeOf(
  run: OpenRun,
  session: Session,
  folder: string,
  chance: Chance,
  candidate: Candidate,
  place: Place,
): Promise<Result<Probe>> {
  const artifacts = artifactsOf(run, candidate.experiment, join(folder, `${place}-artifacts`))
  const put = await session.put(candidate, place, { outputs: folder, artifacts })
  if (!put.ok) return put
  const seat = put.value
  const { setup, build } = seat.placed
  return ok({
    unprepared: setup ? { step: 'setup', fault: setup } : build ? { step: 'build', fault: build } : null,
    gates: async (rules) => {
      const done: GateDone[] = []
      for (const gate of rules) done.push(await session.gate(seat, gate))
      return done
    },
    sample: (at) =>
      session.sample(seat, {
        ...at,
        seed: chance.seed(at.stage, at.pair),
        folder,
        reference: baselineSample(run),
      }),
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

/** Setup or build failed in the slot: nothing can be said of the candidate by this look. */
export function unpreparedProblem(experiment: string, { step, fault }: NonNullable<Probe['unprepared']>) {
  return fail({
    kind: 'failed',
    code: `${step}_failed`,
    message: `worktree.${step} failed for ${experiment}: ${fault.message}`,
    hint: `mend it, then repeat the command; it runs in a slot, not in the edit worktree`,
  })
}
