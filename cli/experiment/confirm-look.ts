/** The second look at a kept experiment: gates and fresh samples, and what they say. */

import type { StageContext } from '../evaluate/compare-pairs.ts'
import { crowdAround, foremost } from '../evaluate/crowd.ts'
import { fewestPairs } from '../evaluate/paired.ts'
import { regressions } from '../evaluate/protected.ts'
import type { Sample, SampleFault, Side } from '../ledger/events.ts'
import { nodeValue } from '../ledger/state.ts'
import { recordStep } from '../ledger/steps.ts'
import { stepsFile } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Place } from './bench.ts'
import type { Chance } from './chance.ts'
import {
  type Again,
  against,
  type Compared,
  judge,
  mismatch,
  refusedFor,
  type Spoilt,
  spoiltBy,
  weigh,
} from './confirm-verdict.ts'
import { gatesOn } from './gates.ts'
import { guardsNeeded } from './guards.ts'
import { faultOfOther, stageContext, untilClear } from './pairs.ts'
import { type Numbered, type Pinned, type Probe, unpreparedProblem } from './probe.ts'
import { RecordLost } from './steps.ts'
import { keptCommit } from './worktree.ts'

/** Without noise: a value that varies shows in the first two mostly. */
const SAMPLES = 2

export interface Look extends Compared {
  kept: Pinned
  at: Numbered
  chance: Chance
  put: (candidate: Pinned, place: Place, experiment: string) => Promise<Result<Probe>>
}

/** A problem when the machine, not the experiment, is to blame. */
export async function lookAgain(look: Look): Promise<Result<Again>> {
  const { run, node, kept, chance, put } = look
  const placed = await put(kept, chance.place('candidate'), node.id)
  if (!placed.ok) return placed
  const probe = placed.value
  if (probe.unprepared) return unpreparedProblem(node.id, probe.unprepared)
  const failing = (await probe.gates(gatesOn(run, node.id))).find(({ passed }) => !passed)
  if (failing?.fault?.reason === 'environment') return notMeasured(node.id, failing.fault.message)
  if (failing) return ok(against(look, `gate ${failing.name} does not pass`, 0))
  try {
    const paired = run.ledger.state.noise.mode === 'paired'
    const found = paired ? await inPairs(look, probe) : await once(look, probe)
    if (!found.ok || !found.value.passed) return found
    const tampered = await probe.tampered()
    if (!tampered.ok || tampered.value.length === 0) return tampered.ok ? found : tampered
    const what = tampered.value.slice(0, 5).join(', ')
    return ok(against(look, `its own run changed what judges it: ${what}`, found.value.samples ?? 0))
  } catch (error) {
    if (error instanceof RecordLost) return fail(error.problem)
    throw error
  }
}

async function once(look: Look, probe: Probe): Promise<Result<Again>> {
  const { run, node } = look
  const samples: Sample[] = []
  for (let pair = 0; pair < SAMPLES; pair++) {
    const sample = await take(look, probe, 'candidate', pair)
    samples.push(sample)
    if (sample.fault) return await faulty(look, sample.fault, samples.length)
  }
  const values = [...new Set(samples.map(({ value }) => value))]
  const known = node.epoch === run.ledger.state.epoch ? [nodeValue(node)] : []
  const seen = [...new Set([...known, ...values])]
  if (seen.length > 1 && run.spec.noise.mode === 'auto') {
    const found = await inPairs(look, probe, SAMPLES)
    return found.ok ? ok({ ...found.value, varied: `${node.id} gave ${seen.join(', then ')}` }) : found
  }
  const found = judge(look, samples, values)
  return 'passed' in found && found.passed ? guarded(look, probe, found, samples) : told(look, found)
}

/** Protected metrics on fresh samples of both, in as many pairs as they need when they vary. */
async function guarded(look: Look, probe: Probe, found: Again, candidate: Sample[]): Promise<Result<Again>> {
  const { run, other, chance } = look
  if (run.spec.protected.length === 0) return ok(found)
  const partner = await partnerOf(look)
  if (!partner.ok) return partner
  const theirs: Sample[] = []
  const ours: Sample[] = []
  const taken = () => candidate.length + ours.length + theirs.length
  const needed = () => Math.max(...[[...candidate, ...ours], theirs].map((seen) => guardsNeeded(run, seen)))
  for (let pair = 0; pair < needed(); pair++) {
    for (const side of chance.order('guard', pair)) {
      const own = side === 'candidate'
      const sample = await take(look, own ? probe : partner.value, side, pair, 'guard')
      const broken = own ? (sample.fault ?? mismatch(run, sample)) : faultOfOther(run, sample)
      if (broken && !own) return notMeasured(other.id, broken.message)
      if (broken) return await faulty(look, broken, taken() + 1)
      ;(own ? ours : theirs).push(sample)
    }
  }
  // Samples of before the pairs say whether a value varies; only those of the pairs are compared.
  const worse = foremost(regressions(run.spec.protected, ours, theirs))
  const again = spoiltBy(worse) ?? (worse ? refusedFor(found, worse.message) : found)
  return told(look, 'crowd' in again ? again : { ...again, samples: taken() })
}

