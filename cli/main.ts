/** Arguments in, exit code out. The only place, with `terminal/` and `verbs/`, that prints. */

import type { Tell } from './notices.ts'
import { fail, type Result } from './result.ts'
import type { Context, VerbAnswer } from './terminal/command.ts'
import { helpOf, overview } from './terminal/help.ts'
import {
  type CallOutput,
  type Edge,
  print,
  refusedByDisk,
  renderBug,
  renderResult,
  terminalWidth,
  wantsColour,
} from './terminal/output.ts'
import { type Manners, parse, readManners } from './terminal/parse.ts'
import { type Progress, progressTo } from './terminal/progress.ts'
import { MODULES } from './verbs/modules.ts'
import { fullName, LATER, onlyReads, VERBS } from './verbs/table.ts'

/** Replaced by the build. */
const VERSION = process.env.ASSAY_VERSION ?? 'unbuilt'

/** Runs one verb to its end, prints its answer and resolves to the exit code. Never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  const manners = readManners(argv)
  const interrupts = listenForInterrupts()
  const shown: { progress: Progress | null } = { progress: null }
  const tell: Tell = (fact) => {
    if (manners.quiet) return
    shown.progress ??= createProgress(manners)
    shown.progress.tell(fact)
  }
  let found: string | null = null
  const acts = new Map<string, () => void>()
  const context = createContext(manners, interrupts, tell, {
    foundByName: (run) => {
      found = run
    },
    afterwards: (name, act) => acts.set(name, act),
  })
  const edge: Edge = {
    json: manners.json,
    get columns() {
      return context.tty ? context.columns : null
    },
    say: String,
  }
  let output: CallOutput
  try {
    const result = await answer(argv, context, edge)
    if (found !== null) await nameRun(edge, context, found)
    output = renderResult(result, edge)
  } catch (error) {
    const refused = interrupts.signal.aborted ? interrupted() : disk(error)
    output = refused ? renderResult(refused, edge) : renderBug(error, manners.json)
  }
  shown.progress?.end()
  await print('stdout', output.stdout)
  await print('stderr', output.stderr)
  for (const act of acts.values()) act()
  return output.exit
}

function createProgress(manners: Manners): Progress {
  const width = terminalWidth('stderr')
  const options = { tty: width !== null, columns: width ?? 80, brief: manners.json }
  return progressTo((text) => void print('stderr', text), options)
}

/** `edge`: learns the run that the commands of the answer have to name. */
async function answer(argv: readonly string[], context: Context, edge: Edge): Promise<Result<VerbAnswer>> {
  const request = parse(argv, { verbs: VERBS, later: LATER })
  if (!request.ok) return request
  if (request.value.ask === 'version') return page({ version: VERSION }, `assay ${VERSION}`)
  if (request.value.ask === 'help') {
    const { verb, sub } = request.value
    const help = verb === null ? overview(VERBS) : helpOf(verb, sub)
    return page({ help }, help)
  }
  const { verb, args } = request.value
  if (!onlyReads(args)) {
    const { refuseInsideMeasurement } = await import('./verbs/inside-measurement.ts')
    const may = refuseInsideMeasurement(context, args)
    if (!may.ok) return may
  }
  if (args.run !== null) await nameRun(edge, context, args.run)
  const command = await (MODULES[fullName(args)] ?? MODULES[verb.name])?.()
  if (command === undefined) throw new Error(`the verb ${verb.name} has no module`)
  return command.run(context, args)
}

async function nameRun(edge: Edge, context: Context, run: string): Promise<void> {
  const { withRunNamed } = await import('./verbs/run-in-commands.ts')
  edge.say = withRunNamed(context, run)
}

/** Another verb of the same process, for one that shows others. It names no run, so neither does its answer. */
const callVerb: Context['call'] = (argv, world) =>
  answer(argv, world, { json: false, columns: null, say: String })

function page(data: unknown, text: string): Result<VerbAnswer> {
  return { ok: true, value: { data, text: () => text } }
}

function disk(error: unknown): Result<never> | null {
  const problem = refusedByDisk(error)
  return problem && fail(problem)
}

function interrupted(): Result<never> {
  return fail({ kind: 'interrupted', code: 'interrupted', message: 'interrupted' })
}

function createContext(
  manners: Manners,
  interrupts: Interrupts,
  tell: Tell,
  hears: Required<Pick<Context, 'foundByName' | 'afterwards'>>,
): Context {
  const { env } = process
  let width: number | null | undefined
  const columns = (): number | null => {
    if (width === undefined) width = terminalWidth('stdout')
    return width
  }
  return {
    cwd: process.cwd(),
    env,
    stdin: readStdin,
    get tty() {
      return columns() !== null
    },
    get columns() {
      return columns() ?? 80
    },
    get colour() {
      return manners.colour && wantsColour(() => columns() !== null, env)
    },
    quiet: manners.quiet,
    tell,
    ...hears,
    ...interrupts,
    clock: () => new Date(),
    call: callVerb,
    random: (bytes) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex'),
  }
}

async function readStdin(): Promise<string> {
  if (process.stdin.isTTY) return ''
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

type Interrupts = Pick<Context, 'signal' | 'onLeave'>

/** The first signal asks the verb to stop now; the next one ends the process. */
function listenForInterrupts(): Interrupts {
  const now = new AbortController()
  let leave: (() => void) | null = null
  const stop = () => {
    if (now.signal.aborted) process.exit(130)
    now.abort()
  }
  process.on('SIGTERM', stop)
  process.on('SIGHUP', stop)
  process.on('SIGINT', () => {
    if (leave === null) return stop()
    const first = leave
    leave = null
    first()
  })
  return {
    signal: now.signal,
    onLeave: (act) => {
      leave = act
    },
  }
}
