/** The file of held-out data: `init` finds it, each use checks that it is unchanged, and what agents must not read is encrypted. */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  createReadStream,
  createWriteStream,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { HeldOutFile } from '../ledger/events.ts'
import { heldOutPlace, sealKey } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'

// ----------------------------------------------------------------
// What agents, who read the repository, must not read of held-out data: sealed with a key in the user's
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
export const encrypt = (env: Env, text: string): string => encryptWith(key(env), text)

function encryptWith(key: Buffer, text: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64')
}

/** null when the key is missing or a different one, or the text was changed. */
export function unseal(env: Env, text: string): string | null {
  const known = knownKey(env)
  if (!known) return null
  const [sealed = '', job] = text.split(':').reverse()
  try {
    const bytes = Buffer.from(sealed, 'base64')
    const key = job === undefined ? known : keyOfJob(known, job)
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES))
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    const body = bytes.subarray(IV_BYTES + TAG_BYTES)
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

// ----------------------------------------------------------------
// What a job gets of held-out data: the file, encrypted with a key of this one job. The key of the user stays here: the
// values that the job encrypts can be read with it as well.

export interface JobSeal {
  /** Names the job. */
  job: string
  /** Hex. */
  key: string
}

/** `later`: another job measures on them. */
export type HeldOutOnNode = 'later' | { file: string; seal: JobSeal }

const keyOfJob = (known: Buffer, job: string): Buffer =>
  createHmac('sha256', known).update(`job ${job}`).digest()

export const sealForJob = (env: Env, job: string): JobSeal => ({
  job,
  key: keyOfJob(key(env), job).toString('hex'),
})

export const encryptForJob = ({ job, key }: JobSeal, text: string): string =>
  `${job}:${encryptWith(Buffer.from(key, 'hex'), text)}`

export async function encryptFile({ key }: JobSeal, from: string, to: string): Promise<void> {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, Buffer.from(key, 'hex'), iv)
  writeFileSync(to, iv, { mode: 0o600 })
  await pipeline(createReadStream(from), cipher, createWriteStream(to, { flags: 'a' }))
  appendFileSync(to, cipher.getAuthTag())
}

/** False when it is not what was encrypted; then there is no file. */
export async function decryptFile({ key }: JobSeal, from: string, to: string): Promise<boolean> {
  try {
    const end = statSync(from).size - TAG_BYTES
    const decipher = createDecipheriv(CIPHER, Buffer.from(key, 'hex'), bytesOf(from, 0, IV_BYTES))
    decipher.setAuthTag(bytesOf(from, end, TAG_BYTES))
    const out = createWriteStream(to, { mode: 0o600 })
    // A stream cannot read from a place to the place before it.
    const body =
      end === IV_BYTES ? Readable.from([]) : createReadStream(from, { start: IV_BYTES, end: end - 1 })
    await pipeline(body, decipher, out)
    return true
  } catch {
    rmSync(to, { force: true })
    return false
  }
}

function bytesOf(file: string, at: number, length: number): Buffer {
  const open = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(length)
    readSync(open, bytes, 0, length, at)
    return bytes
  } finally {
    closeSync(open)
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
