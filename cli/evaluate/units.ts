/** Units that a benchmark may print, and the exact way from one to another of the same kind. Pure. */

/** One unit is `times` · 10^`ten` of the base of its kind. */
interface Scale {
  kind: string
  times: number
  ten: number
}

const time = (times: number, ten: number): Scale => ({ kind: 'time', times, ten })
const scale = (kind: string, ten: number): Scale => ({ kind, times: 1, ten })
const named = (words: string, of: Scale): [string, Scale][] => words.split(' ').map((word) => [word, of])

/** Of a prefix in front of a word, with the power of ten; in front of bytes, bits and counts some mean powers of 1024. */
const PREFIXES = [
  ['kK', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
] as const
const prefixed = (kind: string, words: (prefix: string) => string): [string, Scale][] =>
  PREFIXES.flatMap(([letters, ten]) => [...letters].flatMap((one) => named(words(one), scale(kind, ten))))
const binary = (kind: string, words: (prefix: string) => string): [string, Scale][] =>
  ['K', 'M', 'G', 'T'].flatMap((one, at) => named(words(one), { kind, times: 2 ** (10 * (at + 1)), ten: 0 }))

/** `kb` and `Mb` are bits to some programs and bytes to others: comparable only with one another. */
const EITHER = 'bits or bytes'

const UNITS: ReadonlyMap<string, Scale> = new Map([
  ...named('ps', time(1, -12)),
  ...named('ns nsec nsecs nanosecond nanoseconds', time(1, -9)),
  ...named('us µs μs usec usecs µsec μsec microsecond microseconds', time(1, -6)),
  ...named('ms msec msecs millisecond milliseconds', time(1, -3)),
  ...named('s sec secs second seconds', time(1, 0)),
  ...named('min mins minute minutes', time(60, 0)),
  ...named('h hr hrs hour hours', time(3600, 0)),
  ...named('B byte Byte bytes Bytes', scale('bytes', 0)),
  ...named('kbytes', scale('bytes', 3)),
  ...prefixed('bytes', (k) => `${k}B ${k}Byte ${k}Bytes`),
  ...prefixed('bytes/time', (k) => `${k}Bps`),
  ...binary('bytes', (k) => `${k}iB`),
  ...named('bit bits', scale('bits', 0)),
  ...prefixed('bits', (k) => `${k}bit ${k}bits`),
  ...named('bps', scale('bits/time', 0)),
  ...prefixed('bits/time', (k) => `${k}bps`),
  ...prefixed(EITHER, (k) => `${k}b ${k.toLowerCase()}b`),
  ...binary(EITHER, (k) => `${k}ib ${k.toLowerCase()}ib`),
  ...named('Hz', scale('frequency', 0)),
  ...prefixed('frequency', (k) => `${k}Hz`),
  ...named('% percent', scale('percentage', 0)),
  ...named('‰', scale('percentage', -1)),
  ...prefixed('count', (k) => k),
  ...binary('count', (k) => `${k}i`),
])

const NO_UNIT: Scale = scale('count', 0)
/** What is counted: `kops/s`, `Mreq/s`. */
const COUNTED =
  /^([kKMGT]?)(ops?|reqs?|requests?|iters?|iterations?|items?|it|calls?|allocs?|elem|tok|tokens?|FLOPS?|FLOP|flops?|cycles?|IOPS|iops|[rqt]ps)$/
/** Multiples that may be powers of 1024 all the same. */
const LOOSE = new Set(['bytes', 'bytes/time', EITHER, 'count'])

/** Of a word, of a ratio of two (`MB/s`, `ns/op`) or of no unit; null when the word is not known. */
function scaleOf(unit: string | null, as1024 = false): Scale | null {
  if (unit === null) return NO_UNIT
  const slash = unit.indexOf('/')
  if (slash < 0) {
    const found = UNITS.get(unit) ?? counted(unit)
    if (!as1024 || found === null || found.ten < 3 || !LOOSE.has(found.kind)) return found
    return { ...found, times: 2 ** ((10 * found.ten) / 3), ten: 0 }
  }
  const above = slash === 0 ? NO_UNIT : scaleOf(unit.slice(0, slash), as1024)
  const below = scaleOf(unit.slice(slash + 1), as1024)
  if (above === null || below === null || unit.slice(slash + 1).includes('/')) return null
  // A rate per minute is a 60th of one per second: a quotient, which the two parts keep exact.
  return {
    kind: `${above.kind}/${below.kind}`,
    times: above.times / below.times,
    ten: above.ten - below.ten,
  }
}

function counted(word: string): Scale | null {
  const match = COUNTED.exec(word)
  if (match === null) return null
  const [, prefix = '', what = ''] = match
  return { kind: what.replace(/s$/, ''), times: 1, ten: UNITS.get(prefix)?.ten ?? 0 }
}

/** Whether two words differ by a prefix of units only: `kfoo` and `Mfoo`. */
export function areKin(one: string, other: string): boolean {
  const rest = (word: string) => [word, word.replace(/^(?:[KMGT]i|[kKMGTmuµμnp])(?=..)/, '')]
  return one !== other && rest(one).some((part) => rest(other).includes(part))
}

/** Whether the word counts things, as many words of a text do: `requests`, `calls`, but not `Mops`. */
export const isCounted = (word: string): boolean => COUNTED.exec(word)?.[1] === ''

/** Whether the word is a unit that can be converted into others of its kind. */
export const isUnit = (word: string): boolean => scaleOf(word) !== null

/** The value in the other unit; null when one of the units is unknown, or they are not of one kind. null = no unit. */
export const convert = (value: number, from: string | null, to: string | null): number | null =>
  converted(value, from, to, false)

/** The same where K, M, G and T in front of bytes, `b` and counts are powers of 1024, as some programs mean them. */
export const convertAs1024 = (value: number, from: string | null, to: string | null): number | null =>
  converted(value, from, to, true)

function converted(value: number, from: string | null, to: string | null, as1024: boolean): number | null {
  if (from === to) return value
  const [is, wanted] = [scaleOf(from, as1024), scaleOf(to, as1024)]
  if (is === null || wanted === null || is.kind !== wanted.kind) return null
  const ratio = is.times / wanted.times
  // Whole factors are exact where their inverse (1/60) is not.
  const scaled = ratio >= 1 ? value * ratio : value / (wanted.times / is.times)
  return timesTenTo(scaled, is.ten - wanted.ten)
}

/** value · 10^power, rounded once: 1.0021 s are 1002.1 ms, which a product does not give. */
function timesTenTo(value: number, power: number): number {
  if (power === 0 || !Number.isFinite(value)) return value
  const [digits = '0', exponent = '0'] = value.toExponential().split('e')
  return Number(`${digits}e${Number(exponent) + power}`)
}

/** Milliseconds in one of the unit; null when it is no unit of time. */
export const millisecondsIn = (unit: string): number | null => convert(1, unit, 'ms')

/** What a part of a name may be short for: `total_ms`, but not `h_index`. */
const IN_NAMES = /^(?:ns|us|µs|μs|ms|msec|s|secs?|seconds?|min|minutes?|hours?)$/

/** The same for a word of a metric's name. */
export const millisecondsOfWord = (word: string): number | null =>
  IN_NAMES.test(word) ? millisecondsIn(word) : null
