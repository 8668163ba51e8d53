/**
 * Whether the recorded value of an experiment holds where the candidate is measured. Without noise a candidate is compared with
 * records: if another kind of machine wrote them, or the machine changed, they are no values of this one, and a sample tells.
 */
import type { Sample, Stage } from '../ledger/events.ts'
import { isSameValue } from '../ledger/same-value.ts'
import { type Experiment, nodeValue } from '../ledger/state.ts'
import { differencesOf, machineOf } from '../run/machine.ts'
import { faultOfOther } from './pairs.ts'
import { addFault, placeOther, sampleOnce, type Trial } from './trial.ts'

/**
 * Decides which of these experiments must be measured here, because another kind of machine judged them. Only before the first
 * sample: a process that resumes the attempt goes by the record.
 */
export function noteOtherMachines({ run, record, source }: Trial, ids: readonly (string | null)[]): void {
  const here = source.machine()
  if (here === null || record.taken > 0) return
  for (const id of new Set(ids)) {
    const node = id === null ? undefined : run.ledger.state.experiments.get(id)
    const then = node && machineOf(run.ledger.state, node)
    const different = then ? differencesOf(then, here) : null
    if (node && different !== null && otherMachine({ record }, node.id) === null)
      record.decide({ is: 'asked', asked: node.id, because: different })
  }
}

/** How the machine that judged an experiment differs from this one, in words; null when it does not, as far as is known. */
export const otherMachine = ({ record }: Pick<Trial, 'record'>, experiment: string): string | null =>
  record.decided('asked').find(({ asked }) => asked === experiment)?.because ?? null

/** A fresh sample of an experiment, which is placed; null when it has none, and a fault says why. */
export async function sampleOfOther(
  trial: Trial,
  other: Experiment,
  { stage, pair }: { stage: Stage; pair: number },
): Promise<Sample | null> {
  if (!(await placeOther(trial, other.id))) return null
  const sample = await sampleOnce(trial, { stage, pair, side: 'parent' })
  const fault = faultOfOther(trial.run, sample)
  if (fault) addFault(trial, fault, 'parent')
  return fault ? null : sample
}

/** A clause: its value is another one now; null when it is the recorded one. `because`: what is known to be different. */
export function valueMoved(other: Experiment, { value }: Sample, because: string | null): string | null {
  if (isSameValue(value, nodeValue(other))) return null
  const how = because === null ? '' : `, on another kind of machine (${because})`
  return `${other.id} gives ${value} here, and gave ${nodeValue(other)} when it was judged${how}`
}

/** What to do about a value that moves although the spec says that none does. */
export const ONE_KIND =
  'let one kind of machine measure (executor.constraint names it), or write noise.mode: auto'
