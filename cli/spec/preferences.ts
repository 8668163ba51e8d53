/** What a user prefers in all projects: the file `config.yaml` of the user. The spec of a project wins over it. */
import { readFileSync } from 'node:fs'
import { userConfig } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { PREFERRED } from './keys/loop.ts'
import { keys, type TypeOf } from './kind.ts'
import { readYaml } from './read.ts'

const KIND = keys(PREFERRED)

export interface Preferences {
  /** The file, whether it is there or not. */
  at: string
  isThere: boolean
  /** null = not said. */
  said: TypeOf<typeof KIND>
}

/** Fails with `user_config_invalid`, with each place that is wrong; then nothing of the file holds. */
export function readPreferences(env: NodeJS.ProcessEnv): Result<Preferences> {
  const at = userConfig(env)
  const nothing = { driver: null, autonomous: null }
  let text: string
  try {
    text = readFileSync(at, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return ok({ at, isThere: false, said: nothing })
    return fail({
      kind: 'refused',
      code: INVALID,
      message: `it cannot be read: ${message}`,
      hint: REPAIR,
      at,
    })
  }
  // Comments alone say nothing, which is no fault.
  if (text.split('\n').every((line) => /^\s*(#|$)/.test(line)))
    return ok({ at, isThere: true, said: nothing })
  const read = readYaml(KIND, { text, file: at })
  return read.ok ? ok({ at, isThere: true, said: read.value.value }) : fail(named(read.problem))
}

const INVALID = 'user_config_invalid'
const REPAIR = 'it must be a text file that you may read'

/** The words of the spec's reader, for this file. */
const named = ({ message, more, ...problem }: Problem): Problem => ({
  ...problem,
  code: INVALID,
  message: message.replace(/\bthe spec\b/, 'the user configuration'),
  ...(more ? { more: more.map(named) } : {}),
})
