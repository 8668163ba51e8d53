'use strict'
// Loads the modules of bin/lib, and keeps beside them what V8 compiled, so that the next call need not compile it again.
// Node has this from 22.1 on (`module.enableCompileCache`), for all users in one folder that agents can write to.

const {
  fstatSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} = require('node:fs')
const { basename, join } = require('node:path')
const { Script } = require('node:vm')

const lib = join(__dirname, 'lib')
// V8 refuses what a different version of it made, so two versions of Node must not share a folder.
const compiled = join(lib, `compiled-${process.versions.v8}`)
const loaded = new Map()
const fresh = []

/** Like `require`, with the name of a module of bin/lib or of Node. */
exports.load = function load(name) {
  if (!name.startsWith('./')) return require(name)
  const known = loaded.get(name)
  if (known) return known.exports
  const module = { exports: {} }
  loaded.set(name, module)
  const file = join(lib, name)
  scriptOf(file).runInThisContext()(module.exports, load, module, file, lib)
  return module.exports
}

/** To be called when everything is printed. Where the folder cannot be written, the next call compiles again. */
exports.keepCompiled = () => {
  try {
    if (fresh.length > 0) mkdirSync(compiled, { recursive: true })
    for (const { script, path } of fresh) {
      writeFileSync(`${path}.${process.pid}`, script.createCachedData(), { flush: true })
      renameSync(`${path}.${process.pid}`, path)
    }
  } catch {}
}

function scriptOf(file) {
  const { source, stamp } = contentOf(file)
  const path = join(compiled, `${basename(file)}-${stamp}`)
  const cachedData = bytesOf(path)
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: file,
    cachedData,
  })
  if (cachedData === undefined || script.cachedDataRejected) fresh.push({ script, path })
  return script
}

/** `stamp`: V8 compares no more than the length of a source, so the time of the file tells two builds apart. */
function contentOf(file) {
  const fd = openSync(file)
  try {
    const { size, mtimeMs } = fstatSync(fd)
    return { source: readFileSync(fd, 'utf8'), stamp: `${size}-${mtimeMs}` }
  } finally {
    closeSync(fd)
  }
}

function bytesOf(path) {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
