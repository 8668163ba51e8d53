/** The file of held-out data: `init` finds it, each use checks that it is unchanged, and what agents must not read is encrypted. */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import {
  createReadStream,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import type { HeldOutFile } from '../ledger/events.ts'
import { heldOutPlace, sealKey } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'

// ----------------------------------------------------------------
// * What agents, who read the repository, must not read of held-out data: sealed with a key in the user's
// state folder. The key is made when it is first needed, and only its user may read it.

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'

type Env = NodeJS.ProcessEnv

/** null when there is none, for example on a different machine. */
function knownKey(env: Env): Buffer | null {
  try {
    const key = Buffer.from(readFileSync(sealKey(env), 'utf8').trim(), 'hex')
    return key.length === KEY_BYTES ? key : null
  } catch {
    return null
  }
}

/** If two processes make it at once, both get the key of the first. Throws when it cannot be written. */
function key(env: Env): Buffer {
  const known = knownKey(env)
  if (known) return known
  const file = sealKey(env)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const made = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(made, `${randomBytes(KEY_BYTES).toString('hex')}\n`, { mode: 0o600 })
  try {
    linkSync(made, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(made, { force: true })
  }
  const found = knownKey(env)
  if (!found) throw new Error(`${file} holds no key`)
  return found
}

/** Hex. Equal for equal text under the key of this user; who has no key cannot try texts. */
const keyedHash = (env: Env, text: string): string =>
  createHmac('sha256', key(env)).update(text).digest('hex')

/** As base64. */
export function encrypt(env: Env, text: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key(env), iv)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64')
}

/** null when the key is missing or a different one, or the text was changed. */
export function unseal(env: Env, sealed: string): string | null {
  const known = knownKey(env)
  if (!known) return null
  try {
    const bytes = Buffer.from(sealed, 'base64')
    const decipher = createDecipheriv(CIPHER, known, bytes.subarray(0, IV_BYTES))
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    const body = bytes.subarray(IV_BYTES + TAG_BYTES)
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

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

/** Whether a run that began with the one may continue with the other. */
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
