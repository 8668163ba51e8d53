export { counted } from '../evaluate/figure.ts'

/** Numbers as people read them in a terminal. */
export const figure = (value: number | null): string =>
  value === null ? 'unknown' : String(Number(value.toPrecision(6)))

/** 0.1234 → `+12.3 %`; positive is better. */
export const percent = (improvement: number | null): string =>
  improvement === null ? '' : `${improvement >= 0 ? '+' : ''}${Number((improvement * 100).toPrecision(3))} %`

/** 90500 → `1.5 min`. */
export function timeSpan(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const [value, unit] =
    ms < 60_000 ? [ms / 1000, 's'] : ms < 3_600_000 ? [ms / 60_000, 'min'] : [ms / 3_600_000, 'h']
  return `${Number(value.toPrecision(2))} ${unit}`
}
