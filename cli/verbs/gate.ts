import { addGate, checkGates, type GateCheckAnswer, removeGate } from '../experiment/gate.ts'
import type { GatePhase } from '../ledger/events.ts'
import { gatesWithOrigin } from '../measure/gates.ts'
import { nodeFor } from '../measure/seal.ts'
import { fail, ok, type Result } from '../result.ts'
import { keepingTurn } from '../run/driver.ts'
import type { OpenRun } from '../run/open.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { printable } from '../terminal/output.ts'
import { plain } from '../text.ts'
import { idOf, reasonOf, theRun } from './verb.ts'

const TIMEOUT_MS = 5 * 60_000
const ADD =
  'assay gate add exp_0007 --name order --command "node check-order.js" --reason "It was lost twice"'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  switch (args.sub) {
    case 'add':
      return add(opened.value, args)
    case 'remove':
      return remove(opened.value, args)
    case 'check': {
      const id = idOf(args)
      const done = await keepingTurn(opened.value, id, () => checkGates(opened.value, id))
      return done.ok
        ? ok({ data: done.value, text: () => describe(done.value), exit: done.value.passed ? 0 : 4 })
        : done
    }
    default:
      return list(opened.value, args)
  }
}

async function add(run: OpenRun, args: Parsed): Promise<Result<Answer>> {
  const why = reasonOf(args, ADD)
  if (!why.ok) return why
  const name = required(args, 'name')
  if (!name.ok) return name
  const command = required(args, 'command')
  if (!command.ok) return command
  const gate = {
    name: name.value,
    command: command.value,
    phase: (args.text('phase') as GatePhase | null) ?? 'before',
    timeoutMs: args.duration('timeout') ?? TIMEOUT_MS,
  }
  const wanted = { gate, why: why.value, key: args.key }
  const done = await keepingTurn(run, idOf(args), () => addGate(run, idOf(args), wanted))
  if (!done.ok) return done
  const { experiment, passed_on } = done.value
  return ok({
    data: done.value,
    text: () =>
      `gate ${plain(done.value.gate, 100)} passes on ${passed_on}; from now on it binds ${experiment} and everything below it`,
  })
}

function remove(run: OpenRun, args: Parsed): Result<Answer> {
  const name = required(args, 'name')
  if (!name.ok) return name
  const done = removeGate(run, idOf(args), {
    name: name.value,
    why: args.text('reason') ?? '',
    key: args.key,
  })
  if (!done.ok) return done
  const { experiment, gate } = done.value
  return ok({
    data: done.value,
    text: () => `gate ${plain(gate, 100)} no longer binds ${experiment} and what is below it`,
  })
}

function list(run: OpenRun, args: Parsed): Result<Answer> {
  const node = nodeFor(run, idOf(args))
  if (!node.ok) return node
  const gates = gatesWithOrigin(run, node.value.id).map(({ name, command, phase, timeoutMs, from }) => ({
    name,
    command,
    phase,
    timeout_ms: timeoutMs,
    from,
  }))
  return ok({
    data: { experiment: node.value.id, gates },
    text: () =>
      gates.length === 0
        ? `no gate binds ${node.value.id}`
        : gates.map(({ name, command, phase, from }) =>
            plain(`${name}  ${phase}  from ${from}  ${[command].flat().join(' ')}`, 500),
          ),
  })
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

function required(args: Parsed, flag: string): Result<string> {
  const text = args.text(flag)
  if (text !== null && text.trim() !== '') return ok(text)
  return fail({
    kind: 'usage',
    code: 'missing_argument',
    message: `assay gate ${args.sub} needs --${flag}`,
    hint: `example: ${args.sub === 'add' ? ADD : 'assay gate remove exp_0007 --name order'}`,
  })
}
