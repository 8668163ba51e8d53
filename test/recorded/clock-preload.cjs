/** Loaded with `node --require` into the CLI under test: its clock stands still at CLOCK_AT, in ms since 1970. */
'use strict'
const RealDate = Date
const now = Number(process.env.CLOCK_AT)

globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [now] : args))
  }
  static now() {
    return now
  }
}
