/**
 * The value of ASSAY_TOKEN that every job carries: a random part, and who started it. So a process that outlived its
 * owner can be told from one that somebody still waits for. Tokens of nested jobs are joined with dots, outermost first. A
 * job that is measured, or prepares what is measured, also carries the folder of state that it is measured for.
 */
import { asIdentity, identify, isAlive, type ProcessIdentity } from './identity.ts'
import { HAS_PROC } from './proc.ts'

/** Without /proc nobody can search for it, and looking at ourselves would start a process: then it is the nonce alone. */
export function makeToken(nonce: string, mark = ''): string {
  const owner = HAS_PROC ? identify() : null
  return owner === null
    ? nonce
    : `${nonce}:${Buffer.from(JSON.stringify(owner)).toString('base64url')}${mark}`
}

/** What a job's own ASSAY_TOKEN says before its token is made: that it is measured for this folder of state. */
export const markOf = (state: string): string => `:${Buffer.from(state).toString('base64url')}`

/** The folders of state that jobs of living owners in this token are measured for. */
export function measuredFor(token: string): string[] {
  return token.split('.').flatMap((part) => {
    const [, owner = '', state] = part.split(':')
    const by = state === undefined ? null : ownerIn(owner)
    return state !== undefined && by !== null && isAlive(by)
      ? [Buffer.from(state, 'base64url').toString('utf8')]
      : []
  })
}

/** The owners that an ASSAY_TOKEN names, outermost first; null when a part names none, for then nothing is proved. */
export function ownersOf(token: string): ProcessIdentity[] | null {
  const owners = token.split('.').map((part) => ownerIn(part.split(':')[1] ?? ''))
  return owners.every((owner) => owner !== null) ? owners : null
}

function ownerIn(text: string): ProcessIdentity | null {
  try {
    return asIdentity(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
  } catch {
    return null
  }
}
