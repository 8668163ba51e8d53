/** Which keys of a spec may change while a run lives, and why the others may not. */
import { call, next } from '../next.ts'
import { fail, type Problem } from '../result.ts'
import { FROZEN } from './hash.ts'
import { specKeys } from './key-table.ts'
import type { Key, Kind } from './kind.ts'
import { SPEC } from './schema.ts'
import { closest } from './words.ts'

/**
 * `live`: may change while a run lives. `frozen`: decides what is measured, so a different value needs a different run.
 * `kept`: a run keeps the value that it began with.
 */
export type KeyChange = 'live' | 'frozen' | 'kept'

/** The keys of an identity: `name` is in the branch of the winner, and `search.seed` makes the order of a search repeatable. */
const KEPT: readonly string[] = ['version', 'name', 'search.seed']
/** A spec has the suite in its section `measure`. */
const FROZEN_KEYS: readonly string[] = [...FROZEN, 'suite']

export function changeOf(path: string): KeyChange {
  if (KEPT.includes(path)) return 'kept'
  return FROZEN_KEYS.includes(path.split(/[.[]/)[0] ?? '') ? 'frozen' : 'live'
}

/** A key by its path, without the `[]` of lists; the name of an entry stands for itself (`agent.roles.verify`). */
export function findKey(path: string): Key | null {
  let kind: Kind = SPEC
  let key: Key | null = null
  let doc = ''
  for (const step of path.split('.')) {
    if (kind.is === 'map') {
      if (!new RegExp(kind.names, 'u').test(step)) return null
      key = { kind: kind.of, presence: 'optional', written: null, doc }
    } else if (kind.is === 'keys' && Object.hasOwn(kind.keys, step)) key = kind.keys[step] ?? null
    else return null
    if (key === null || key.presence === 'later') return null
    kind = key.kind
    doc = key.doc
  }
  return key
}

/** Why a key of the spec cannot change while a run lives, and what to do instead. */
export function unchangeable(path: string, change: 'frozen' | 'kept'): Problem {
  const why =
    change === 'frozen'
      ? `\`${path}\` defines what is measured, and a run compares only what was measured alike`
      : `\`${path}\` is part of what a run is known by`
  return {
    kind: 'refused',
    code: change === 'frozen' ? 'key_frozen' : 'key_kept',
    message: `${why}: it cannot change while the run lives`,
    hint: next`edit it in assay.yaml, then start a new run: ${call('init', '--new')}`,
  }
}

/** `others`: further names that are known. */
export function unknownKey(name: string, others: readonly string[]): { ok: false; problem: Problem } {
  const live = specKeys()
    .filter(({ path, key }) => key.presence !== 'later' && !path.includes('[]') && changeOf(path) === 'live')
    .map(({ path }) => path)
  const near = closest(name, [...others, ...live])
  return fail({
    kind: 'usage',
    code: 'knob_unknown',
    message: `\`${name}\` is not a key that may change while a run lives`,
    hint: near === null ? next`${call('config get')} lists them` : `did you mean \`${near}\`?`,
  })
}
