/**
 * Takes clock, randomness and everything that is not plain JavaScript out of a realm; `freezeBuiltIns` follows. Compiled
 * inside the script's context from its source text, so it uses nothing from outside. It keeps scripts deterministic. It is
 * no sandbox: `node:vm` is no border for hostile code, so the script's process also makes no code from text and has no
 * environment of the user, but it has the user's rights.
 */
export function fence(): void {
  const clock =
    'Date.now() / new Date() are unavailable in workflow scripts (breaks resume). Stamp results after the workflow returns, or pass timestamps via args.'
  const noClock = (): never => {
    throw new Error(clock)
  }
  const scope = globalThis as unknown as Record<string, unknown>
  for (const name of ['WebAssembly', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics']) {
    delete scope[name]
  }
  Object.defineProperty(Math, 'random', {
    value: () => {
      throw new Error(
        'Math.random() is unavailable in workflow scripts (breaks resume). For N independent samples, include the index in the agent label or prompt.',
      )
    },
  })

  const RealDate = Date
  function FencedDate(...given: unknown[]) {
    if (new.target === undefined || given.length === 0) return noClock()
    return Reflect.construct(RealDate, given, new.target)
  }
  for (const [key, value] of [
    ['name', 'Date'],
    ['length', 7],
    ['prototype', RealDate.prototype],
    ['now', noClock],
    ['parse', RealDate.parse],
    ['UTC', RealDate.UTC],
  ] as const) {
    Object.defineProperty(FencedDate, key, { value })
  }
  Object.defineProperty(RealDate.prototype, 'constructor', { value: FencedDate })
  Object.defineProperty(globalThis, 'Date', { value: FencedDate, writable: true, configurable: true })
  // Node asks the Error of this global object how to show a stack, and would hand it the frames of the process.
  Object.defineProperty(globalThis, 'Error', { value: Error, writable: false, configurable: false })

  // Without an argument these read the clock.
  const formats = Intl.DateTimeFormat.prototype
  const getFormat = Object.getOwnPropertyDescriptor(formats, 'format')?.get
  const toParts = formats.formatToParts
  if (getFormat !== undefined) {
    Object.defineProperty(formats, 'format', {
      get(this: Intl.DateTimeFormat) {
        const format = Reflect.apply(getFormat, this, [])
        return (date?: unknown) => (date === undefined ? noClock() : format(date))
      },
    })
  }
  Object.defineProperty(formats, 'formatToParts', {
    value(this: Intl.DateTimeFormat, date?: unknown) {
      return date === undefined ? noClock() : Reflect.apply(toParts, this, [date])
    },
  })
}
