/**
 * Held-out data: what `init --holdout FILE` named, outside of the repository. Only a new best is measured on it, by the
 * same benchmark. Of what it prints only the value is kept, in the attempt's record, and no view shows it.
 */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crowdBehind, objection } from '../evaluate/crowd.ts'
import { signFlipP } from '../evaluate/paired.ts'
import { regressions } from '../evaluate/protected.ts'
import type { HeldOutFile, Sample, Side } from '../ledger/events.ts'
import { BASELINE } from '../ledger/state.ts'
import { identify, pidSpace } from '../process.ts'
import { decryptFile, isHoldout, placeOfHoldout } from '../run/holdout.ts'
import { judgedPair } from './judged-pairs.ts'
import { addFault, HeldOutLater, placeOther, type SampleAt, sampleOnce, type Trial } from './trial.ts'

/** Names of private folders. Containers may share the parent folder, so a name says in which container its process number counts. */
const HELD = `assay-held-out-${pidSpace()}-`

/** What killed processes left of held-out data. */
export function removeHeldData(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(new RegExp(`^${HELD}(\\d+)-`).exec(name)?.[1])
    if (pid > 0 && identify(pid) === null) rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

/** Enough for the rule of protected metrics to refuse at 5 %. */
const PAIRS = 8

/** So unlikely must it be that chance alone made so many of the held-out items worse. */
const WORSE_BY_CHANCE = 0.05

/** A judged metric: the answers to items that no comparison uses, against those of the baseline. */
async function heldOutItems(trial: Trial): Promise<boolean> {
  const { choices, evidence, record, run, source } = trial
  const known = record.paidSample('holdout', 0, 'candidate') !== null
  if (evidence.facts.baseline || !(known || source.judge?.sets.holdout.length)) return true
  record.step('holdout', 'began')
  if (!(await placeOther(trial, BASELINE))) return false
  const taken: Partial<Record<Side, Sample>> = {}
  for (const side of choices.order('holdout', 0)) {
    const sample = await sampleOnce(trial, { stage: 'holdout', pair: 0, side })
    if (sample.fault) return addFault(trial, sample.fault, side)
    taken[side] = sample
  }
  const { candidate, parent } = taken
  if (!candidate || !parent) throw new Error('a pair has two sides')
  const batch = await judgedPair(trial, { stage: 'holdout', pair: 0, candidate, other: parent })
  if (batch === null) return false
  const allowed = run.spec.holdout.max_regression
  const worse = batch.d < ('absolute' in allowed ? -allowed.absolute : 0)
  const refuted = worse && signFlipP(batch.judged.map(({ score }) => -score)) <= WORSE_BY_CHANCE
  const message = refuted ? `the answers to ${batch.judged.length} items are worse` : ''
  evidence.facts.holdout = { passed: !refuted, ...objection(message, null) }
  record.step('holdout', 'ended', evidence.facts.holdout)
  return !refuted
}

/** False when it is worse than the baseline beyond the allowance, or cannot be measured there. */
export async function heldOut(trial: Trial): Promise<boolean> {
  const { run, choices, evidence, record } = trial
  if (run.spec.judge) return heldOutItems(trial)
  if (!run.started.holdout) return true
  if (run.heldOut === 'later') throw new HeldOutLater()
  const { facts } = evidence
  record.step('holdout', 'began')
  if (!facts.baseline && !(await placeOther(trial, BASELINE))) return false
  // The mode in which the candidate was compared: that comparison may have shown that the metric varies.
  const paired = evidence.differences.judge !== undefined
  const done: Record<Side, Sample[]> = { candidate: [], parent: [] }
  for (let pair = 0; pair < (paired ? PAIRS : 1); pair++) {
    for (const side of facts.baseline ? ['candidate' as const] : choices.order('holdout', pair)) {
      const sample = await onHoldout(trial, pair, side)
      if (sample === null) return false
      done[side].push(sample)
    }
  }
  if (facts.baseline) return true
  const { name, direction } = run.spec.metric
  const config = { metric: name, direction, max_regression: run.spec.holdout.max_regression }
  const valued = (samples: Sample[]) =>
    samples.map(({ value }) => ({ metrics: { [name]: value ?? Number.NaN } }))
  const [worse] = regressions([config], valued(done.candidate), valued(done.parent))
  const crowd = crowdBehind(name, done.candidate, done.parent)
  // The amount is not said: a candidate could encode the data in the value. A loss that a crowd may explain is not said either.
  const said = worse && crowd === null ? `${name} is worse than allowed` : ''
  facts.holdout = { passed: !worse && crowd === null, ...objection(said, crowd) }
  record.step('holdout', 'ended', facts.holdout)
  return facts.holdout.passed
}

const CHANGED = 'the held-out data is not what init was given'
const UNKNOWN =
  'the path of the held-out file is not known here: it is in the state folder of the user who ran init'

/** The recorded reason why the data could not be used; null when they could. */
function goneIn({ record }: Trial): string | null {
  const [known] = record.decided('gone')
  return known ? (known.gone === true ? CHANGED : known.gone) : null
}

async function onHoldout(trial: Trial, pair: number, side: Side): Promise<Sample | null> {
  const at = { stage: 'holdout', pair, side } as const
  const sample = trial.record.paidSample(at.stage, pair, side) ?? (await inPrivate(trial, at))
  if (typeof sample === 'string')
    return addFault(trial, { reason: 'environment', message: sample }, 'parent') || null
  if (!sample.fault) return sample
  return addFault(trial, { ...sample.fault, message: 'no value on the held-out data' }, side) || null
}

/** Where the held-out data lie; a sentence when they cannot be used. */
export async function placeIfUnchanged(
  env: NodeJS.ProcessEnv,
  holdout: HeldOutFile,
): Promise<{ place: string } | { gone: string }> {
  const place = placeOfHoldout(env, holdout)
  if (place === null) return { gone: UNKNOWN }
  return (await isHoldout(env, holdout, place)) ? { place } : { gone: CHANGED }
}

/**
 * The data lie in a private folder while the sample runs; so does what it prints, which may repeat them. A sentence when
 * they are not what they were.
 */
async function inPrivate(trial: Trial, at: SampleAt): Promise<Sample | string> {
  const { holdout } = trial.run.started
  const known = goneIn(trial)
  if (!holdout || known !== null) return known ?? CHANGED
  const { env, heldOut } = trial.run
  const sent = typeof heldOut === 'object' ? heldOut : null
  const found = sent ? null : await placeIfUnchanged(env, holdout)
  if (found && 'gone' in found) {
    trial.record.decide({ is: 'gone', gone: found.gone })
    return found.gone
  }
  const folder = mkdtempSync(join(tmpdir(), `${HELD}${process.pid}-`))
  try {
    mkdirSync(join(folder, 'samples'))
    const file = join(folder, 'data')
    if (found) {
      copyFileSync(found.place, file)
      chmodSync(file, 0o600)
    } else if (!(sent && (await decryptFile(sent.seal, sent.file, file)))) {
      trial.record.decide({ is: 'gone', gone: CHANGED })
      return CHANGED
    }
    return await sampleOnce(trial, at, { folder, environment: { ASSAY_HOLDOUT: file } })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
