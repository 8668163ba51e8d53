/** Units that a benchmark may print, and the exact way from one to another of the same kind. Pure. */

/** One unit is `times` · 10^`ten` of the base of its kind. */
interface Scale {
  kind: string
  times: number
  ten: number
}

const time = (times: number, ten: number): Scale => ({ kind: 'time', times, ten })
const bytes = (times: number, ten = 0): Scale => ({ kind: 'bytes', times, ten })
const scale = (kind: string, ten: number): Scale => ({ kind, times: 1, ten })
const named = (words: string, of: Scale): [string, Scale][] => words.split(' ').map((word) => [word, of])

const UNITS: ReadonlyMap<string, Scale> = new Map([
  ...named('ps', time(1, -12)),
  ...named('ns nsec nsecs nanosecond nanoseconds', time(1, -9)),
  ...named('us µs μs usec usecs microsecond microseconds', time(1, -6)),
  ...named('ms msec msecs millisecond milliseconds', time(1, -3)),
  ...named('s sec secs second seconds', time(1, 0)),
  ...named('min mins minute minutes', time(60, 0)),
  ...named('h hr hrs hour hours', time(3600, 0)),
  ...named('B byte bytes', bytes(1)),
  ...named('kB KB kbytes', bytes(1, 3)),
  ...named('MB', bytes(1, 6)),
  ...named('GB', bytes(1, 9)),
  ...named('TB', bytes(1, 12)),
  ...named('KiB', bytes(2 ** 10)),
  ...named('MiB', bytes(2 ** 20)),
  ...named('GiB', bytes(2 ** 30)),
  ...named('TiB', bytes(2 ** 40)),
  ...named('bit bits', scale('bits', 0)),
  ...named('kbit', scale('bits', 3)),
  ...named('Mbit', scale('bits', 6)),
  ...named('Gbit', scale('bits', 9)),
  ...named('Hz', scale('frequency', 0)),
  ...named('kHz', scale('frequency', 3)),
  ...named('MHz', scale('frequency', 6)),
  ...named('GHz', scale('frequency', 9)),
  ...named('%', scale('percentage', 0)),
  ...named('‰', scale('percentage', -1)),
  ...named('k K', scale('count', 3)),
  ...named('M', scale('count', 6)),
  ...named('G', scale('count', 9)),
])

const NO_UNIT: Scale = scale('count', 0)
/** What is counted: `kops/s`, `Mreq/s`. */
const COUNTED = /^([kKMG]?)(ops?|reqs?|requests?|iters?|iterations?|items?|it|calls?|allocs?|elem)$/

/** Of a word, of a ratio of two (`MB/s`, `ns/op`) or of no unit; null when the word is not known. */
function scaleOf(unit: string | null): Scale | null {
  if (unit === null) return NO_UNIT
  const slash = unit.indexOf('/')
  if (slash < 0) return UNITS.get(unit) ?? counted(unit)
  const above = slash === 0 ? NO_UNIT : scaleOf(unit.slice(0, slash))
  const below = scaleOf(unit.slice(slash + 1))
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

/** Whether the word is a unit that can be converted into others of its kind. */
export const isUnit = (word: string): boolean => scaleOf(word) !== null

/** The value in the other unit; null when one of the units is unknown, or they are not of one kind. null = no unit. */
export function convert(value: number, from: string | null, to: string | null): number | null {
  if (from === to) return value
  const [is, wanted] = [scaleOf(from), scaleOf(to)]
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
