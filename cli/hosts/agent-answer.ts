/** An agent's answer: finds the JSON object in its text, and checks it against the schema of the task. */
import { objectIn } from '../json.ts'
import { fail, ok, type Result } from '../result.ts'

/**
 * Says what is wrong with a value (`/n: must be number, …`), or null when it satisfies the schema. `TOO_SLOW` when the
 * check took too long and was ended: the schema is at fault, and a further answer may end the same way.
 */
export type SchemaCheck = (value: unknown) => string | null

export const TOO_SLOW =
  'the schema cannot be checked: it takes more than 2 s on this answer; its patterns must not nest one repetition in another, as ^(a+)+$ does'

const compiled = new Map<string, Promise<Result<SchemaCheck>>>()

/**
 * Compiles a JSON Schema of an answer: Ajv 8, draft-07, strict about unknown keywords, no formats. The validator is
 * loaded at the first use and kept per schema. An invalid schema is a Problem `bad_schema`, whose message is
 * the validator's own text. `isOurs`: it is one of Assay's own, so it is valid, and need not be looked at.
 */
export function schemaCheckOf(schema: object, { isOurs = false } = {}): Promise<Result<SchemaCheck>> {
  const key = JSON.stringify(schema)
  const known = compiled.get(key) ?? compile(schema, isOurs)
  compiled.set(key, known)
  return known
}

async function compile(schema: object, isOurs: boolean): Promise<Result<SchemaCheck>> {
  const { newValidator, withinLimit, wrongInSchema } = await import('./validator.ts')
  const refuse = (message: string) =>
    fail({ kind: 'usage', code: 'bad_schema', message, hint: 'use JSON Schema draft-07 without formats' })
  try {
    const wrong = isOurs ? null : wrongInSchema(schema)
    if (wrong !== null) return refuse(wrong)
    const validate = newValidator().compile(schema)
    return ok((value) => {
      const looked = withinLimit(() => validate(value))
      if (looked === null) return TOO_SLOW
      if (looked.value) return null
      const errors = validate.errors ?? []
      return errors
        .map((error) => `${error.instancePath || '/'}: ${error.message ?? error.keyword}`)
        .join(', ')
    })
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

/** Positions tried when an answer is full of braces that start no JSON. */
const MAX_STARTS = 2000

/**
 * The JSON object in an agent's text, null when there is none: the whole text, else the last fenced block that holds an
 * object, else the last object among the prose.
 */
export function extractObject(text: string): object | null {
  const whole = objectIn(text)
  if (whole !== null) return whole
  let fenced: object | null = null
  for (const match of text.matchAll(/^```[\w-]*[ \t]*\r?\n([\s\S]*?)^```[ \t]*$/gm)) {
    fenced = objectIn(match[1] ?? '') ?? fenced
  }
  return fenced ?? lastInProse(text)
}

function lastInProse(text: string): object | null {
  let found: object | null = null
  let tries = 0
  let start = text.indexOf('{')
  while (start !== -1 && tries < MAX_STARTS) {
    tries += 1
    const end = closing(text, start)
    const value = end === -1 ? null : objectIn(text.slice(start, end + 1))
    if (value !== null) found = value
    start = text.indexOf('{', value === null ? start + 1 : end + 1)
  }
  return found
}

/** The brace that closes the one at `start`, by JSON's own rules for strings; -1 when none does. */
function closing(text: string, start: number): number {
  let depth = 0
  let quoted = false
  for (let at = start; at < text.length; at += 1) {
    const char = text[at]
    if (quoted) {
      if (char === '\\') at += 1
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{') depth += 1
    else if (char === '}') {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return -1
}
