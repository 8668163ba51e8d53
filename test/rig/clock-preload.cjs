/**
 * Loaded with `node --require` into the CLI under test: its clock is ahead by as many minutes as CLOCK_FILE says at the
 * moment, and its intervals of a minute or more follow that clock.
 */
'use strict'
const { readFileSync } = require('node:fs')

const RealDate = Date
const realInterval = setInterval
const now = () => RealDate.now() + Number(readFileSync(process.env.CLOCK_FILE, 'utf8')) * 60_000
const LOOK_MS = 10

globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [now()] : args))
  }
  static now() {
    return now()
  }
}

globalThis.setInterval = (act, ms, ...args) => {
  if (ms < 60_000) return realInterval(act, ms, ...args)
  let due = now() + ms
  return realInterval(() => {
    if (now() < due) return
    due = now() + ms
    act(...args)
  }, LOOK_MS)
}
