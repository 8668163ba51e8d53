import type { Border } from './border.ts'
import type { CallOptions } from './protocol.ts'
import type { Fork } from './thread.ts'

/**
 * What the script's realm may ask of the process. Only primitives and functions of the realm go in. Whatever a call throws is
 * an error of the process, a stack overflow at the border for example: `outside` below replaces it by one of the realm.
 */
export interface Bridge {
  log(text: string): void
  failure(text: string): void
  phase(title: string): void
  agent(prompt: string, options: CallOptions, settle: Settle): void
  find(ref: { name: string } | { scriptPath: string }, settle: SettleScript): void
  fork(slots: number): Fork
  setTimer(run: () => void, ms: number): number
  clearTimer(id: number): void
  spent(): number
}

/** False: `first` was to be a value, and is not JSON; nothing was settled. */
export type Settle = (kind: 'value' | 'null' | 'error', first: string, message: string) => boolean
/** `run` is the nested script: takes the args as JSON text (null = none), gives its result. */
export type SettleScript = (run: ((args: string | null) => Promise<unknown>) | null, message: string) => void

export interface RealmSettings {
  args: string | null
  total: number | null
  maxArray: number
  /** Characters of the line about a slot that failed. */
  maxLine: number
  /** False inside a child workflow: one level only. */
  mayNest: boolean
}

export interface Realm {
  /** Calls the function that wraps a script's body. */
  run(body: (importStub: () => never) => () => Promise<unknown>): Promise<unknown>
}

/**
 * Makes the API of a script inside its own realm. The source text of this function is compiled in the script's context
 * (`realm.toString()`), so it must use nothing from outside: no imports at run time, no module constants.
 * Built-ins are taken before the script can touch them.
 */
