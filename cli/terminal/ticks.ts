/** An axis that begins and ends on round numbers. */
export interface Scale {
  low: number
  high: number
  /** Rows to draw, so that ticks stand evenly. */
  rows: number
  ticks: { value: number; label: string }[]
}

const STEPS = [1, 2, 2.5, 5]

/**
 * Four to six evenly spaced round ticks (with fewer than six rows, three may do) that cover `low … high`, with the
 * least space lost: to values that do not occur, and to rows that do not divide evenly. Equal ends are spread first.
 */
export function scaleFor(low: number, high: number, rows: number): Scale {
  const [from, to] = spread(low, high)
  const least = rows < 6 ? 2 : 3
  let best: { first: number; last: number; step: number; digits: number; rows: number; lost: number } | null =
    null
  const power = Math.floor(Math.log10(to - from))
  for (let exponent = power - 2; exponent <= power + 1; exponent++)
    for (const factor of STEPS) {
      const step = factor * 10 ** exponent
      const first = Math.floor(from / step + 1e-9)
      const last = Math.ceil(to / step - 1e-9)
      const gaps = last - first
      if (!(gaps >= least && gaps <= Math.min(5, rows - 1))) continue
      const used = gaps * Math.floor((rows - 1) / gaps)
      const lost = (gaps * step) / (to - from) - 1 + (rows - 1 - used) / (rows - 1)
      if (best !== null && lost >= best.lost - 1e-9) continue
      best = { first, last, step, digits: factor === 2.5 ? 1 - exponent : -exponent, rows: used + 1, lost }
    }
  if (best === null)
    return { low: from, high: to, rows, ticks: [from, to].map((value) => ({ value, label: short(value) })) }
  const { first, last, step, digits } = best
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => {
    const value = (first + index) * step
    return { value, label: label(value, step, digits) }
  })
  return { low: first * step, high: last * step, rows: best.rows, ticks }
}

/** Ends that are equal, or that differ by less than numbers can show, get room around them. */
function spread(low: number, high: number): [number, number] {
  const size = Math.max(Math.abs(low), Math.abs(high))
  if (high - low > Math.max(size * 1e-9, 1e-290)) return [low, high]
  const room = size > 1e-280 ? size * 0.05 : 1
  return [low - room, high + room]
}

function label(value: number, step: number, digits: number): string {
  const size = Math.abs(value)
  if (size < step / 2) return '0'
  const fixed = digits > 0 ? value.toFixed(Math.min(digits, 100)) : String(Math.round(value))
  if (fixed.length <= 9 && size < 1e9) return minus(fixed)
  const significant = Math.max(0, Math.ceil(Math.log10(size / step) + (digits > 0 ? 1 : 0)))
  return minus(
    value
      .toExponential(Math.min(significant, 12))
      .replace(/\.?0+e/, 'e')
      .replace('e+', 'e'),
  )
}

const short = (value: number): string => minus(String(Number(value.toPrecision(4))))
const minus = (text: string): string => text.replace(/^-/, '−')
