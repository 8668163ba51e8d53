/** `gate list` and `gate check`. `gate add` and `gate remove` are in `decisions.ts`, with the other verbs that record what a person decides. */
import { checkGates, type GateCheckAnswer } from '../experiment/gate.ts'
import { gatesWithOrigin } from '../measure/gates.ts'
import { ok, type Result } from '../result.ts'
import { keepingTurn } from '../run/driver.ts'
import { nodeFor } from '../run/open.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { printable } from '../terminal/output.ts'
import { plain } from '../text.ts'
import { verb } from './verb.ts'

const list = verb('gate list', {
  run: (run, { positionals: [id] }) => {
    const node = nodeFor(run, id)
    if (!node.ok) return node
    const gates = gatesWithOrigin(run, id).map(({ name, command, phase, timeoutMs, from }) => ({
      name,
      command,
      phase,
      timeout_ms: timeoutMs,
      from,
    }))
    return ok({ experiment: node.value.id, gates })
  },
  say: ({ experiment, gates }) =>
    gates.length === 0
      ? `no gate binds ${experiment}`
      : gates.map(({ name, command, phase, from }) =>
          plain(`${name}  ${phase}  from ${from}  ${[command].flat().join(' ')}`, 500),
        ),
})

const check = verb('gate check', {
  run: (run, { positionals: [id] }) => keepingTurn(run, id, () => checkGates(run, id)),
  exit: ({ passed }) => (passed ? 0 : 4),
  say: describe,
})

export function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  return (args.sub === 'check' ? check : list).run(context, args)
}

function describe({ experiment, passed, gates }: GateCheckAnswer): string[] {
  if (gates.length === 0) return [`no gate binds ${experiment}`]
  return [
    ...gates.flatMap(({ name, passed: did, exit, timed_out, output }) => [
      `${plain(name, 100)}: ${did ? 'passed' : `did not pass (${timed_out ? 'time limit' : `exit ${exit ?? 'unknown'}`})`}`,
      ...(output === '' ? [] : [printable(output.trimEnd())]),
    ]),
    `${experiment}: ${passed ? 'every gate passes' : 'not every gate passes'}`,
  ]
}
