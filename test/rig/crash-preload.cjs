/**
 * Loaded with `node --require` into the CLI under test and all that it starts: counts the moments at which a process
 * may die (a line appended to a record, a rename, a link, a folder, a child), and dies at the planned one as by SIGKILL.
 * What it needs is in CRASH_FOLDER: `plan.json`; what it leaves there: `pids`, `moments`, `acknowledged`, `died-0`, …
 */
'use strict'
const fs = require('node:fs')
const childProcess = require('node:child_process')
const { join } = require('node:path')

const folder = process.env.CRASH_FOLDER
const real = { ...fs, spawn: childProcess.spawn }
const plan = JSON.parse(real.readFileSync(join(folder, 'plan.json'), 'utf8'))
const line = plan?.line === undefined ? null : new RegExp(plan.line)
const named = plan?.name === undefined ? null : new RegExp(plan.name)
let matches = 0
/** Of the deaths that are planned by number: the first that is not past. */
let next = 0

real.appendFileSync(join(folder, 'pids'), `${process.pid}\n`)

/** The moment's name joins the list of all processes; answers its number, from 1. */
function moment(name) {
  const fd = real.openSync(join(folder, 'moments'), 'a')
  // Names are padded, so that the size of the file tells how many there are.
  const bytes = Buffer.from(
    `${name
      .replace(/[^\x20-\x7e]/g, ' ')
      .slice(0, 63)
      .padEnd(63)}\n`,
  )
  real.writeSync(fd, bytes)
  const number = real.fstatSync(fd).size / bytes.length
  real.closeSync(fd)
  return number
}

/** The death that is planned for now; null = live on. */
function deathAt(name, text) {
  const number = moment(name)
  if (plan === null) return null
  if (line !== null || named !== null) {
    if (named !== null ? !named.test(name) : text === null || !line.test(text)) return null
    matches += 1
    return matches === (plan.nth ?? 1) ? { ...plan, number: 0 } : null
  }
  while (next < plan.deaths.length && real.existsSync(join(folder, `died-${next}`))) next += 1
  const death = plan.deaths[next]
  return death !== undefined && number >= death.moment ? { ...death, number: next } : null
}

/** Once: of several processes at that moment, one is first. */
function die({ number, who }) {
  try {
    real.closeSync(real.openSync(join(folder, `died-${number}`), 'wx'))
  } catch {
    return
  }
  const pids = real.readFileSync(join(folder, 'pids'), 'utf8').split('\n').filter(Boolean).map(Number)
  const others = pids.filter((pid) => pid !== process.pid && isOurs(pid))
  const victims = { one: [], root: others.slice(0, 1), all: others }[who]
  for (const pid of victims) kill(pid)
  // The first process, when it is the only victim, dies for the others to go on without it.
  if (who === 'root' && pids[0] !== process.pid) return
  if (who === 'all') kill(process.pid)
  process.kill(process.pid, 'SIGKILL')
  for (;;);
}

const isOurs = (pid) => {
  try {
    return real.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`CRASH_FOLDER=${folder}\0`)
  } catch {
    return false
  }
}

/** With its group when it leads one: git and whatever else it runs. */
function kill(pid) {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL')
    } catch {
      // Gone, or no leader.
    }
  }
}

/** Records that are open for appending, by descriptor. */
const records = new Map()

fs.openSync = (path, flags, ...rest) => {
  const fd = real.openSync(path, flags, ...rest)
  if (String(path).endsWith('.jsonl') && typeof flags === 'number' && flags & real.constants.O_APPEND)
    records.set(fd, { path: String(path), text: '' })
  return fd
}
fs.closeSync = (fd) => {
  records.delete(fd)
  return real.closeSync(fd)
}
fs.writeSync = (fd, data, ...rest) => {
  const record = records.get(fd)
  if (record === undefined) return real.writeSync(fd, data, ...rest)
  const text = String(data).trimEnd().split('\n').at(-1)
  const { type, step, state } = JSON.parse(text)
  const death = deathAt(`line ${type ?? [step, state].filter(Boolean).join(' ')}`, text)
  if (death?.how === 'before') die(death)
  if (death?.how === 'torn') {
    real.writeSync(fd, data.subarray(0, data.length >> 1))
    die(death)
  }
  const written = real.writeSync(fd, data, ...rest)
  record.text = text
  if (death?.how === 'after') die(death)
  return written
}
fs.fdatasyncSync = (fd) => {
  real.fdatasyncSync(fd)
  const { id } = JSON.parse(records.get(fd)?.text || '{}')
  if (id !== undefined) real.appendFileSync(join(folder, 'acknowledged'), `${id}\n`)
}

for (const [name, owner] of [
  ['renameSync', fs],
  ['symlinkSync', fs],
  ['mkdirSync', fs],
  ['unlinkSync', fs],
  ['spawn', childProcess],
]) {
  const original = real[name]
  owner[name] = (...args) => {
    const death = deathAt(
      `${name} ${[args[0], ...(Array.isArray(args[1]) ? args[1] : [])].slice(-3).join(' ')}`,
      null,
    )
    if (death?.how === 'before') die(death)
    const answer = original(...args)
    if (death) die(death)
    return answer
  }
}
