import { createContext, Script } from 'node:vm'
import { canonical } from '../json.ts'
import { type Border, border } from './border.ts'
import { fence } from './fence.ts'
import { freezeBuiltIns } from './freeze.ts'
import { readJournal } from './journal.ts'
import type { CallOptions, Reply, Runnable, ToChild, ToParent } from './protocol.ts'
import {
  type Bridge,
  type Realm,
  type RealmSettings,
  realm,
  type Settle,
  type SettleScript,
} from './realm.ts'
import { createThreads } from './thread.ts'

type Start = Extract<ToChild, { type: 'start' }>
const MAX_ARRAY = 4096
const MAX_LOGS = 1000
/** Lines of `failures`, and characters of one: more tell nothing new, and thousands of long ones would fill the memory. */
const MAX_FAILURES = 1000
const MAX_LINE = 10_000
/** Changes of the phase that are reported; the agents of later ones still carry their phase. */
const MAX_PHASES = 10_000
/** What a timer of Node takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Runs a script to its end. Returns how to deliver the parent's messages; `ended` is called after the last `send`. */
export function startScript(
  start: Start,
  send: (message: ToParent) => void,
  ended: () => void,
): (message: ToChild) => void {
  const threads = createThreads()
  const journal =
    start.journal === null ? { results: new Map<string, string>(), damaged: 0 } : readJournal(start.journal)
  if (journal.damaged > 0) send({ type: 'damaged', lines: journal.damaged })
  const waiting = new Map<number, Settle>()
  const finding = new Map<number, SettleScript>()
  const optionKeys = new Map<string, string>()
  const timers = new Map<number, NodeJS.Timeout>()
  const nestedNames = new Map<string, number>()
  let agents = 0
  let finds = 0
  let timerIds = 0
  let logs = 0
  let failures = 0
  let phases = 0
  const named = new Set<string>()
  let over = false
  let phase: string | null = null
  let spent = start.budget.spent

  /** Canonical text of the options that a key holds; schemas repeat, so it is kept by their plain text. */
  const keyOptions = ({ schema, model, effort, isolation, agentType }: CallOptions) => {
    // None of them is ever an empty text, which is what null becomes.
    const plain = [schema, model, effort, isolation, agentType].join('\0')
    let text = optionKeys.get(plain)
    if (text === undefined) {
      const value: unknown = schema === null ? null : JSON.parse(schema)
      text = canonical({ schema: value, model, effort, isolation, agentType })
      optionKeys.set(plain, text)
    }
    return text
  }

  const bridgeFor = (nested: { name: string; phase: string } | null): Bridge => ({
    log(text) {
      logs += 1
      if (logs <= MAX_LOGS) send({ type: 'log', text: nested === null ? text : `[${nested.name}] ${text}` })
    },
    failure(text) {
      failures += 1
      if (failures <= MAX_FAILURES) send({ type: 'failure', text })
    },
    phase(title) {
      if (nested !== null) return
      phase = title
      phases += 1
      if (phases <= MAX_PHASES) send({ type: 'phase', title, current: true })
    },
    agent(prompt, options, settle) {
      agents += 1
      const index = agents
      if (start.maxAgents !== null && index > start.maxAgents) {
        settle('error', 'Error', `Workflow agent() call cap reached (${start.maxAgents})`)
        return
      }
      const thread = threads.current()
      const key = threads.key(prompt, keyOptions(options))
      const shown = nested?.phase ?? options.phase ?? phase
      if (options.phase !== null && nested === null && !named.has(options.phase)) {
        named.add(options.phase)
        send({ type: 'phase', title: options.phase, current: false })
      }
      const known = journal.results.get(key)
      if (known !== undefined) {
        if (settle('value', known, '')) {
          send({ type: 'replayed', label: options.label, phase: shown })
          return
        }
        send({ type: 'damaged', lines: 1 })
      }
      // Sent first: what a stack overflow leaves unsent must not be waited for.
      send({ type: 'call', index, key, thread, prompt, ...options, phase: shown })
      waiting.set(index, settle)
    },
    find(ref, settle) {
      finds += 1
      send({ type: 'find', id: finds, ref })
      finding.set(finds, settle)
    },
    fork: threads.fork,
    setTimer(run, ms) {
      timerIds += 1
      const id = timerIds
      const arm = (left: number) => {
        const next = Math.min(left, MAX_TIMER_MS)
        const fire = () => {
          if (left > next) return arm(left - next)
          timers.delete(id)
          run()
          lookForEnd()
        }
        timers.set(id, setTimeout(fire, next))
      }
      arm(ms)
      return id
    },
    clearTimer(id) {
      clearTimeout(timers.get(id))
      timers.delete(id)
    },
    spent: () => spent,
  })

  const settings = { total: start.budget.total, maxArray: MAX_ARRAY, maxLine: MAX_LINE }
  const runNested = (script: Runnable) => async (args: string | null) => {
    const times = (nestedNames.get(script.name) ?? 0) + 1
    nestedNames.set(script.name, times)
    const title = times === 1 ? `▸ ${script.name}` : `▸ ${script.name} #${times}`
    const outer = bridgeFor(null)
    send({ type: 'phase', title, current: false })
    outer.log(`▸ running dynamic workflow ${script.name}`)
    const inner = makeRealm(bridgeFor({ name: script.name, phase: title }), {
      ...settings,
      args,
      mayNest: false,
    })
    try {
      const result = inner.border.copy(await inner.realm.run(compile(script, inner.context)))
      outer.log(`▸ ${script.name} done`)
      return result
    } catch (error) {
      const { name, message } = inner.border.describe(error)
      outer.log(`▸ ${script.name} failed: ${name}: ${message}`)
      throw new Error(`${name}: ${message}`)
    }
  }

  const {
    context,
    realm: main,
    border: values,
  } = makeRealm(bridgeFor(null), {
    ...settings,
    args: start.args,
    mayNest: true,
  })
  const end = (outcome: Extract<ToParent, { type: 'end' }>['outcome']) => {
    if (over) return
    over = true
    send({ type: 'end', outcome })
    ended()
  }
  const failed = (error: unknown) => {
    const { name, message, stack } = values.describe(error)
    const frames = stack
      .split('\n')
      .filter((line) => line.includes(start.script.file) && /^\s*at /.test(line))
    end({ ok: false, error: [`${name}: ${message}`, ...frames.slice(0, 5)].join('\n') })
  }
  /** Only answers and timers let a script continue: without any to come, one that has not returned never will. */
  const lookForEnd = () => {
    setImmediate(() => {
      if (waiting.size + finding.size + timers.size === 0) end({ ok: false, error: NEVER })
    })
  }
  const body = compile(start.script, context)
  firstSlice(context, () => main.run(body), start.firstSliceMs).then((value) => {
    try {
      end({ ok: true, json: values.finish(value) })
    } catch (error) {
      failed(error)
    }
  }, failed)
  lookForEnd()

  return (message) => {
    if (message.type === 'reply') {
      spent = message.spent
      const settle = waiting.get(message.index)
      waiting.delete(message.index)
      if (settle !== undefined) deliver(settle, message.reply)
    } else if (message.type === 'script') {
      const settle = finding.get(message.id)
      finding.delete(message.id)
      if (message.found.ok) settle?.(runNested(message.found.script), '')
      else settle?.(null, message.found.message)
    }
    lookForEnd()
  }
}

