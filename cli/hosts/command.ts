import { parseJson } from '../json.ts'
import type { Usage } from '../ledger/events.ts'
import { type Completed, execute } from '../process.ts'
import { redact } from '../redact.ts'
import {
  agentEnvironment,
  failed,
  type Host,
  type HostAnswer,
  type HostCall,
  type HostEntry,
  UNKNOWN_USAGE,
} from './host.ts'
import { numberAt } from './json.ts'
import { askForAnswer, errorLineOf, timedOut } from './retry.ts'
import { thisMoment, waitSeconds } from './waiting.ts'

export interface CommandSetup {
  /** A string is run by `/bin/sh -c`; a list is program and arguments, without a shell. */
  command: string | string[]
}

/** Exit codes of sysexits.h that say something about trying again. */
const EX_TEMPFAIL = 75
const EX_NOPERM = 77

/**
 * Any program as a host: the prompt on its stdin, the answer on its stdout, exit 0. With a schema the answer is one JSON
 * object, alone, fenced or among prose. Exit 75, or a stderr line that says when to try again (`retry after 2 minutes`, `resets
 * 3pm (UTC)`, see `waiting.ts`) with another exit, asks for a later try; exit 77 refuses for good; every other exit failed, with the last line of stderr as the message.
 * A stderr line `usage {"tokens_in": 1, "tokens_out": 2, "usd": 0.1}` tells what the call used; the last one counts.
 * It gets `ASSAY_ROLE`, `ASSAY_HOST_CALL=1`, `ASSAY_MODEL` and `ASSAY_EFFORT` when they are set, and no `GIT_*`.
 */
export const commandHost: HostEntry<CommandSetup> = {
  name: 'command',
  usage: 'unknown',
  open: (setup): Host => ({ name: 'command', call: (request) => call(setup.command, request) }),
}

async function call(program: string | string[], request: HostCall): Promise<HostAnswer> {
  const argv = argvOf(program)
  if (argv === null) return failed('the agent command is an empty list', false)
  return askForAnswer(request, async (input, timeoutMs) => {
    const done = await execute({
      argv,
      cwd: request.cwd,
      isolation: request.isolation,
      env: agentEnvironment(request),
      input,
      timeoutMs,
      signal: request.signal,
      // An agent must not go on editing, at a cost, when no process waits for it any more.
      diesWithUs: true,
    })
    return (
      troubleOf(done, argv[0], request) ?? {
        outcome: 'ok',
        text: done.stdout.toString(),
        usage: usageOf(done),
      }
    )
  })
}

function argvOf(program: string | string[]): [string, ...string[]] | null {
  if (typeof program === 'string') return ['/bin/sh', '-c', program]
  const [first, ...rest] = program
  return first === undefined ? null : [first, ...rest]
}

/** Everything but a clean exit. */
function troubleOf(done: Completed, program: string, request: HostCall): HostAnswer | null {
  if (done.startError !== null) return failed(`cannot start ${program}: ${done.startError.message}`, false)
  if (done.cancelled) return failed('cancelled', false)
  if (done.timedOut) return timedOut(request)
  if (done.code === 0) {
    return done.cut ? failed('the answer is longer than this host can take', false) : null
  }
  const stderr = done.stderr.toString()
  const last = lastLine(stderr)
  const why = errorLineOf(stderr)
  const seconds = waitSeconds(why, thisMoment())
  if (done.code === EX_TEMPFAIL || seconds !== null) {
    const message = why === '' ? 'the command asks for a later try' : redact(why).slice(0, 500)
    return { outcome: 'retry_after', seconds, message, usage: usageOf(done) }
  }
  if (done.code === EX_NOPERM) {
    return { outcome: 'refused', message: last ?? 'the command refused', usage: UNKNOWN_USAGE }
  }
  const how = done.code === null ? `killed by ${done.signal}` : `exit ${done.code}`
  // 126 and 127 mean "cannot run it" and "not found": a second try would give the same.
  return failed(last === null ? how : `${how}: ${last}`, done.code !== 126 && done.code !== 127)
}

/** The usage that the program reports; the rest is unknown. */
function usageOf({ stderr }: Completed): Usage {
  const lines = stderr.toString().split('\n')
  const told = parseJson(lines.findLast((one) => one.startsWith('usage {'))?.slice('usage '.length) ?? '')
  const number = (name: keyof Usage): number | null => {
    const value = numberAt(told, name)
    return value === null || value < 0 ? null : value
  }
  return { tokens_in: number('tokens_in'), tokens_out: number('tokens_out'), usd: number('usd') }
}

function lastLine(text: string): string | null {
  const last = text
    .split('\n')
    .findLast((line) => line.trim() !== '')
    ?.trim()
  return last === undefined ? null : redact(last).slice(0, 500)
}
