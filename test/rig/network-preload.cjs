/** Loaded with `node --require` into the CLI under test: every file system says that it is NFS. */
'use strict'
const fs = require('node:fs')

const real = fs.statfsSync
fs.statfsSync = (...args) => ({ ...real(...args), type: 0x6969 })
