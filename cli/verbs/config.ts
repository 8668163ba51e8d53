/** `config get` and `config autonomous`; `config set` is a decision. */
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import { type KnobData, knobsIn } from '../run/config.ts'
import { setAutonomous } from '../run/driver.ts'
import { readKnob } from '../spec/knobs.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { verb } from './verb.ts'

const shown = ({ value }: KnobData): string => plain(String(value ?? 'none'), 100)

const get = verb('config get', {
  run: (run, { positionals: [name] }): Result<KnobData | { knobs: KnobData[] }> => {
    const knobs = knobsIn(run)
    if (name === undefined) return ok({ knobs })
    const knob = knobs.find(({ key, path }) => key === name || path === name)
    if (knob) return ok(knob)
    // Asks for the near name in the words of `set`.
    const unknown = readKnob(name, '1')
    return unknown.ok
      ? fail({
          kind: 'usage',
          code: 'knob_unknown',
          message: `${name} is not a knob`,
          hint: next`${call('config get')}`,
        })
      : unknown
  },
  say: (found) =>
    'knobs' in found ? found.knobs.map((knob) => `${knob.path}: ${shown(knob)}`) : shown(found),
})

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
