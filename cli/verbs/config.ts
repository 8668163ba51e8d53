import { fail, ok, type Result } from '../result.ts'
import { knobsIn, setKnob } from '../run/config.ts'
import { setAutonomous } from '../run/driver.ts'
import type { OpenRun } from '../run/open.ts'
import { readKnob } from '../spec/knobs.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { reasonOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  if (args.sub === 'autonomous') return autonomous(opened.value, args)
  return args.sub === 'set' ? set(opened.value, args) : get(opened.value, args)
}

function get(run: OpenRun, args: Parsed): Result<Answer> {
  const [name] = args.positionals
  const all = knobsIn(run)
  if (name === undefined) {
    return ok({
      data: { knobs: all },
      text: () => all.map(({ path, value }) => `${path}: ${plain(String(value ?? 'none'), 100)}`),
    })
  }
  const knob = all.find(({ key, path }) => key === name || path === name)
  if (knob) return ok({ data: knob, text: () => plain(String(knob.value ?? 'none'), 100) })
  // Asks for the near name in the words of `set`.
  const unknown = readKnob(name, '1')
  return unknown.ok
    ? fail({
        kind: 'usage',
        code: 'knob_unknown',
        message: `${name} is not a knob`,
        hint: 'assay config get',
      })
    : unknown
}

function set(run: OpenRun, args: Parsed): Result<Answer> {
  const why = reasonOf(args, 'assay config set budget.experiments 200 --reason "It still improves"')
  if (!why.ok) return why
  const [name = '', text = ''] = args.positionals
  const done = setKnob(run, { name, text, why: why.value, key: args.key })
  if (!done.ok) return done
  const { path, value, before, takes_effect, stop } = done.value
  return ok({
    data: done.value,
    text: () => [
      `${path}: ${plain(String(value ?? 'none'), 100)} (it was ${plain(String(before ?? 'none'), 100)}), from ${takes_effect === 'now' ? 'now' : 'the next round'} on`,
      ...(stop ? [`  the loop would stop: ${stop}`] : []),
    ],
  })
}

function autonomous(run: OpenRun, args: Parsed): Result<Answer> {
  const [word] = args.positionals
  if (word !== undefined && word !== 'on' && word !== 'off') {
    return fail({
      kind: 'usage',
      code: 'bad_value',
      message: `autonomous is on or off, not ${word}`,
      hint: 'assay config autonomous on',
    })
  }
  const now = word === undefined ? ok(run.ledger.state.entrusted) : setAutonomous(run, word === 'on')
  if (!now.ok) return now
  const trust = now.value
  return ok({
    data: { autonomous: trust },
    text: () =>
      trust === null
        ? 'off: a session ends its turn whenever it likes'
        : plain(`on: ${trust.host} goes on until the loop is over (session ${trust.session})`, 300),
  })
}
