/** The JSON Schema validator, in a module of its own so that it is loaded only when a schema is used. */
import { Ajv } from 'ajv'

/** Hosts refuse them in the schema of an answer, so a script that used them would run here only. */
const REFUSED = ['allOf', 'if', 'then', 'else']

/** Ajv 8, draft-07, strict about unknown keywords, no formats. One a schema: two schemas may use the same $id. */
export function newValidator(): Ajv {
  const ajv = new Ajv({ strictTypes: false, strictTuples: false, allErrors: true, logger: false })
  // The schema of schemas uses one of them itself, so it is compiled before they go.
  ajv.validateSchema({})
  for (const keyword of REFUSED) ajv.removeKeyword(keyword)
  return ajv
}
