import type { Kind, Shape } from './kind.ts'
import { closest } from './words.ts'

/** How a value is written in YAML. */
export type Written =
  | { form: 'text'; value: string }
  | { form: 'number'; value: number }
  | { form: 'boolean'; value: boolean }
  | { form: 'list' | 'mapping' | 'nothing' }

export interface Wrong {
  message: string
  hint: string
}
export type Scalar = { value: unknown } | { wrong: Wrong }

type ScalarShape = Extract<Shape, { is: 'text' | 'number' | 'boolean' | 'choice' }>

export const isScalar = (kind: Kind): kind is ScalarShape =>
  kind.is === 'text' || kind.is === 'number' || kind.is === 'boolean' || kind.is === 'choice'

/** Whether a kind takes values that are written this way, whatever the value. */
export function accepts(kind: Kind, form: Written['form']): boolean {
  switch (kind.is) {
    case 'text':
    case 'choice':
      return form === 'text'
    case 'number':
      return form === 'number'
    case 'boolean':
      return form === 'boolean'
    case 'list':
      return form === 'list'
    case 'map':
    case 'keys':
      return form === 'mapping'
    case 'either':
      return kind.of.some((member) => accepts(member, form))
  }
}

/** With its article: "a number". */
export function nounOf(kind: Kind): string {
  switch (kind.is) {
    case 'text':
      return kind.noun
    case 'number':
      return kind.whole ? 'a whole number' : 'a number'
    case 'boolean':
      return 'true or false'
    case 'choice':
      return kind.values.length === 1 ? `\`${kind.values[0]}\`` : `one of ${kind.values.join(', ')}`
    case 'list':
      return 'a list'
    case 'map':
    case 'keys':
      return 'a mapping'
    case 'either':
      return kind.of.map(nounOf).join(' or ')
  }
}

/** A scalar as the kind reads it. `name` stands for it in messages. */
export function readScalar(kind: ScalarShape, written: Written, name: string, source: string): Scalar {
  switch (kind.is) {
    case 'text':
      return written.form === 'text'
        ? readText(kind, written.value, name)
        : mismatch(kind, written, name, source)
    case 'choice':
      return written.form === 'text'
        ? readWord(kind, written.value, name)
        : mismatch(kind, written, name, source)
    case 'number':
      return written.form === 'number'
        ? readNumber(kind, written.value, name)
        : mismatch(kind, written, name, source)
    case 'boolean':
      return written.form === 'boolean' ? { value: written.value } : mismatch(kind, written, name, source)
  }
}

/** The value is written as something else than the kind takes. */
export function mismatch(kind: Kind, written: Written, name: string, source: string): { wrong: Wrong } {
  if (written.form === 'nothing') {
    return { wrong: { message: `${name} is empty`, hint: `write ${nounOf(kind)}, or remove the line` } }
  }
  const found = {
    text: 'text',
    number: 'a number',
    boolean: 'true or false',
    list: 'a list',
    mapping: 'a mapping',
  }
  const message = `${name} must be ${nounOf(kind)}, not ${found[written.form]}`
  return { wrong: { message, hint: repair(kind, written, source) } }
}

function repair(kind: Kind, written: Written, source: string): string {
  const unquoted = /^(["'])(.*)\1$/.exec(source)?.[2]
  if (written.form === 'text' && unquoted !== undefined) {
    const number = accepts(kind, 'number') && /^-?[0-9.]+$/.test(unquoted)
    const truth = accepts(kind, 'boolean') && /^(true|false)$/.test(unquoted)
    if (number || truth) return `remove the quotes: ${unquoted}`
  }
  if (kind.is === 'text' && (written.form === 'number' || written.form === 'boolean')) {
    return kind.pattern === null || new RegExp(kind.pattern, 'u').test(source)
      ? `put quotes around it: "${source}"`
      : kind.hint
  }
  if (kind.is === 'text') return kind.hint
  if (kind.is === 'list' && written.form !== 'mapping')
    return `put brackets around it: [${source.slice(0, 60)}]`
  if (kind.is === 'keys') return `its keys are: ${namesOf(kind.keys).join(', ')}`
  if (kind.is === 'list') return 'begin each entry with "- ", or use [a, b]'
  return `write ${nounOf(kind)}`
}

/** The keys that this release reads. */
export const namesOf = (declared: Extract<Shape, { is: 'keys' }>['keys']): string[] =>
  Object.keys(declared).filter((name) => declared[name]?.presence !== 'later')

function readText(kind: Extract<Shape, { is: 'text' }>, value: string, name: string): Scalar {
  if (value === '' && !kind.empty) return { wrong: { message: `${name} is empty`, hint: kind.hint } }
  if (kind.pattern !== null && !new RegExp(kind.pattern, 'u').test(value)) {
    if (kind.noun === 'a glob' && value.startsWith('!')) return { wrong: negated(value) }
    return { wrong: { message: `${name} is not ${kind.noun}: ${JSON.stringify(value)}`, hint: kind.hint } }
  }
  return { value: kind.parse(value) }
}

export const negated = (glob: string): Wrong => ({
  message: `a glob cannot be negated: ${JSON.stringify(glob)}`,
  hint: `put ${JSON.stringify(glob.replace(/^!+/, ''))} under \`immutable\`, which wins over \`mutable\``,
})

function readWord(kind: Extract<Shape, { is: 'choice' }>, value: string, name: string): Scalar {
  if (kind.values.includes(value)) return { value }
  const near = closest(value, kind.values)
  const hint = near === null ? `write ${nounOf(kind)}` : `did you mean \`${near}\`?`
  return { wrong: { message: `${name} cannot be ${JSON.stringify(value)}`, hint } }
}

function readNumber(kind: Extract<Shape, { is: 'number' }>, value: number, name: string): Scalar {
  const wrong = (message: string): Scalar => ({
    wrong: { message: `${name} ${message}`, hint: boundsOf(kind) },
  })
  if (!Number.isFinite(value)) return wrong('must be a finite number')
  if (kind.whole && !Number.isSafeInteger(value)) return wrong(`must be a whole number, not ${value}`)
  const low = kind.min !== null && (kind.above ? value <= kind.min : value < kind.min)
  const high = kind.max !== null && value > kind.max
  if (low || high) return wrong(`is out of range: ${value}`)
  return { value: kind.parse(value) }
}

function boundsOf({ whole, min, max, above }: Extract<Shape, { is: 'number' }>): string {
  const noun = whole ? 'a whole number' : 'a number'
  if (min !== null && min === max) return `write ${min}`
  if (min !== null && max !== null) return `write ${noun} from ${min} to ${max}`
  if (min !== null) return above ? `write ${noun} above ${min}` : `write ${noun} that is ${min} or more`
  return `write ${noun}`
}
