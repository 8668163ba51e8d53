/** Figures and words, as the terminal has them. */
import { percent as share, shown, counted as told } from '../cli/evaluate/figure.ts'

export { duration as timeSpan, gainText, shown as figure } from '../cli/evaluate/figure.ts'

/** `1 experiment`, `69,462 experiments` */
export const counted = (count: number, one: string, many?: string): string =>
  told(count, one, many).replace(String(count), count.toLocaleString('en'))

/** How many experiments a budget still pays for. */
export const leftText = ({ count }: { count: number }): string =>
  count === 0 ? 'no experiment is left' : `about ${counted(count, 'experiment')} left`

export const capWord = (cap: string): string => (cap === 'usd' ? 'dollars' : cap)

/** A gain with its sign: positive is better. Nothing where there is no share. */
export const percent = (gain: number | null): string =>
  gain === null ? '' : `${gain > 0 ? '+' : ''}${share(gain)}`

/** How much of a cap was used. An amount that was not reported is unknown, and never 0. */
export function usedText({ used, at_least }: { used: number; at_least?: boolean }): string {
  const rough = shown(Number(used.toPrecision(3)))
  if (!at_least) return rough
  return used === 0 ? 'unknown' : `at least ${rough}`
}
