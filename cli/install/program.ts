/** Runs a host's own plugin commands. */
import { execute } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'

/** Some load themselves for seconds; none of these asks a model. */
const LIMIT_MS = 120_000
const SAID = 600

export interface World {
  env: NodeJS.ProcessEnv
  cwd: string
  signal: AbortSignal
}

/** Its output. Problems: `host_missing`, `host_failed` with the host's own words. */
export async function runHost(argv: readonly string[], world: World): Promise<Result<string>> {
  const [program = '', ...args] = argv
  const done = await execute({ argv: [program, ...args], ...world, timeoutMs: LIMIT_MS, input: '' })
  if (done.startError) {
    return fail({
      kind: 'refused',
      code: 'host_missing',
      message: `${program} could not be started: ${done.startError.message}`,
      hint: `install ${program} and make sure that it is on PATH, then repeat the command`,
    })
  }
  const output = `${done.stdout}\n${done.stderr}`
  if (done.code === 0) return ok(output)
  const how = done.timedOut
    ? `gave no answer within ${LIMIT_MS / 1000} s`
    : `failed (${done.code ?? done.signal})`
  return fail({
    kind: 'failed',
    code: 'host_failed',
    message: `${argv.join(' ')} ${how}: ${output.trim().slice(-SAID)}`,
    hint: 'the words are those of the host; mend it there, then repeat the command',
  })
}
