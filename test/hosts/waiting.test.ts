import { expect, test } from 'vitest'
import { waitSeconds } from '../../cli/hosts/waiting.ts'

const HOUR = 3600
/** Saturday, 28 November 2026, 14:00 in UTC, 15:00 in Berlin, 09:00 in New York. */
const moment = { now: Date.parse('2026-11-28T14:00:00Z'), zone: 'Europe/Berlin' }

test.each([
  ['Please retry in 34.07s.', 34.07],
  ['rate limited: retry after 7', 7],
  ['Retry-After: 12', 12],
  ['Retry-After: Sat, 28 Nov 2026 14:02:00 GMT', 120],
  ['retry-after-ms: 2500', 2.5],
  ['{"retry_after": 3}', 3],
  ['"retryDelay": "34s"', 34],
  ['retry after 2 minutes', 120],
  ['retry after 1020 s', 1020],
  ['retry after 1,020 seconds', 1020],
  ['Rate limit hit, try again in 17 minutes', 17 * 60],
  ['Try again in 250ms', 0.25],
  ['try again in 3 days 4 hours 5 minutes', 3 * 86_400 + 4 * HOUR + 300],
  ['Try again in 1h2m3s', 3723],
  ['Try again in 1m 5s.', 65],
  ['try again in about 2 minutes and 5 seconds', 125],
  ['Please wait 30 seconds and try again', 30],
  ['try again in an hour', HOUR],
  ['Your quota will reset after 2h3m12s.', 7392],
  ['limit of 5 requests in 1 minute reached, try again at 16:30', 1.5 * HOUR],
  ['usage limit reached|1795875000', 600],
  ['x-ratelimit-reset: 1795875000', 600],
  ['resets at 2026-11-28T14:10:00Z', 600],
  ['rate limit exceeded, try again at 2026-11-28T17:00Z', 3 * HOUR],
  ['try again at 2026-11-28 17:00:00 UTC', 3 * HOUR],
  ['until 2026-11-28T17:00:00+01:00', 2 * HOUR],
  ['retry after 2026-11-28 17:00', 2 * HOUR],
  ['resets at 2025-12-31T00:00:00Z', 0],
  ['resets 3pm (UTC)', HOUR],
  ['resets at 17:00', 2 * HOUR],
  ['resets at 15:00 (America/New_York)', 6 * HOUR],
  ['5-hour limit reached ∙ resets 3am', 12 * HOUR],
  ['resets 3pm', 0],
  ['resets 2pm', 23 * HOUR],
  ['resets 12am', 9 * HOUR],
  ['resets at 4:30 p.m. PST', 10.5 * HOUR],
  ['try again at 5:03 PM', 2 * HOUR + 180],
  ['try again at Nov 29th, 2026 3:00 PM', 24 * HOUR],
  ['Weekly limit reached ∙ resets Nov 30 at 3pm (UTC)', 49 * HOUR],
  ['resets Jan 2, 3pm (UTC)', 35 * 24 * HOUR + HOUR],
  ['resets Monday 3pm', 48 * HOUR],
  ['try again tomorrow at 9:30 am', 18.5 * HOUR],
  ['try again later', null],
  ['we will look at it in the morning', null],
  ['at Object.run (file.js:12:30)', null],
  ['connect timed out in 3 s', null],
  ['resets at 25:00', null],
  ['resets 3pm (Mars/Olympus)', null],
])('%s: a different wait than %s s is read', (message, seconds) => {
  expect(waitSeconds(message, moment)).toBe(seconds)
})

test('a clock time on the day on which clocks change is an hour off', () => {
  const eve = { now: Date.parse('2026-03-28T20:00:00Z'), zone: 'Europe/Berlin' }
  expect(waitSeconds('resets 9am', eve)).toBe(11 * HOUR)
})
