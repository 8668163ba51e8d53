/**
 * Measurements that belong to no attempt: `confirm`, `gate check` and `run --check` run a candidate in a slot, and keep its
 * outputs in a numbered folder of their own.
 */

import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { lookRef } from '../git/refs.ts'
import { pinCommit } from '../git/seal.ts'
import type { Pinned } from '../git/store.ts'
import type { SampleFault } from '../ledger/events.ts'
import { type Experiment, lastAttempt } from '../ledger/state.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { type ArtifactPlaces, artifactPlaces } from './artifacts.ts'
import { choicesWithoutAttempt, drawNonce, type RandomChoices } from './random-choices.ts'
import { snapshot } from './seal.ts'
import { type PinnedCandidate, type Seat, Session } from './session.ts'
import { type CheckoutPlace, interrupted, leaseSlot } from './slot.ts'
import { RecordLost } from './steps.ts'
import { baseOf, judgedCommit } from './worktree.ts'

/** Each measurement has its own folder; the process that creates the folder owns that number. */
export interface NumberedFolder {
  number: number
  folder: string
}

export function numberedFolder(parent: string): NumberedFolder {
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

export interface CurrentCandidate extends Pinned {
  /** True: the files of the worktree. False: a seal. */
  fromWorktree: boolean
  /** Files that look like secrets and were left out. */
  secrets: { path: string; reason: string }[]
}

/** The experiment's current content: its worktree while that may still change, else its last seal. */
export async function currentCandidate(run: OpenRun, node: Experiment): Promise<Result<CurrentCandidate>> {
  const editable = node.status === 'open' || node.status === 'rejected' || node.status === 'failed'
  if (!editable) {
    const sealed = judgedCommit(run, node.id) ?? lastAttempt(node)?.sealed ?? baseOf(run, node.id)
    return ok({ commit: sealed.commit, tree: sealed.tree, fromWorktree: false, secrets: [] })
  }
  const taken = await snapshot(run, node)
  if (!taken.ok) return taken
  const commit = await pinCommit(run.site, {
    tree: taken.value.tree,
    parents: [baseOf(run, node.id).commit],
    message: `${node.id}: measured without an attempt`,
    ref: lookRef(run.run, node.id, run.random(8)),
    at: run.clock(),
  })
  if (!commit.ok) return commit
  const { tree, secrets } = taken.value
  return ok({ commit: commit.value, tree, fromWorktree: true, secrets })
}

/** What a measurement without an attempt works with. */
export interface ExtraMeasurement {
  session: Session
  choices: RandomChoices
  nonce: string
  /** Brings a candidate to a checkout of the slot. */
  put(candidate: PinnedCandidate, place: CheckoutPlace): Promise<Result<Seat>>
}

/**
 * Waits for a slot, runs `measure` there, and releases the slot. `about`: the experiment that is measured. The random choices follow
 * from `nonce`, or are drawn once the slot is leased. They are new ones: the samples of an attempt helped to select the
 * experiment, so its choices are not used again.
 */
export async function measureWithoutAttempt<T>(
  run: OpenRun,
  { folder, about, nonce: given }: { folder: string; about: string; nonce?: string },
  measure: (measurement: ExtraMeasurement) => Promise<Result<T>>,
): Promise<Result<T>> {
  const leased = await leaseSlot(run)
  if (leased === null) return fail(interrupted)
  if (!leased.ok) return leased
  try {
    const nonce = given ?? drawNonce(run)
    const session = new Session(run, leased.value, {
      experiment: about,
      touches: join(folder, 'touches.json'),
    })
    const put = (candidate: PinnedCandidate, place: CheckoutPlace) => {
      const artifacts = artifactsOf(run, candidate.experiment, join(folder, `${place}-artifacts`))
      return session.put(candidate, place, { outputs: folder, artifacts })
    }
    const answer = await measure({ session, choices: choicesWithoutAttempt(nonce, about), nonce, put })
    return run.signal.aborted ? fail(interrupted) : answer
  } catch (error) {
    if (error instanceof RecordLost) return fail(error.problem)
    throw error
  } finally {
    leased.value.release()
  }
}

/** A build without an attempt must not write into the experiment's own artifacts. */
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

/** Why nothing can be run: setup or build failed. */
export function failedPreparation({
  placed: { setup, build },
}: Seat): { step: string; fault: SampleFault } | null {
  if (setup) return { step: 'setup', fault: setup }
  return build && { step: 'build', fault: build }
}

/** The same as a problem: this measurement can say nothing about the candidate. */
export function preparationProblem(seat: Seat): Problem | null {
  const failed = failedPreparation(seat)
  return (
    failed && {
      kind: 'failed',
      code: `${failed.step}_failed`,
      message: `worktree.${failed.step} failed for ${seat.experiment}: ${failed.fault.message}`,
      hint: `repair worktree.${failed.step}, then repeat the command; it runs in a measurement checkout, not in the edit worktree`,
    }
  )
}
