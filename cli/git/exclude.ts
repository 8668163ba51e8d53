/** The one line that Assay writes into the user's repository: `info/exclude` of its common folder. */

import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Site } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'

export const EXCLUDE_LINE = '/.assay/'

/**
 * Appends the line if it is absent. `added` tells whether it was, so that uninstalling removes only what is ours.
 * Problem `exclude_not_writable`.
 */
export async function addExclude(commonDir: string): Promise<Result<{ added: boolean }>> {
  const file = excludeFile(commonDir)
  return attempt(file, async () => {
    const text = await readText(file)
    if (text.split(/\r?\n/).includes(EXCLUDE_LINE)) return { added: false }
    await mkdir(dirname(file), { recursive: true })
    const gap = text === '' || text.endsWith('\n') ? '' : '\n'
    await appendFile(file, `${gap}${EXCLUDE_LINE}\n`)
    return { added: true }
  })
}

/** Removes exactly that line, also one that the user wrote; all else stays byte for byte. */
export async function removeExclude(commonDir: string): Promise<Result<{ removed: boolean }>> {
  const file = excludeFile(commonDir)
  return attempt(file, async () => {
    const text = await readText(file)
    const lines = text.split(/(?<=\n)/)
    const kept = lines.filter((one) => one.replace(/\r?\n$/, '') !== EXCLUDE_LINE)
    if (kept.length === lines.length) return { removed: false }
    await writeFile(file, kept.join(''))
    return { removed: true }
  })
}

export async function hasExclude(commonDir: string): Promise<Result<boolean>> {
  const file = excludeFile(commonDir)
  return attempt(file, async () => (await readText(file)).split(/\r?\n/).includes(EXCLUDE_LINE))
}

const excludeFile = (commonDir: string): string => join(commonDir, 'info', 'exclude')

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

async function attempt<T>(file: string, work: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await work())
  } catch (error) {
    return fail({
      kind: 'failed',
      code: 'exclude_not_writable',
      message: `git's exclude file could not be written: ${error instanceof Error ? error.message : String(error)}`,
      hint: `a sandbox may protect the .git folder: run this command outside of it, or add the line ${EXCLUDE_LINE} yourself`,
      at: file,
    })
  }
}

// ----------------------------------------------------------------
// The state folder ignores itself: git's exclude file, which Assay writes as well, is read by git alone,
// while packers and other tools read files named `.gitignore`.

export const IGNORE_FILE = '.gitignore'

export const hasStateIgnore = (site: Site): boolean => existsSync(join(site.state, IGNORE_FILE))

/** Makes the file, and the folder, unless they are there. Problem `state_not_writable`. */
export async function addStateIgnore(site: Site): Promise<Result<void>> {
  const file = join(site.state, IGNORE_FILE)
  try {
    await mkdir(site.state, { recursive: true })
    await writeFile(file, '*\n', { flag: 'wx' })
    return ok(undefined)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return ok(undefined)
    return fail({
      kind: 'failed',
      code: 'state_not_writable',
      message: `${file} could not be written: ${error instanceof Error ? error.message : String(error)}`,
      hint: 'make that folder writable for you, and free some disk space if it is full',
      at: file,
    })
  }
}
