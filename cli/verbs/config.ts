/** `config get` and `config autonomous`; `config set` and `config sync` are decisions. */
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import type { ConfigData, KeyData, KeySource } from '../run/config.ts'
import { setAutonomous } from '../run/driver.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { verb } from './verb.ts'

const get = verb('config get', {
  run: async (run, { positionals: [name] }): Promise<Result<KeyData | ConfigData>> => {
    const { configOf, keyOf } = await import('../run/config.ts')
    return name === undefined ? configOf(run) : keyOf(run, name)
  },
  say: (found) =>
    'knobs' in found ? [...found.knobs, ...found.settings].map(lineOf) : shownSetting(found.value),
})

const FROM: Readonly<Record<KeySource, string>> = {
  default: '',
  user: '',
  spec: '  (from the spec)',
  config: '  (set during the run)',
  meta: '  (set by the meta controller)',
}

const lineOf = ({ path, value, from, at }: KeyData): string =>
  `${path}: ${shownSetting(value)}${at === undefined ? FROM[from] : `  (from ${plain(at, 300)})`}`

/** A value of a spec in one line: text as it is, all else as a command line takes it. */
export const shownSetting = (value: unknown): string =>
  plain(typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? 'none'), 300)

const autonomous = verb('config autonomous', {
  run: (run, { positionals: [word] }) => {
    if (word !== undefined && word !== 'on' && word !== 'off') {
      return fail({
        kind: 'usage',
        code: 'bad_value',
        message: `autonomous is on or off, not ${word}`,
        hint: next`${call('config autonomous', 'on')}`,
      })
    }
    const now =
      word === undefined ? ok(run.ledger.state.driver.autonomous) : setAutonomous(run, word === 'on')
    return now.ok ? ok({ autonomous: now.value }) : now
  },
  say: ({ autonomous: on }) =>
    on === null
      ? 'off: no session continues by itself'
      : plain(`on: the session ${on.session} of ${on.host} continues by itself until the loop is over`, 300),
})

export function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  return (args.sub === 'autonomous' ? autonomous : get).run(context, args)
}
