import { liveSpec } from '../../run/open.ts'
import { type Preferences, readPreferences } from '../../spec/preferences.ts'
import { type DoctorCheck, type FixableFinding, fine, problem, type RunScene } from '../check.ts'

/** What the user prefers in all projects, and which runs say it themselves. */
export const preferences: DoctorCheck = {
  name: 'preferences',
  look: ({ env, runs }) => {
    const read = readPreferences(env)
    if (!read.ok) {
      const { message, hint, at } = read.problem
      return [
        problem('user_config_invalid', {
          what: `the user configuration cannot be used: ${message}`,
          cause: 'until it is corrected, nothing of it holds',
          repair: String(hint),
          ...(at === undefined ? {} : { at }),
        }),
      ]
    }
    return [ofUser(read.value), ...runs.flatMap(ofRun)]
  },
}

const NAMES = ['driver', 'autonomous'] as const

function ofUser({ at, isThere, said }: Preferences): FixableFinding {
  const words = NAMES.flatMap((name) => (said[name] === null ? [] : [`${name}: ${said[name]}`]))
  const what = isThere ? `${words.join(', ') || 'nothing'} (from ${at})` : `none; they would be in ${at}`
  return fine('user_config', `preferences of the user: ${what}`)
}

function ofRun({ run, spec, state }: RunScene): FixableFinding[] {
  if (spec === null || state === null) return []
  const { loop } = liveSpec({ begun: spec, ledger: { state } })
  const words = NAMES.flatMap((name) => (loop[name] === undefined ? [] : [`loop.${name}: ${loop[name]}`]))
  if (words.length === 0) return []
  return [fine('run_preferences', `${run}: ${words.join(', ')} (from its spec, which wins over the user's)`)]
}
