/** Figures and words, as the terminal has them. */
import { percent as share } from '../cli/evaluate/figure.ts'

export { counted, duration as timeSpan, shown as figure } from '../cli/evaluate/figure.ts'

/** A gain with its sign: positive is better. Nothing where there is no share. */
export const percent = (gain: number | null): string =>
  gain === null ? '' : `${gain > 0 ? '+' : ''}${share(gain)}`
