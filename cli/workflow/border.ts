/** Errors and values as they cross the border of the script's realm. */
export interface Border {
  /** An error for the script: `name`, `message`, `stack` and no prototype, as in the hosts. */
  thrown(name: string, message: string): unknown
  messageOf(error: unknown): string
  /** How `log`, `phase` and `agent` read what should be text. */
  text(value: unknown): string
  /**
   * A copy as plain data: functions are dropped, instances lose their class, holes become null. Throws for cycles and for
   * arrays that are too long.
   */
  copy(value: unknown): unknown
  tooLong(length: number): unknown
  /** The result of a script as JSON text; null for what JSON cannot say. Throws for functions, bigints and cycles. */
  finish(value: unknown): string | null
  describe(error: unknown): { name: string; message: string; stack: string }
}

/**
 * Made inside the script's realm from this function's source text, so it uses nothing from outside; built-ins are taken
 * before the script can touch them.
 */
export function border(maxArray: number): Border {
  const { isArray } = Array
  const { stringify } = JSON
  const { create, keys, defineProperty } = Object
  const Err = Error
  const Str = String
  const SetOf = Set
  const OWN = { writable: true, enumerable: true, configurable: true }

  const thrown = (name: string, message: string): unknown => {
    let stack = `${name}: ${message}`
    try {
      stack = Str(new Err(message).stack).replace(/^Error/, name)
    } catch {
      // The process formats stacks: when that overflows, its error must not get out.
    }
    const error = create(null)
    for (const [key, value] of [
      ['name', name],
      ['message', message],
      ['stack', stack],
      ['toString', () => `${name}: ${message}`],
    ] as const) {
      defineProperty(error, key, { value, writable: true, configurable: true, enumerable: false })
    }
    return error
  }
  const messageOf = (error: unknown): string => {
    try {
      const message = (error as { message?: unknown } | null | undefined)?.message
      return typeof message === 'string' ? message : Str(error)
    } catch {
      return 'unknown error'
    }
  }
  const text = (value: unknown): string => {
    if (typeof value === 'function') return '[function]'
    return typeof value === 'object' && value !== null ? '[object]' : Str(value)
  }
  const tooLong = (length: number) =>
    thrown(
      'Error',
      `array length ${length} exceeds the maximum of ${maxArray} supported across the workflow VM boundary`,
    )

  const copy = (value: unknown): unknown => copyInto(value, new SetOf())
  const copyInto = (value: unknown, above: Set<object>): unknown => {
    if (typeof value === 'function') return undefined
    if (typeof value !== 'object' || value === null) return value
    if (above.has(value)) throw thrown('TypeError', 'JSON.stringify cannot serialize cyclic structures.')
    above.add(value)
    let result: unknown
    if (isArray(value)) {
      if (value.length > maxArray) throw tooLong(value.length)
      const items: unknown[] = []
      for (let i = 0; i < value.length; i += 1) items[i] = i in value ? copyInto(value[i], above) : null
      result = items
    } else {
      const record: Record<string, unknown> = {}
      for (const key of keys(value)) {
        const item: unknown = (value as Record<string, unknown>)[key]
        if (typeof item === 'function') continue
        const inside = copyInto(item, above)
        // Assignment would call a setter (`__proto__`), or fail for a name that the frozen prototype has.
        if (key in record) defineProperty(record, key, { ...OWN, value: inside })
        else record[key] = inside
      }
      result = record
    }
    above.delete(value)
    return result
  }
  /** The result as JSON text; `undefined` and symbols become null. */
  const finish = (value: unknown): string | null => {
    if (typeof value === 'function') throw thrown('Error', 'workflow result cannot be a function')
    const json = stringify(copy(value), (_key, item: unknown) => {
      if (typeof item === 'bigint') throw thrown('TypeError', 'JSON.stringify cannot serialize BigInt.')
      return item
    })
    return json ?? null
  }
  const describe = (error: unknown) => {
    const part = (key: string): string => {
      try {
        const value = (error as Record<string, unknown> | null)?.[key]
        return typeof value === 'string' ? value : ''
      } catch {
        return ''
      }
    }
    const isObject = typeof error === 'object' && error !== null
    return isObject
      ? { name: part('name') || 'Error', message: part('message'), stack: part('stack') }
      : { name: 'Error', message: Str(error), stack: '' }
  }

  return { thrown, messageOf, text, copy, tooLong, finish, describe }
}
