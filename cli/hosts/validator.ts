/** The JSON Schema validator, in a module of its own so that it is loaded only when a schema is used. */
import { Ajv } from 'ajv'

/** Ajv 8, draft-07, strict about unknown keywords, no formats. One a schema: two schemas may use the same $id. */
export const newValidator = (): Ajv =>
  new Ajv({ strictTypes: false, strictTuples: false, allErrors: true, logger: false })
