/**
 * The vocabulary in which `schema.ts` declares the keys of a spec. Validation, defaults, the JSON Schema for
 * editors, the key table of the guide and the type of what was read all come from one such declaration.
 */

declare const valueType: unique symbol

/** What a value may be. `T` is the type that a reader gets: a duration is written "10m" and read as 600000. */
export type Kind<T = unknown> = Shape & { readonly [valueType]?: T }

/** Reports a rule that spans several keys; `path` leads from the checked value to the culprit. */
export type Report = (path: (string | number)[], message: string, hint: string) => void

/** Runs only when everything below the value was read; the value has the type of its kind. */
type Check = (value: never, report: Report) => void

export type Shape =
  | {
      is: 'text'
      /** With its article: "a duration". */
      noun: string
      /** JavaScript and JSON Schema regular expression for the whole text. */
      pattern: string | null
      hint: string
      empty: boolean
      parse: (text: string) => unknown
      check: Check | null
    }
  | {
      is: 'number'
      whole: boolean
      min: number | null
      max: number | null
      /** min itself is not allowed. */
      above: boolean
      parse: (value: number) => unknown
    }
  | { is: 'boolean' }
  | { is: 'choice'; values: readonly string[] }
  | {
      is: 'list'
      of: Kind
      least: number
      /** The key by which the entries, which are mappings, must differ. */
      unique: string | null
    }
  | { is: 'map'; of: Kind; names: string; hint: string }
  | {
      is: 'keys'
      keys: Keys
      check: Check | null
      also: object | null
      /** Keys that are not declared are skipped, and no problem. */
      open: boolean
    }
  | { is: 'either'; of: readonly Kind[] }

/** How a key is present when the user did not write it. */
export type KeyPresence = 'required' | 'optional' | 'default' | 'later'

export interface Key<T = unknown> {
  kind: Kind<T>
  presence: KeyPresence
  /** As the user would write it. `{}` gives a mapping all the defaults of its own keys. */
  written: string | number | boolean | readonly [] | Record<string, never> | null
  doc: string
  /** Of a required key: the key at the top of the document with which it is not required; absent = it always is. */
  unless?: string
}
export type Keys = Record<string, Key>
export type Later = Key<never>

export type TypeOf<K> = K extends Kind<infer T> ? T : never
type ValuesOf<K extends Keys> = {
  [N in keyof K as K[N] extends Later ? never : N]: K[N] extends Key<infer T> ? T : never
}

// ---------------------------------------------------------------- scalars

interface TextOptions {
  noun?: string
  pattern?: string
  hint?: string
  empty?: boolean
  parse?: (text: string) => unknown
  /** Of the text as it was written. */
  check?: (value: string, report: Report) => void
}

type Parsed<O extends { parse?: unknown }, W> = O extends { parse: (written: W) => infer T } ? T : W

export const text = <const O extends TextOptions>(options?: O): Kind<Parsed<O, string>> => ({
  is: 'text',
  noun: options?.noun ?? 'text',
  pattern: options?.pattern ?? null,
  hint: options?.hint ?? 'write some text',
  empty: options?.empty ?? false,
  parse: options?.parse ?? ((written) => written),
  check: options?.check ?? null,
})

interface NumberOptions {
  min?: number
  max?: number
  above?: number
  parse?: (value: number) => unknown
}
/** Of a whole number without a bound of its own: more than any use, and exact in a double. */
const LARGEST = 1_000_000_000

const numeric =
  (whole: boolean) =>
  <const O extends NumberOptions>(options?: O): Kind<Parsed<O, number>> => ({
    is: 'number',
    whole,
    min: options?.above ?? options?.min ?? null,
    max: options?.max ?? (whole ? LARGEST : null),
    above: options?.above !== undefined,
    parse: options?.parse ?? ((value) => value),
  })

export const number = numeric(false)
export const whole = numeric(true)
export const boolean: Kind<boolean> = { is: 'boolean' }

export const choice = <const V extends readonly string[]>(values: V): Kind<V[number]> => ({
  is: 'choice',
  values,
})

// ---------------------------------------------------------------- collections

export const list = <T>(
  of: Kind<T>,
  options: { least?: number; unique?: keyof T & string } = {},
): Kind<T[]> => ({ is: 'list', of, least: options.least ?? 0, unique: options.unique ?? null })

/** A mapping whose keys are the user's own names. */
export const map = <T>(of: Kind<T>, names: string, hint: string): Kind<Record<string, T>> => ({
  is: 'map',
  of,
  names,
  hint,
})

/** A mapping with known keys. `also` says the part of `check` that JSON Schema can say. */
export const keys = <const K extends Keys>(
  declared: K,
  options: { check?: (value: ValuesOf<K>, report: Report) => void; also?: object; open?: boolean } = {},
): Kind<ValuesOf<K>> => ({
  is: 'keys',
  keys: declared,
  check: options.check ?? null,
  also: options.also ?? null,
  open: options.open ?? false,
})

/** The members differ in how they are written (text, number, list, mapping), so the first that fits is meant. */
export const either = <const K extends readonly Kind[]>(...of: K): Kind<TypeOf<K[number]>> => ({
  is: 'either',
  of,
})

// ---------------------------------------------------------------- keys

export const need = <T>(kind: Kind<T>, doc: string): Key<T> => ({
  kind,
  presence: 'required',
  written: null,
  doc,
})
/**
 * Required, unless the document has the key `unless` at its top: then an absent one is read as it would be `written`, and as
 * null if that is null.
 */
export const needUnless = <T, const W extends Key['written']>(
  unless: string,
  kind: Kind<T>,
  written: W,
  doc: string,
): Key<W extends null ? T | null : T> =>
  ({ kind: kind as Kind, presence: 'required', written, doc, unless }) as Key<W extends null ? T | null : T>
/** Absent = null. */
export const may = <T>(kind: Kind<T>, doc: string): Key<T | null> => ({
  kind,
  presence: 'optional',
  written: null,
  doc,
})
export const or = <T>(kind: Kind<T>, written: Key['written'], doc: string): Key<T> => ({
  kind,
  presence: 'default',
  written,
  doc,
})
/** Known and refused in this release; giving it a kind and a presence is all that a later one has to do. */
export const later = (doc: string): Later => ({
  kind: boolean as Kind<never>,
  presence: 'later',
  written: null,
  doc,
})
