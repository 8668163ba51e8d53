/** Figures and words, as the terminal has them. */
import { percent as share, shown } from '../cli/evaluate/figure.ts'

export { counted, duration as timeSpan, shown as figure } from '../cli/evaluate/figure.ts'

/** A gain with its sign: positive is better. Nothing where there is no share. */
export const percent = (gain: number | null): string =>
  gain === null ? '' : `${gain > 0 ? '+' : ''}${share(gain)}`

/** How much of a cap was used. An amount that was not reported is unknown, and never 0. */
export function usedText({ used, at_least }: { used: number; at_least?: boolean }): string {
  const rough = shown(Number(used.toPrecision(3)))
  if (!at_least) return rough
  return used === 0 ? 'unknown' : `at least ${rough}`
}
