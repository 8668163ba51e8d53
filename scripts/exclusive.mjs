import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

let count = 0

/**
 * Runs `work` while no other process on this machine runs it under the same lock file.
 * The file holds the owner's pid; a lock is broken only when its owner is dead.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function exclusive(file, work) {
  mkdirSync(dirname(file), { recursive: true })
  const mine = `${file}.${process.pid}.${++count}`
  writeFileSync(mine, `${process.pid}\n`)
  try {
    while (!take(mine, file)) {
      breakIfDead(file)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    try {
      return await work()
    } finally {
      rmSync(file, { force: true })
    }
  } finally {
    rmSync(mine, { force: true })
  }
}

function take(mine, file) {
  try {
    linkSync(mine, file)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

function breakIfDead(file) {
  const owner = ownerOf(file)
  if (owner === null || isAlive(owner)) return
  const aside = `${file}.dead.${process.pid}`
  try {
    renameSync(file, aside)
  } catch {
    return
  }
  // Between the look and the rename a living owner may have taken the lock: then it goes back.
  if (ownerOf(aside) !== owner) take(aside, file)
  rmSync(aside, { force: true })
}

function ownerOf(file) {
  try {
    return Number(readFileSync(file, 'utf8').trim())
  } catch {
    return null
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
