/** Loaded with `node --require` into the CLI under test: other programs use all processors while the file BUSY exists, else none does. */
'use strict'
const fs = require('node:fs')

const real = fs.readFileSync
let last = performance.now()
let [busy, idle] = [0, 0]
fs.readFileSync = (path, ...rest) => {
  const text = real(path, ...rest)
  if (path !== '/proc/stat') return text
  const ticks = (performance.now() - last) / 10
  last += 10 * ticks
  if (fs.existsSync(process.env.BUSY)) busy += ticks
  else idle += ticks
  return text.replace(/^(cpu\d+) .*$/gm, `$1 ${busy} 0 0 ${idle} 0 0 0`)
}
