/** The file of held-out data: found at `init`, and the same whenever it is used. */
import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import type { HeldOutFile } from '../ledger/events.ts'
import { heldOutPlace } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { keyedHash } from './sealed.ts'

/**
 * `text` as the user gave it, from `cwd`. What lies inside `root` could be read by every candidate; so could its path, if it
 * stood in the ledger: it is kept in the user's state folder.
 */
export async function findHoldout(
  env: NodeJS.ProcessEnv,
  text: string,
  cwd: string,
  root: string,
): Promise<Result<HeldOutFile>> {
  let path: string
  try {
    path = realpathSync(resolve(cwd, text))
    if (!statSync(path).isFile()) return fail(refused(text, 'is not a file', 'pack the cases into one file'))
  } catch {
    return fail(refused(text, 'cannot be read', 'name a file that exists'))
  }
  const way = relative(realpathSync(root), path)
  if (!isAbsolute(way) && !way.startsWith(`..${sep}`)) {
    const hint = 'keep it in a folder outside of the repository, where no candidate reads it'
    return fail(refused(text, 'lies inside the repository', hint))
  }
  const { size } = statSync(path)
  const name = keyedHash(env, `path ${path}`)
  const place = heldOutPlace(env, name)
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
  writeFileSync(place, path, { mode: 0o600 })
  return ok({ name, sha256: keyedHash(env, await digest(path)), bytes: size })
}

/** Where it lies; null when that is not known on this machine, or to this user. */
export function placeOfHoldout(env: NodeJS.ProcessEnv, { path, name }: HeldOutFile): string | null {
  if (name === undefined) return path ?? null
  try {
    return readFileSync(heldOutPlace(env, name), 'utf8')
  } catch {
    return null
  }
}

/** Whether the file at `place` is what was given; false when it changed or is gone. */
export async function isHoldout(
  env: NodeJS.ProcessEnv,
  { name, sha256 }: HeldOutFile,
  place: string,
): Promise<boolean> {
  try {
    const now = await digest(place)
    return (name === undefined ? now : keyedHash(env, now)) === sha256
  } catch {
    return false
  }
}

/** Whether a run that began with the one may go on with the other. */
export async function isSameHoldout(
  env: NodeJS.ProcessEnv,
  known: HeldOutFile | undefined,
  given: HeldOutFile | null,
): Promise<boolean> {
  if (!known || !given) return !known && !given
  const place = placeOfHoldout(env, given)
  return place !== null && (await isHoldout(env, known, place))
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

const refused = (text: string, what: string, hint: string): Problem => ({
  kind: 'usage',
  code: 'bad_holdout',
  message: `the held-out file ${text} ${what}`,
  hint,
})
