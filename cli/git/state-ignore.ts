/**
 * The state folder ignores itself: git's exclude file, which Assay writes as well, is read by git alone, while packers and
 * other tools read files named `.gitignore`.
 */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'

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
      hint: 'give yourself the right to write there, and free space if there is none',
      at: file,
    })
  }
}
