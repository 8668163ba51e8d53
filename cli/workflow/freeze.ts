/**
 * Freezes the built-ins of the realm in which it is compiled, and all that is reachable from them. For the script's realm it is
 * compiled there from its source text, so it uses nothing from outside. The process freezes its own as well: when the stack
 * overflows while the engine formats the stack of an error, the script gets an error of the process, and must find nothing
 * in its prototypes that it could change.
 *
 * `names`: of the built-ins; null = all capitalised names of the global object.
 */
export function freezeBuiltIns(names: readonly string[] | null): void {
  const scope = globalThis as unknown as Record<string, unknown>
  const seen = new Set<unknown>()
  const pending: unknown[] = []
  const reach = (value: unknown) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return
    seen.add(value)
    pending.push(value)
  }
  for (const name of names ?? Object.getOwnPropertyNames(globalThis)) {
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

/** Built-ins of the language; those of Node come and go as its own modules are loaded. */
export const OF_THE_LANGUAGE: readonly string[] = [
  ...[
    'Object',
    'Function',
    'Symbol',
    'Boolean',
    'Number',
    'BigInt',
    'String',
    'RegExp',
    'Date',
    'Math',
    'JSON',
  ],
  ...[
    'Error',
    'AggregateError',
    'EvalError',
    'RangeError',
    'ReferenceError',
    'SyntaxError',
    'TypeError',
    'URIError',
  ],
  ...['Array', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'Promise', 'Proxy', 'Reflect', 'Iterator'],
  ...['ArrayBuffer', 'DataView', 'Uint8Array', 'Float64Array', 'Intl'],
]
