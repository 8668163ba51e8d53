#!/usr/bin/env node
'use strict'
// CommonJS, and as little as possible: an empty ES module starts slower than all of this.

const [major, minor] = process.versions.node.split('.').map(Number)

if (process.platform === 'win32') {
  refuse('Assay runs on Linux and macOS; on Windows use WSL')
} else if (major < 20 || (major === 20 && minor < 19)) {
  refuse(`Assay needs Node 20.19 or later; this is ${process.versions.node}`)
} else if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-v')) {
  process.stdout.write(`assay ${require('../package.json').version}\n`)
} else {
  start()
}

async function start() {
  if (!require('node:fs').existsSync(`${__dirname}/lib/main.cjs`)) {
    refuse('Assay is not built yet; in its folder, run: npm run build')
    return
  }
  const { load, keepCompiled } = require('./modules.cjs')
  const code = await load('./main.cjs').main(process.argv.slice(2))
  keepCompiled()
  // Everything is printed by now; a stray handle must not keep a finished command alive.
  process.exit(code)
}

function refuse(message) {
  if (process.argv.includes('--json')) {
    const problem = { code: 'cannot_start', message }
    process.stdout.write(`${JSON.stringify({ ok: false, problem })}\n`)
  } else {
    process.stderr.write(`assay: ${message}\n`)
  }
  process.exitCode = 2
}
