/**
 * Loaded with `node --require` into the CLI under test: its clock of durations shows the milliseconds in WALL_FILE, and
 * runs a thousand times slower than the real one beside. So a benchmark that writes there says how long it takes.
 */
'use strict'
const { readFileSync } = require('node:fs')

const real = performance.now.bind(performance)
performance.now = () => Number(readFileSync(process.env.WALL_FILE, 'utf8')) + real() / 1000
