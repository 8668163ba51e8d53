/**
 * What agents, who read the repository, must not read of held-out data: sealed with a key in the user's state folder.
 * The key is made when it is first needed, and only its user may read it.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { sealKey } from '../paths.ts'

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'

type Env = NodeJS.ProcessEnv

/** null when there is none, as on another machine. */
function knownKey(env: Env): Buffer | null {
  try {
    const key = Buffer.from(readFileSync(sealKey(env), 'utf8').trim(), 'hex')
    return key.length === KEY_BYTES ? key : null
  } catch {
    return null
  }
}

/** Of two processes that make it at once, one is first, and both get that one's. Throws when it cannot be written. */
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
export const keyedHash = (env: Env, text: string): string =>
  createHmac('sha256', key(env)).update(text).digest('hex')

/** As base64. */
export function seal(env: Env, text: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key(env), iv)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64')
}

/** null when the key is another one, or not here, or the text was changed. */
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
