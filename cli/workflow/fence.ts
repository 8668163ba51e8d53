/**
 * Takes clock, randomness and everything that is not plain JavaScript out of a realm, and freezes what is left. Compiled
 * inside the script's context from its source text, so it uses nothing from outside. A fence that keeps scripts
 * deterministic, not a sandbox.
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

  const seen = new Set<unknown>()
  const pending: unknown[] = []
  const reach = (value: unknown) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return
    seen.add(value)
    pending.push(value)
  }
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (/^[A-Z]/.test(name)) reach(scope[name])
  }
  const generator = async function* () {}
  for (const hidden of [
    Object.getPrototypeOf(function* () {}),
    Object.getPrototypeOf(generator),
    Object.getPrototypeOf(async () => {}),
    Object.getPrototypeOf([][Symbol.iterator]()),
    Object.getPrototypeOf(new Map()[Symbol.iterator]()),
    Object.getPrototypeOf(new Set()[Symbol.iterator]()),
    Object.getPrototypeOf(''[Symbol.iterator]()),
    Object.getPrototypeOf('a'.matchAll(/a/g)),
  ]) {
    reach(hidden)
  }
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    const owner = value as object
    for (const key of Reflect.ownKeys(owner)) {
      const descriptor = Object.getOwnPropertyDescriptor(owner, key)
      if (descriptor === undefined) continue
      reach(descriptor.value)
      reach(descriptor.get)
      reach(descriptor.set)
    }
    reach(Object.getPrototypeOf(owner))
    Object.freeze(owner)
  }
}
