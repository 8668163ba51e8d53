/** Figures and words, as the terminal has them. */
import { duration, roughly, percent as share, shown, counted as told } from '../cli/evaluate/figure.ts'

export { duration as timeSpan, gainText, shown as figure } from '../cli/evaluate/figure.ts'

/** `1 experiment`, `69,462 experiments` */
export const counted = (count: number, one: string, many?: string): string =>
  told(count, one, many).replace(String(count), count.toLocaleString('en'))

/** How many experiments a budget still pays for: an estimate, so no more than two digits of it are meant. */
export const leftText = ({ count }: { count: number }): string =>
  count === 0
    ? 'no experiment is left'
    : `about ${counted(count < 1000 ? count : Number(count.toPrecision(2)), 'experiment')} left`

/** Bytes below `.assay`, of which not all are counted. */
export const diskText = (bytes: number): string =>
  bytes < 1e9 ? `${roughly(bytes / 1e6, 2)} MB or more` : `${roughly(bytes / 1e9, 2)} GB or more`

export const capWord = (cap: string): string => (cap === 'usd' ? 'dollars' : cap)

/** A gain with its sign: positive is better. Nothing where there is no share. */
export const percent = (gain: number | null): string =>
  gain === null ? '' : `${gain > 0 ? '+' : ''}${share(gain)}`

/** `16 of 40 experiments`, `12 min 05 s of 2 h`, `at least 5 of 20 dollars` */
export function capText(cap: string, used: number, limit: number, atLeast: boolean): string {
  const amount = usedOfCap(cap, { used, limit, at_least: atLeast })
  return cap === 'hours' ? amount : `${amount} ${capWord(cap)}`
}

/** The same where the cap is named beside it. */
export function usedOfCap(
  cap: string,
  { used, limit, at_least }: { used: number; limit: number | null; at_least: boolean },
): string {
  const amount = cap === 'hours' ? duration(used * HOUR_MS) : usedText({ used, at_least })
  if (limit === null) return `${amount}, no cap`
  return `${amount} of ${cap === 'hours' ? limitText(limit * HOUR_MS) : shown(limit)}`
}

const HOUR_MS = 3_600_000

/** A limit, which is a round number most of the time: `2 h`, `30 min`, `1 min 30 s` */
export const limitText = (ms: number): string => duration(ms).replace(/ 00 (s|min)$/, '')

/** How much of a cap was used. An amount that was not reported is unknown, and never 0. */
export function usedText({ used, at_least }: { used: number; at_least?: boolean }): string {
  const rough = shown(Number(used.toPrecision(3)))
  if (!at_least) return rough
  return used === 0 ? 'unknown' : `at least ${rough}`
}
