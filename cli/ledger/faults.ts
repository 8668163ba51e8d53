import type { SampleFault } from './events.ts'

/** Whether a fault says nothing about the candidate: the machine is broken, or somebody interrupted the work. */
export const isOfMachine = ({ reason }: Pick<SampleFault, 'reason'>): boolean =>
  reason === 'environment' || reason === 'aborted'
