/** The JSON Schema validator, in a module of its own so that it is loaded only when a schema is used. */
import { createContext, Script } from 'node:vm'
import { Ajv } from 'ajv'

/** Hosts refuse them in the schema of an answer, so a script that used them would run here only. */
const REFUSED = ['allOf', 'if', 'then', 'else']

/** Ajv 8, draft-07, strict about unknown keywords, no formats. */
const OPTIONS = { strictTypes: false, strictTuples: false, allErrors: true, logger: false } as const

/** Compiles the schema of schemas, which takes long, once. That one itself uses a keyword that answers may not. */
const ofSchemas = new Ajv(OPTIONS)

/** What is wrong with a schema, in Ajv's words; null = nothing. */
export const wrongInSchema = (schema: object): string | null =>
  ofSchemas.validateSchema(schema) ? null : ofSchemas.errorsText(ofSchemas.errors)

/** For a schema that is valid. One a schema: two schemas may use the same $id. */
export function newValidator(): Ajv {
  const ajv = new Ajv({ ...OPTIONS, validateSchema: false })
  for (const keyword of REFUSED) ajv.removeKeyword(keyword)
  return ajv
}

const LIMIT_MS = 2000
const room = createContext({ look: null as (() => unknown) | null })
const call = new Script('look()')

/** The result of `look`; null when it took longer than two seconds and was ended. A regular expression can only be ended so. */
export function withinLimit<T>(look: () => T): { value: T } | null {
  room.look = look
  try {
    return { value: call.runInContext(room, { timeout: LIMIT_MS }) as T }
  } catch (error) {
    // The error is made in the room, so it is no instance of the Error here.
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null
    throw error
  } finally {
    room.look = null
  }
}
