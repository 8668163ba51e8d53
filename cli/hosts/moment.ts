import type { Moment } from './waiting.ts'

/** Now, where this machine is. */
export const thisMoment = (): Moment => ({
  now: Date.now(),
  zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
})
