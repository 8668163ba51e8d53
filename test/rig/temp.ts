import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

let base: string | null = null
let next = 0

/** Holds every folder of this test file. */
export function tempBase(): string {
  base ??= realpathSync(mkdtempSync(join(tmpdir(), 'assay-test-')))
  return base
}

/** A fresh empty folder (its real path), removed with all others of the same test file when that file is done. */
export function makeTemp(name = 'folder'): string {
  const folder = join(tempBase(), `${String(next++).padStart(3, '0')}-${name}`)
  mkdirSync(folder)
  return folder
}

let isolated: NodeJS.ProcessEnv | null = null

/**
 * The environment of everything that the rig starts: own HOME, XDG folders and git identity, none of the caller's
 * settings. One per test file, so that machine-wide leases do not make unrelated tests wait for each other.
 */
export function isolatedEnv(): NodeJS.ProcessEnv {
  if (isolated !== null) return { ...isolated }
  const home = makeTemp('home')
  const under = (name: string) => {
    const folder = join(home, name)
    mkdirSync(folder, { mode: 0o700 })
    return folder
  }
  const gitConfig = join(home, 'gitconfig')
  writeFileSync(gitConfig, '')
  isolated = {
    PATH: process.env.PATH,
    HOME: home,
    USER: 'rig',
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    XDG_CONFIG_HOME: under('config'),
    XDG_CACHE_HOME: under('cache'),
    XDG_STATE_HOME: under('state'),
    XDG_RUNTIME_DIR: under('runtime'),
    GIT_CONFIG_GLOBAL: gitConfig,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
  }
  return { ...isolated }
}

afterAll(() => {
  if (base !== null) removeTree(base)
  base = null
  isolated = null
})

function removeTree(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // A test may have taken write permission away from folders.
    makeWritable(folder)
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o700)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(join(folder, entry.name))
  }
}
