/** The time of the next try, from a provider's message. The clock and the zone of the machine come in as arguments. */

export interface Moment {
  /** Milliseconds since 1970. */
  now: number
  /** IANA name of the zone that clock times without one of their own are in. */
  zone: string
}

/** Seconds until another try, as the message says; null when it does not. A time that is over is 0. */
export function waitSeconds(message: string, moment: Moment): number | null {
  const from = (ms: number | null): number | null =>
    ms === null || Number.isNaN(ms) ? null : Math.max(0, (ms - moment.now) / 1000)
  return (
    from(epochIn(message)) ??
    from(stampIn(message, moment.zone)) ??
    spanIn(message) ??
    from(clockTimeIn(message, moment))
  )
}

/** `limit reached|1767225900`, `x-ratelimit-reset: 1767225900`; also in milliseconds. */
function epochIn(message: string): number | null {
  const found = /(?:limit\b[^|\n]*\||\breset[\w-]*["']?\s*(?:at|[:=])?\s*)(\d{13}|\d{10})\b/i.exec(message)
  if (!found?.[1]) return null
  return Number(found[1]) * (found[1].length === 10 ? 1000 : 1)
}

const LEAD = String.raw`(?:\b(?:at|until|till|after|on|from)\s+|\breset\w*\s*:?\s*|\bretry[- _]?after["']?\s*[:=]?\s*["']?)`
const ISO = new RegExp(
  String.raw`${LEAD}(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(Z|UTC|GMT|[+-]\d\d:?\d\d)?`,
  'i',
)
const HTTP = new RegExp(
  String.raw`${LEAD}(?:(?:mon|tue|wed|thu|fri|sat|sun)\w*,\s*)(\d\d? [a-z]{3} \d{4} \d\d:\d\d:\d\d GMT)`,
  'i',
)

function stampIn(message: string, zone: string): number | null {
  const http = HTTP.exec(message)
  if (http?.[1]) return Date.parse(http[1])
  const iso = ISO.exec(message)
  if (iso === null) return null
  const [, year, month, day, hour, minute, second] = iso.map(Number)
  const at = instant(
    { year: year ?? 0, month: month ?? 1, day: day ?? 1, hour: hour ?? 0, minute: minute ?? 0 },
    iso[7] ?? zone,
  )
  return at === null ? null : at + (Number.isNaN(second) ? 0 : (second ?? 0)) * 1000
}

const UNITS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
const AMOUNT = String.raw`(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?|an?\b)`
const UNIT = `(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)(?![a-z])`
const BEFORE_SPAN = String.raw`(?:\b(?:again|retry\w*|reset\w*|available|wait\w*)\b[^.\n]{0,40}?\b(?:after|in|for|within)\s+|\bretry[- _]?after["']?\s*[:=]?\s*["']?|\bretry[- _]?delay["']?\s*[:=]\s*["']?|\bwait\s+)`
const SPAN = new RegExp(
  String.raw`${BEFORE_SPAN}(?:about|approximately|another|up to|~)?\s*((?:${AMOUNT}\s*${UNIT}[\s,]*(?:and\s+)?)+|\d+(?:\.\d+)?(?![\d:.-]*[a-z\d:-]))`,
  'i',
)

/** `retry after 7`, `in 1h2m3s`, `in about 2 minutes and 5 seconds`; without a unit they are seconds. */
function spanIn(message: string): number | null {
  const header = /retry[- _]?after[- _]?ms["']?\s*[:=]\s*["']?(\d+)/i.exec(message)
  if (header?.[1]) return Number(header[1]) / 1000
  const found = SPAN.exec(message)?.[1]
  if (found === undefined) return null
  let seconds = 0
  for (const [, amount = '', unit = ''] of found.matchAll(/(\d[\d,]*(?:\.\d+)?|an?\b)\s*([a-z]*)/gi)) {
    const word = unit.toLowerCase()
    const many = /^an?$/i.test(amount) ? 1 : Number(amount.replaceAll(',', ''))
    seconds += many * (UNITS[/^(ms|milli)/.test(word) ? 'ms' : (word[0] ?? 's')] ?? 1)
  }
  return seconds
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const CLOCK = new RegExp(
  String.raw`\b(?:reset\w*|again|retry\w*|until|till|available|after|at|on)\b[\s:,]*(?:(?:at|on|after|from)\s+)*` +
    String.raw`(?:(?<tomorrow>tomorrow)|(?<weekday>${DAYS.join('|')})[a-z]*|(?<month>${MONTHS.join('|')})[a-z]*\.?\s+(?<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?<year>\d{4}))?)?` +
    String.raw`[\s,]*(?:at\s+)?(?:(?<hour>\d{1,2})(?::(?<minute>\d\d))?(?::\d\d)?\s*(?<half>[ap])\.?m\b\.?|(?<hour24>\d{1,2}):(?<minute24>\d\d)(?::\d\d)?)?` +
    String.raw`(?:\s*\(?(?<zone>[A-Z][A-Za-z]+(?:\/[A-Za-z_+-]+)+|UTC|GMT|Z|[A-Z]{2,4}T|[+-]\d\d:?\d\d)\b)?`,
  'gi',
)
/** For a time that has just passed: a clock of the provider's that is a little ahead of ours. */
const PASSED_MS = 90_000
const HALF_YEAR_MS = 183 * 86_400_000

/** `resets 3pm (UTC)`, `at 15:00`, `Nov 29 at 3pm`, `tomorrow at 9:30 am`, `Monday 3pm`: the next time that it is so. */
function clockTimeIn(message: string, { now, zone: own }: Moment): number | null {
  for (const { groups = {} } of message.matchAll(CLOCK)) {
    const { tomorrow, weekday, month, day, year, half } = groups
    const timed = groups.hour ?? groups.hour24
    if (timed === undefined && month === undefined) continue
    const hour = half === undefined ? Number(timed ?? 0) : (Number(timed) % 12) + (/p/i.test(half) ? 12 : 0)
    const minute = Number(groups.minute ?? groups.minute24 ?? 0)
    if (hour > 23 || minute > 59) continue
    const zone = groups.zone ?? own
    const today = dayIn(now, zone)
    if (today === null) continue
    const at = (plus: number, date = today) =>
      instant({ ...date, day: date.day + plus, hour, minute }, zone) ?? Number.NaN
    if (month !== undefined) {
      const date = { year: today.year, month: MONTHS.indexOf(month.toLowerCase()) + 1, day: Number(day) }
      if (year !== undefined) return at(0, { ...date, year: Number(year) })
      const then = at(0, date)
      return then < now - HALF_YEAR_MS ? at(0, { ...date, year: date.year + 1 }) : then
    }
    const name = weekday?.toLowerCase()
    const weekdayNow = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay()
    const plus =
      tomorrow !== undefined ? 1 : name === undefined ? 0 : (DAYS.indexOf(name) - weekdayNow + 7) % 7
    const then = at(plus)
    return then >= now - PASSED_MS ? then : at(plus + (name === undefined ? 1 : 7))
  }
  return null
}

interface Day {
  year: number
  /** From 1. */
  month: number
  day: number
}

/** Abbreviations that are no names of zones; those of a season mean the zone as it is then. */
const ZONES: Record<string, string> = {
  ...{
    Z: 'UTC',
    GMT: 'UTC',
    PT: 'America/Los_Angeles',
    PST: 'America/Los_Angeles',
    PDT: 'America/Los_Angeles',
  },
  ...{ ET: 'America/New_York', EST: 'America/New_York', EDT: 'America/New_York' },
  ...{ CT: 'America/Chicago', CST: 'America/Chicago', CDT: 'America/Chicago' },
  ...{ MT: 'America/Denver', MST: 'America/Denver', MDT: 'America/Denver' },
  ...{ CET: 'Europe/Paris', CEST: 'Europe/Paris', BST: 'Europe/London' },
}

/** How far a zone's clock is ahead of UTC at a moment, milliseconds; null for an unknown zone. */
function aheadOfUtc(zone: string, at: number): number | null {
  const fixed = /^([+-])(\d\d):?(\d\d)$/.exec(zone)
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: ZONES[zone.toUpperCase()] ?? zone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
    const parts = new Map(format.formatToParts(new Date(at)).map(({ type, value }) => [type, Number(value)]))
    const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = (
      ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
    ).map((name) => parts.get(name))
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
  } catch {
    return null
  }
}

function dayIn(now: number, zone: string): Day | null {
  const ahead = aheadOfUtc(zone, now)
  if (ahead === null) return null
  const there = new Date(now + ahead)
  return { year: there.getUTCFullYear(), month: there.getUTCMonth() + 1, day: there.getUTCDate() }
}

/** The moment at which a clock in the zone shows this; days beyond the month's end are those of the next one. */
function instant(time: Day & { hour: number; minute: number }, zone: string): number | null {
  const shown = Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute)
  const first = aheadOfUtc(zone, shown)
  const ahead = first === null ? null : aheadOfUtc(zone, shown - first)
  return ahead === null ? null : shown - ahead
}

/** Now, where this machine is. */
export const thisMoment = (): Moment => ({
  now: Date.now(),
  zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
})