const NEVER =
  'Error: the script waits for a promise that nothing can settle: no agent, no timer and no workflow is under way'

function deliver(settle: Settle, reply: Reply) {
  if (reply.kind === 'value') settle('value', reply.json, '')
  else if (reply.kind === 'null') settle('null', '', '')
  else settle('error', reply.name, reply.message)
}

interface Inside {
  context: object
  realm: Realm
  border: Border
}

function makeRealm(bridge: Bridge, settings: RealmSettings): Inside {
  const context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } })
  const inside = <F>(source: F): F =>
    new Script(`'use strict'; (${String(source)})`).runInContext(context) as F
  const values = inside(border)(settings.maxArray)
  const made = inside(realm)(values, bridge, settings)
  inside(fence)()
  inside(freezeBuiltIns)(null)
  return { context, realm: made, border: values }
}

type Body = Parameters<Realm['run']>[0]
function compile(script: Runnable, context: object): Body {
  return new Script(script.code, { filename: script.file, columnOffset: -script.offset }).runInContext(
    context,
  ) as Body
}

/** Runs the part of the script before its first await, under a time limit. */
async function firstSlice(context: object, run: () => Promise<unknown>, ms: number): Promise<unknown> {
  // The limit of node:vm covers what a script calls, so the call must come from inside; the name is gone before it runs.
  const name = '\0run'
  Reflect.set(context, name, run)
  const source = `(() => { const name = '\\0run'; const run = globalThis[name]; delete globalThis[name]; return run() })()`
  return await new Script(source).runInContext(context, { timeout: ms })
}
