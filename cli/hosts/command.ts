import { type Completed, execute } from '../process.ts'
import { redact } from '../redact.ts'
import { answerCheck, type Check, extractObject } from './answer.ts'
import { type Host, type HostAnswer, type HostCall, type HostEntry, UNKNOWN_USAGE } from './host.ts'

export interface CommandSetup {
  /** A string is run by `/bin/sh -c`; a list is program and arguments, without a shell. */
  command: string | string[]
}

/** Times that a command is asked again, with the reason, when its answer does not satisfy the schema. */
const REPAIRS = 2

/** Exit codes of sysexits.h that say something about trying again. */
const EX_TEMPFAIL = 75
const EX_NOPERM = 77
const DEFAULT_RETRY_SECONDS = 30

/**
 * Any program as a host: the prompt on its stdin, the answer on its stdout, exit 0. With a schema the answer is one JSON
 * object, alone, fenced or among prose. Exit 75, or a stderr line `retry after N` (seconds) with another exit, asks for a
 * later try; exit 77 refuses for good; every other exit failed, with the last line of stderr as the message.
 * It gets `ASSAY_ROLE`, `ASSAY_HOST_CALL=1`, `ASSAY_MODEL` and `ASSAY_EFFORT` when they are set, and no `GIT_*`.
 */
export const command: HostEntry<CommandSetup> = {
  name: 'command',
  usage: 'unknown',
  open: (setup): Host => ({ name: 'command', call: (request) => call(setup.command, request) }),
}

async function call(program: string | string[], request: HostCall): Promise<HostAnswer> {
  const argv = argvOf(program)
  if (argv === null) return failed('the agent command is an empty list', false)
  let check: Check | null = null
  if (request.schema !== null) {
    const result = await answerCheck(request.schema)
    if (!result.ok) return failed(result.problem.message, false)
    check = result.value
  }
  const deadline = performance.now() + request.timeoutMs
  let prompt = request.prompt
  for (let repair = 0; ; repair += 1) {
    if (request.signal.aborted) return failed('cancelled', false)
    const left = deadline - performance.now()
    if (left <= 0) return timedOut(request)
    const done = await execute({
      argv,
      cwd: request.cwd,
      env: environment(request),
      input: prompt,
      timeoutMs: left,
      signal: request.signal,
      // An agent must not go on editing, and costing, when nobody is left to hear it.
      diesWithUs: true,
    })
    const trouble = troubleOf(done, argv[0], request)
    if (trouble !== null) return trouble
    const text = done.stdout.toString()
    if (check === null) return { outcome: 'ok', text, usage: UNKNOWN_USAGE }
    const object = extractObject(text)
    const wrong = object === null ? 'it holds no JSON object' : check(object)
    if (object !== null && wrong === null) return { outcome: 'ok', text, object, usage: UNKNOWN_USAGE }
    if (repair === REPAIRS) return failed(`the answer does not satisfy the schema: ${wrong}`, false)
    prompt = `${request.prompt}\n\nYour previous answer does not satisfy the required schema: ${wrong}. Answer with one JSON object that does.\n`
  }
}

function argvOf(program: string | string[]): [string, ...string[]] | null {
  if (typeof program === 'string') return ['/bin/sh', '-c', program]
  const [first, ...rest] = program
  return first === undefined ? null : [first, ...rest]
}

function environment(request: HostCall): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {}
  for (const [name, value] of Object.entries(request.env)) {
    // A caller inside a git hook has GIT_DIR set; the agent must see its own worktree.
    if (!name.startsWith('GIT_')) env[name] = value
  }
  env.ASSAY_ROLE = request.role
  env.ASSAY_HOST_CALL = '1'
  if (request.model !== null) env.ASSAY_MODEL = request.model
  if (request.effort !== null) env.ASSAY_EFFORT = request.effort
  return env
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
  const wait = /retry after (\d+(?:\.\d+)?)/i.exec(stderr)
  if (done.code === EX_TEMPFAIL || wait !== null) {
    const seconds = wait === null ? DEFAULT_RETRY_SECONDS : Number(wait[1])
    return {
      outcome: 'retry_after',
      seconds,
      message: last ?? 'the command asks for a later try',
      usage: UNKNOWN_USAGE,
    }
  }
  if (done.code === EX_NOPERM) {
    return { outcome: 'refused', message: last ?? 'the command refused', usage: UNKNOWN_USAGE }
  }
  const how = done.code === null ? `killed by ${done.signal}` : `exit ${done.code}`
  // 126 and 127 are the shell's words for "cannot run it" and "not found": a second try finds the same.
  return failed(last === null ? how : `${how}: ${last}`, done.code !== 126 && done.code !== 127)
}

const failed = (message: string, again: boolean): HostAnswer => ({
  outcome: 'failed',
  message,
  again,
  usage: UNKNOWN_USAGE,
})
/** What took all the time there was, or three answers, would only be paid for once more. */
const timedOut = (request: HostCall) => failed(`no answer within ${request.timeoutMs / 1000} s`, false)

function lastLine(text: string): string | null {
  const last = text
    .split('\n')
    .findLast((line) => line.trim() !== '')
    ?.trim()
  return last === undefined ? null : redact(last).slice(0, 500)
}