/** One sample, kept in the record of this look. */
async function take(
  look: Look,
  probe: Probe,
  side: Side,
  pair: number,
  stage: 'confirm' | 'guard' = 'confirm',
): Promise<Sample> {
  const { run, at } = look
  const sample = await probe.sample({ stage, side, pair })
  const written = recordStep(stepsFile(at.folder), { step: 'sample', sample: bounded(sample) }, run.clock())
  if (!written.ok) throw new RecordLost(written.problem)
  return sample
}

/** `from`: the pairs of this look that were not taken yet. */
async function inPairs(look: Look, probe: Probe, from = 0): Promise<Result<Again>> {
  const { run, other, at, chance } = look
  const partner = await partnerOf(look)
  if (!partner.ok) return partner
  const context = forLook(stageContext(run, 'confirm', other.id), 1 + failedLooks(look))
  const detail = { stage: 'confirm', context }
  const began = recordStep(stepsFile(at.folder), { step: 'confirm', state: 'began', detail }, run.clock())
  if (!began.ok) return began
  let ended: SampleFault | null = null
  let taken = 0
  const answer = await untilClear(
    context,
    async (index) => {
      const pair = from + index
      const pairOf: Partial<Record<Side, Sample>> = {}
      for (const side of chance.order('confirm', pair)) {
        const sample = await take(look, side === 'candidate' ? probe : partner.value, side, pair)
        taken++
        pairOf[side] = sample
        if (side === 'candidate') ended = sample.fault ?? mismatch(run, sample)
        if (ended !== null) return null
      }
      const { candidate, parent } = pairOf
      return candidate && parent ? { candidate, other: parent } : null
    },
    (sample) => faultOfOther(run, sample),
  )
  if (answer === null)
    return await faulty(look, ended ?? { reason: 'aborted', message: 'it was interrupted' }, taken)
  if ('broken' in answer) return notMeasured(other.id, answer.broken.message)
  const crowd = context.needs_quiet ? crowdAround(answer.comparison) : null
  return told(look, crowd === null ? weigh(look, answer) : { crowd })
}

/** Looks at these two, in this epoch, that the experiment did not pass: whoever repeats them until one does has more chances. */
const failedLooks = ({ run, node, other }: Look): number =>
  node.attempts
    .flatMap(({ confirmed }) => confirmed)
    .filter(
      (one) =>
        one.against === other.id && one.epoch === run.ledger.state.epoch && one.differences && !one.passed,
    ).length

/** More evidence takes more pairs: with as many as the first look had, a small `pairs.max` would let no later one pass. */
function forLook(context: StageContext, look: number): StageContext {
  if (look === 1) return context
  const fewest = (look: number) => fewestPairs(context.rule, context.tries, look)
  const max = Math.ceil((context.pairs.max * fewest(look)) / fewest(1))
  return { ...context, look, pairs: { ...context.pairs, max } }
}

/** What was kept on a quiet machine is neither confirmed nor refuted on a busy one. */
const told = ({ node }: Look, found: Again | Spoilt): Result<Again> =>
  'crowd' in found
    ? notMeasured(node.id, found.crowd, 'repeat it when the machine has a processor to spare')
    : ok(found)

/** What it is compared with, in the slot's other checkout. */
async function partnerOf({ run, other, chance, put }: Look): Promise<Result<Probe>> {
  const commit = keptCommit(run, other.id)
  if (!commit) throw new Error(`${other.id} is compared with, and was never kept`)
  const probe = await put(commit, chance.place('parent'), other.id)
  if (!probe.ok || !probe.value.unprepared) return probe
  return run.signal.aborted ? probe : unpreparedProblem(other.id, probe.value.unprepared)
}

/** The fault is the experiment's only if what it is compared with can be measured in this very slot. */
async function faulty(look: Look, fault: SampleFault, samples: number): Promise<Result<Again>> {
  const { node, other } = look
  if (fault.reason === 'environment' || fault.reason === 'aborted') return notMeasured(node.id, fault.message)
  const probe = await partnerOf(look)
  if (!probe.ok) return probe
  const sample = await take(look, probe.value, 'parent', 0)
  if (sample.fault) return notMeasured(node.id, `${fault.message}; so does ${other.id}`)
  return ok(against(look, fault.message, samples + 1))
}

const notMeasured = (experiment: string, message: string, then = 'mend the cause, then confirm it again') =>
  fail({
    kind: 'failed',
    code: 'not_measured',
    message: `${experiment} could not be measured: ${message}`,
    hint: `nothing was recorded; ${then}`,
  })

const bounded = (sample: Sample): Sample => ({
  ...sample,
  fault: sample.fault && { ...sample.fault, message: sample.fault.message.slice(0, 1000), raw: '' },
})