export function realm(
  { thrown, messageOf, text, copy, tooLong }: Border,
  bridge: Bridge,
  settings: RealmSettings,
): Realm {
  const P = Promise
  const Arr = Array
  const { isArray } = Arr
  const { parse, stringify } = JSON
  const { keys, defineProperty, freeze } = Object
  const TypeErr = TypeError
  const Num = Number
  const Str = String
  const { max } = Math

  /** Each call of a function of the process goes through here: no error of its realm reaches the script. */
  const outside = <T>(call: () => T): T => {
    try {
      return call()
    } catch {
      throw thrown('RangeError', 'Maximum call stack size exceeded')
    }
  }

  const optionText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
  const startAgent = (prompt: unknown, given: unknown): Promise<unknown> =>
    new P((resolve, reject) => {
      const words = text(prompt)
      const options = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
      const { isolation, schema, stallMs } = options
      if (isolation === 'remote') {
        throw thrown('Error', "agent({isolation: 'remote'}) is not available in this build")
      }
      const call: CallOptions = {
        label: optionText(options.label) ?? words.trim().slice(0, 1000).replace(/\s+/g, ' ').slice(0, 60),
        phase: optionText(options.phase),
        schema: schema === undefined || schema === null ? null : (stringify(copy(schema)) ?? 'null'),
        model: optionText(options.model),
        effort: ['low', 'medium', 'high', 'xhigh', 'max'].includes(Str(options.effort))
          ? Str(options.effort)
          : null,
        agentType: optionText(options.agentType),
        isolation: isolation === 'worktree' ? 'worktree' : null,
        stallMs: typeof stallMs === 'number' && stallMs > 0 ? stallMs : null,
      }
      outside(() =>
        bridge.agent(words, call, (kind, first, message) => {
          if (kind === 'error') reject(thrown(first, message))
          else {
            let value: unknown = null
            try {
              if (kind === 'value') value = parse(first)
            } catch {
              return false
            }
            resolve(value)
          }
          return true
        }),
      )
    })

  /** Runs slots as threads; one that throws gives null and is logged, and never fails the call. */
  const slots = async (kind: string, count: number, one: (slot: number) => Promise<unknown>) => {
    const fork = outside(() => bridge.fork(count))
    const results = await P.all(
      Arr.from({ length: count }, (_, slot) =>
        outside(() =>
          fork.within(slot, async () => {
            try {
              return await one(slot)
            } catch (error) {
              const line = `${kind}[${slot}] failed: ${messageOf(error)}`.slice(0, settings.maxLine)
              outside(() => bridge.log(line))
              outside(() => bridge.failure(line))
              return null
            }
          }),
        ),
      ),
    )
    outside(() => fork.join())
    return copy(results)
  }
  const startParallel = async (thunks: unknown): Promise<unknown> => {
    if (!isArray(thunks)) throw thrown('TypeError', 'parallel() expects an array of functions')
    if (thunks.length > settings.maxArray) throw tooLong(thunks.length)
    for (let i = 0; i < thunks.length; i += 1) {
      if (typeof thunks[i] !== 'function') {
        throw thrown(
          'TypeError',
          'parallel() expects an array of functions, not promises. Wrap each call: () => agent(...)',
        )
      }
    }
    const list = [...thunks] as (() => unknown)[]
    return slots('parallel', list.length, async (slot) => {
      const thunk = list[slot]
      return thunk?.()
    })
  }
  const startPipeline = async (items: unknown, stages: unknown[]): Promise<unknown> => {
    if (!isArray(items)) throw thrown('TypeError', 'pipeline() expects an array as the first argument')
    if (items.length > settings.maxArray) throw tooLong(items.length)
    if (stages.some((stage) => typeof stage !== 'function')) {
      throw thrown(
        'TypeError',
        'pipeline() stages must be functions: pipeline(items, item => ..., result => ...)',
      )
    }
    const list = [...items] as unknown[]
    return slots('pipeline', list.length, async (slot) => {
      const item = await list[slot]
      let value: unknown = item
      for (const stage of stages as ((...args: unknown[]) => unknown)[]) {
        if (value === null) return null
        value = await stage(value, item, slot)
      }
      return value
    })
  }
  const startWorkflow = async (ref: unknown, args: unknown): Promise<unknown> => {
    if (!settings.mayNest) {
      throw thrown(
        'Error',
        'workflow() cannot be called from within a child workflow — nesting is limited to one level. Inline the inner script or call its agents directly.',
      )
    }
    const path =
      typeof ref === 'object' && ref !== null ? (ref as Record<string, unknown>).scriptPath : undefined
    if (typeof ref !== 'string' && typeof path !== 'string') {
      throw thrown('TypeError', 'workflow() expects a workflow name (string) or {scriptPath: string}')
    }
    const target = typeof ref === 'string' ? { name: ref } : { scriptPath: Str(path) }
    const run = await new P<(args: string | null) => Promise<unknown>>((resolve, reject) => {
      outside(() =>
        bridge.find(target, (found, message) =>
          found === null ? reject(thrown('Error', message)) : resolve(found),
        ),
      )
    })
    let result: unknown
    try {
      result = await run(args === undefined ? null : (stringify(args) ?? null))
    } catch (error) {
      throw thrown('Error', messageOf(error))
    }
    return copy(result)
  }

  // The hosts show this text for String(agent).
  const api =
    (hostFn: (...a: unknown[]) => unknown) =>
    async (...a: unknown[]) =>
      hostFn(...a)
  const line = (values: unknown[]) =>
    values.map((value) => (typeof value === 'object' ? (stringify(value) ?? '') : Str(value))).join(' ')
  const says = (words: string) => outside(() => bridge.log(words))
  const spent = () => outside(() => bridge.spent())
  const prefixed =
    (prefix: string) =>
    (...values: unknown[]) =>
      says(prefix + line(values))
  const total = settings.total
  const globals: Record<string, unknown> = {
    log: (value: unknown) => says(text(value)),
    phase: (title: unknown) => {
      const words = text(title)
      outside(() => bridge.phase(words))
    },
    console: {
      log: prefixed(''),
      info: prefixed(''),
      debug: prefixed(''),
      warn: prefixed('[warn] '),
      error: prefixed('[error] '),
    },
    budget: freeze({
      total,
      spent: () => spent(),
      remaining: () => (total === null ? 1 / 0 : max(0, total - spent())),
    }),
    setTimeout: (run: unknown, ms?: unknown, ...rest: unknown[]) => {
      if (typeof run !== 'function') throw new TypeErr('setTimeout() expects a function')
      const delay = Num(ms) || 0
      const fire = () => {
        try {
          run(...rest)
        } catch {
          // A timer that throws does not fail the run, as in the hosts.
        }
      }
      return outside(() => bridge.setTimer(fire, delay))
    },
    clearTimeout: (id: unknown) => {
      const which = Num(id)
      outside(() => bridge.clearTimer(which))
    },
    // The hosts have it: awaiting the global object must not hang.
    // biome-ignore lint/suspicious/noThenProperty: it is undefined on purpose.
    then: undefined,
    agent: api(startAgent as (...a: unknown[]) => unknown),
    parallel: api(startParallel as (...a: unknown[]) => unknown),
    pipeline: api((items, ...stages) => startPipeline(items, stages)),
    workflow: api(startWorkflow as (...a: unknown[]) => unknown),
    args: settings.args === null ? undefined : parse(settings.args),
  }
  for (const key of keys(globals)) {
    // Some engines bring a `console` of their own, whose place among the names would stay.
    delete (globalThis as Record<string, unknown>)[key]
    defineProperty(globalThis, key, {
      value: globals[key],
      writable: true,
      configurable: true,
      enumerable: true,
    })
  }
  return {
    run: async (body) =>
      body(() => {
        throw thrown('Error', 'import() is not available in workflow scripts.')
      })(),
  }
}
