/** The baseline, which every epoch begins with. Pure. */
import { BASELINE, type Experiment, type State } from './state.ts'

/**
 * Of a later epoch that has no score of it: the one experiment that is judged again as it was kept, whatever became of it
 * there. All others rest on it, so it is never edited.
 */
export function isOutdatedBaseline(state: State, { id, status, epoch }: Experiment): boolean {
  if (id !== BASELINE || state.epoch === 1) return false
  return status === 'kept' ? epoch < state.epoch : status === 'rejected' || status === 'failed'
}
