/** What all agent programs have in common: one process for each call, its output in a file, and a full report of how it ended. */
import { createReadStream, lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileText } from '../files.ts'
import { isRecord, type JsonObject, parseJson } from '../json.ts'
import type { Usage } from '../ledger/events.ts'
import { type Supervised, supervise } from '../process.ts'
import {
  agentEnvironment,
  failed,
  type Host,
  type HostAnswer,
  type HostCall,
  type HostEntry,
  UNKNOWN_USAGE,
} from './host.ts'
import { askForAnswer, errorLineOf, outcomeOfError, timedOut } from './retry.ts'
import { mayUseWeb, type Rights, rightsOf } from './rights.ts'
import { thisMoment } from './waiting.ts'

export interface ProgramSetup {
  permissions: 'safe' | 'unsafe'
  /** A program that prints nothing for so long is ended, milliseconds. */
  silenceMs: number
}

/** A call in Assay's terms, which each host translates into flags of its program. */
export interface ProgramCall {
  /** What goes to standard input. */
  prompt: string
  schema: object | null
  rights: Rights
  web: boolean
  folders: string[]
  model: string | null
  effort: string | null
  /** What the program would get; a vendor may add to it and drop from it. */
  env: Record<string, string>
  /** Path of a file that lives as long as the call. */
  file(name: string): string
}

export interface Invocation {
  /** After the program's own name. */
  args: string[]
  env: Record<string, string>
  /** Text by name, written before the start (see `Order.file`). */
  files?: Record<string, string>
}

export interface ProgramAnswer {
  /** The agent's last message; null = there was none. */
  text: string | null
  /** Its structured answer, when the program has a way of its own for that. */
  object?: unknown
  /** Why there is no answer, in the program's words. */
  trouble: string | null
  usage: Usage
}

/** What differs between the programs. */
export interface Vendor {
  name: string
  /** Looked for on PATH. */
  program: string
  /** Whether the program itself enforces this schema; else the prompt asks for it in words. */
  takes(schema: object): boolean
  invoke(order: ProgramCall): Invocation
  /** Beginnings of frequent output lines that are not needed. */
  noise?: string[]
  /** `read` gives the text of a file of the call, null when there is none. */
  read(
    events: JsonObject[],
    order: { schema: object | null },
    read: (name: string) => string | null,
  ): ProgramAnswer
  /** Why the program cannot work in this place, and what to do; null when it can. */
  obstacle?(env: NodeJS.ProcessEnv): string | null
}

/** Of both output files of a call: some programs print each message again and again while it grows. */
const MOST_OUTPUT = 1024 ** 3

export interface ProgramEntry extends HostEntry<ProgramSetup> {
  vendor: Vendor
}

/**
 * A program as a host. With a schema that it cannot take, the schema follows the prompt in words. The answer and any
 * trouble are what it printed; its exit code only tells when it printed neither.
 */
export const programHost = (vendor: Vendor): ProgramEntry => ({
  name: vendor.name,
  usage: 'reported',
  vendor,
  open: (setup): Host => ({
    name: vendor.name,
    call: async (request) => {
      const obstacle = vendor.obstacle?.(request.env) ?? null
      if (obstacle !== null) return { outcome: 'refused', message: obstacle, usage: UNKNOWN_USAGE }
      return askForAnswer(request, (prompt, timeoutMs) => ask(vendor, setup, request, prompt, timeoutMs))
    },
  }),
})

const FOLDER = 'assay-agent-'

/** Whether `printsTo` may have named this file. A reader opens no other file, and no link, even if a record names one. */
export function isAgentOutput(file: string): boolean {
  const [folder, output] = [dirname(file), basename(file)]
  if (output !== 'stdout' || dirname(folder) !== tmpdir() || !basename(folder).startsWith(FOLDER))
    return false
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() === true
}

async function ask(
  vendor: Vendor,
  setup: ProgramSetup,
  request: HostCall,
  prompt: string,
  timeoutMs: number,
): Promise<HostAnswer> {
  const folder = mkdtempSync(join(tmpdir(), FOLDER))
  try {
    const file = (name: string) => join(folder, name)
    const { schema } = request
    const native = schema !== null && vendor.takes(schema)
    const order: ProgramCall = {
      prompt: schema === null || native ? prompt : `${prompt}\n${inWords(schema)}`,
      schema: native ? schema : null,
      rights: rightsOf(request.role, setup.permissions),
      web: mayUseWeb(request.role),
      folders: request.folders,
      model: request.model,
      effort: request.effort,
      env: agentEnvironment(request),
      file,
    }
    const { args, env, files = {} } = vendor.invoke(order)
    for (const [name, text] of Object.entries(files)) writeFileSync(file(name), text)
    const [stdout, stderr] = [file('stdout'), file('stderr')]
    request.printsTo?.(stdout)
    const ended = await supervise({
      command: [vendor.program, ...args],
      cwd: request.cwd,
      isolation: request.isolation,
      env,
      input: order.prompt,
      timeoutMs,
      quietMs: setup.silenceMs,
      stdout,
      stderr,
      outputCap: MOST_OUTPUT,
      signal: request.signal,
    })
    const stopped = whyStopped(ended, vendor, setup, request)
    if (stopped !== null) return stopped
    const events = await eventsIn(stdout, vendor.noise ?? [])
    const reading = vendor.read(events, order, (name) => fileText(file(name)))
    return answerOf(reading, ended, fileText(stderr) ?? '')
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error), false)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const inWords = (schema: object): string =>
  `\nEnd with your answer alone: one JSON object, no other text, that satisfies this JSON Schema:\n${JSON.stringify(schema)}\n`

/** What ended the call before it could answer. */
function whyStopped(
  ended: Supervised,
  { program }: Vendor,
  { silenceMs }: ProgramSetup,
  request: HostCall,
): HostAnswer | null {
  if (ended.startError !== null) return failed(`cannot start ${program}: ${ended.startError.message}`, false)
  if (ended.cancelled) return failed('cancelled', false)
  if (ended.timedOut) return timedOut(request)
  if (ended.quiet)
    return failed(`${program} printed nothing for ${silenceMs / 1000} s, so Assay ended it`, true)
  if (ended.outputCut)
    return failed(`${program} printed more than ${MOST_OUTPUT} bytes, so Assay ended it`, false)
  if (ended.code === 127) return failed(`${program} is not installed, or not on PATH`, false)
  if (ended.code === 126) return failed(`${program} cannot be executed`, false)
  return null
}

function answerOf(reading: ProgramAnswer, ended: Supervised, stderr: string): HostAnswer {
  const { text, object, usage } = reading
  if (reading.trouble !== null) return outcomeOfError(reading.trouble, usage, thisMoment())
  if (text !== null || object !== undefined) {
    return { outcome: 'ok', text: text ?? JSON.stringify(object), object, usage }
  }
  const how = ended.code === null ? `killed by ${ended.signal}` : `exit ${ended.code}`
  const last = errorLineOf(stderr)
  return outcomeOfError(last === '' ? `no answer: ${how}` : `${how}: ${last}`, usage, thisMoment())
}

/** The JSON objects among the lines of a file, one at a time: the file may be larger than what fits in memory. */
async function eventsIn(file: string, noise: string[]): Promise<JsonObject[]> {
  const events: JsonObject[] = []
  for await (const line of createInterface({ input: createReadStream(file, 'utf8') })) {
    if (noise.some((start) => line.startsWith(start))) continue
    const event = parseJson(line)
    if (isRecord(event)) events.push(event)
  }
  return events
}
