/** One value as a benchmark wrote it: read exactly, or refused with the reason. Nothing is guessed. */
export type ReadValue =
  | { ok: true; value: number | boolean; unit: string | null }
  | { ok: false; reason: string; either?: { value: number; unit: string | null } }

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/
/** `1,002`, `1'234'567.8`: groups of three, all behind the same separator, and no group that begins with 0 in front. */
const GROUPED =
  /^[+-]?[1-9]\d{0,2}([,'’_\u00a0\u2009\u202f])\d{3}(?:\1\d{3})*(?:\.\d+)?(?![\d,'’_\u00a0\u2009\u202f])/
const SEPARATOR = /[,'’_\u00a0\u2009\u202f]/g
/** `s`, `ms`, `%`, `MB/s`, `µs`; no digits, so that `0b11` and `1e5x2` are not a number with a unit. */
const UNIT = /^[ \u00a0\u202f]?(%|‰|\p{L}{1,16}(?:\/\p{L}{1,16})?|\/\p{L}{1,16})$/u
/** A unit that would make an unfinished exponent look like a number. */
const HALF_EXPONENT = /^[eE]$/

/** One comma with three digits behind it and no decimal point: `1,500` is 1500 to some programs and 1.5 to others. */
const EITHER = /^[+-]?\d{1,3},\d{3}$/

/** `grouped`: the text is of a program that may write thousands separators. */
export function readValue(text: string, { grouped = false } = {}): ReadValue {
  const trimmed = text.trim()
  if (trimmed === 'true' || trimmed === 'false') return { ok: true, value: trimmed === 'true', unit: null }
  const groups = grouped ? GROUPED.exec(trimmed)?.[0] : undefined
  const digits = groups ?? NUMBER.exec(trimmed)?.[0]
  if (digits === undefined) return refuse(whyNoNumber(trimmed))
  const rest = trimmed.slice(digits.length)
  const unit = rest === '' ? null : UNIT.exec(rest)?.[1]
  if (/^[+-]?0[xX]/.test(trimmed)) return refuse('hexadecimal is not accepted')
  if (unit === undefined || (unit !== null && HALF_EXPONENT.test(unit))) return refuse(whyNotRest(rest))
  const plain = digits.replace(SEPARATOR, '')
  const value = Number(plain)
  if (!Number.isFinite(value)) return refuse('it is too large for a number')
  if (underflows(plain)) return refuse(`it is too small for a number: ${digits} would be read as 0`)
  if (losesDigits(plain)) return refuse(`it ${tooManyDigits(plain)}`)
  const read = { value: positiveZero(value), unit }
  return groups !== undefined && EITHER.test(groups)
    ? { ok: false, reason: whyEither(read.value), either: read }
    : { ok: true, ...read }
}

/**
 * How a number was written, as far as it says something of other numbers of the program: `groups` by commas for certain
 * (`1,234,567`, `1,234.5`), one `comma` with three digits behind it, one `dot` with three digits behind it, which
 * may separate thousands as well, a decimal `point`, or a `whole` number.
 */
export type Notation = 'groups' | 'comma' | 'dot' | 'point' | 'whole'

export function notationOf(text: string): Notation | null {
  const digits = /^[+-]?[\d.,]+/.exec(text.trim())?.[0] ?? ''
  if (EITHER.test(digits)) return 'comma'
  if (/^[+-]?\d{1,3}(?:(?:,\d{3}){2,}(?:\.\d+)?|,\d{3}\.\d+)$/.test(digits)) return 'groups'
  if (/^[+-]?[1-9]\d{0,2}\.\d{3}$/.test(digits)) return 'dot'
  if (/^[+-]?\d*\.\d+$/.test(digits)) return 'point'
  return /^[+-]?\d+$/.test(digits) ? 'whole' : null
}

/**
 * Whether a whole number has more digits than a number can hold, so that it would be read as one beside it. What
 * JavaScript itself prints for a number that large is that number.
 */
export function losesDigits(digits: string): boolean {
  const whole = /^[+-]?0*(\d{16,400})(?:\.0*)?$/.exec(digits)?.[1]
  if (whole === undefined) return false
  const value = Number(whole)
  return Number.isFinite(value) && BigInt(value) !== BigInt(whole) && String(value) !== whole
}

/** Without its subject. */
export const tooManyDigits = (digits: string): string =>
  `has more digits than a number can hold (${digits} would be read as ${BigInt(Number(digits))}): print it in a larger unit`

/** Whether the written number is not 0 and is 0 as a number: `1e-400`. */
export const underflows = (digits: string): boolean =>
  Number(digits) === 0 && /[1-9]/.test(digits.split(/[eE]/)[0] ?? '')

/** −0 equals 0 but is written otherwise. */
export const positiveZero = (value: number): number => (value === 0 ? 0 : value)

const refuse = (reason: string): ReadValue => ({ ok: false, reason })

function whyNoNumber(text: string): string {
  if (text === '') return 'there is no value'
  if (/^[+-]?(?:nan|inf|infinity|∞)$/i.test(text)) return 'it is not a finite number'
  if (/^[−–—]/.test(text)) return 'its minus sign is a typographic one, not "-"'
  if (/^["'].*["']$/.test(text)) return 'it is quoted text, not a number'
  return 'it is not a number'
}

/** `value`: with the comma between thousands. */
export const whyEither = (value: number): string =>
  `its comma may be a decimal sign (${(value / 1000).toFixed(3)}) or separate thousands (${value}): print it without, or say in the pattern that it separates thousands: (\\d{1,3}(?:,\\d{3})*)`

/** `value`: with the point as a decimal one. */
export const whyPoint = (value: number): string =>
  `a point may be a decimal one (${value.toFixed(3)}) or separate thousands (${Math.round(1000 * value)}), since a whole number was printed as well: print it without separators, as most programs do under LC_ALL=C`

/** What to do about a number that a program writes in a way that is not read, although a pattern may hold all of it. */
export function adviceOn(written: string): string {
  if (/\dm\d+[.,]\d+s/.test(written))
    return 'write measure: { read: gnu-time } for what `time` of bash prints, or let the benchmark print seconds, such as 62.345 s for 1m2.345s'
  if (/\d:\d/.test(written)) return 'let the benchmark print the time in one unit, such as 179.5 s for 2:59.5'
  if (/\d[\s\u00a0\u2009\u202f]\d/.test(written)) return 'let the benchmark print it without spaces'
  if (/\d,\d/.test(written))
    return 'let the benchmark print it without commas, or, where the comma separates two fields, write it in the pattern'
  return 'let the benchmark print one number and one unit, such as 160 s'
}

function whyNotRest(rest: string): string {
  if (/^:\d/.test(rest))
    return 'it is a time in several parts: write it in one unit, such as 179.5 s for 2:59.5'
  if (/^,\d/.test(rest))
    return 'it has a comma: write a decimal point (1.5), and thousands without a separator (200000), as most programs do under LC_ALL=C'
  if (/^_\d/.test(rest)) return 'it has an underscore among its digits'
  if (/^ \d/.test(rest))
    return 'there is a space among its digits, or a second number after it: write one number without spaces'
  return `there is text after the number that is not a unit: ${JSON.stringify(rest.slice(0, 40))}`
}
