/** What a person says to a loop that runs, and to whom it was passed on. */
import { answered } from '../ledger/answered.ts'
import type { State, Steer } from '../ledger/state.ts'
import { fail, type Result } from '../result.ts'
import type { OpenRun } from './open.ts'

/** Of one word, in characters. */
const LONGEST = 2000

/** To the next round's briefs, or to the next agent call of the experiment. The same key says it once. */
export function steer(
  run: OpenRun,
  { experiment, text, key }: { experiment: string | null; text: string; key: string | null },
): Result<Steer & { repeated?: true }> {
  const status = experiment === null ? null : run.ledger.state.experiments.get(experiment)?.status
  if (status === 'discarded' || status === 'pruned' || status === 'revoked') {
    return fail({
      kind: 'refused',
      code: `is_${status}`,
      message: `${experiment} is ${status}: no agent is asked about it any more`,
      hint: 'leave the experiment out, to tell the next round: assay steer TEXT',
    })
  }
  const recorded = run.ledger.record<'steered'>(
    { type: 'steered', experiment, text: text.slice(0, LONGEST) },
    run.clock(),
    key,
  )
  return answered(recorded, (event) => {
    const said = run.ledger.state.steers.find(({ id }) => id === event.id)
    if (!said) throw new Error('a word that was accepted is not there')
    return said
  })
}

/** What waits for this experiment, or, with null, for the next round. */
export const waitingSteers = ({ steers }: State, experiment: string | null): Steer[] =>
  steers.filter((one) => one.delivered === null && one.experiment === experiment)

/** After an agent that was told has answered: a call that was cut short is made again, words included. */
export function recordDelivery(
  run: OpenRun,
  { steers, role, experiment }: { steers: readonly Steer[]; role: string; experiment: string },
): void {
  run.ledger.propose<'steering_delivered'>(
    { type: 'steering_delivered', steering: steers.map(({ id }) => id), role, experiment },
    run.clock(),
  )
}
