import { extractObject, type SchemaCheck, schemaCheckOf, TOO_SLOW } from '../hosts/agent-answer.ts'
import { fail, ok, type Result } from '../result.ts'
import type { AgentReply } from '../workflow/call.ts'

/** How many answers may break the schema before the call fails, as in the hosts. */
const MAX_FAILED_ANSWERS = 5

export interface WantedSchema {
  schema: object
  check: SchemaCheck
}

/** The schema of a call from its JSON text. An invalid schema is reported in the hosts' words. */
export async function readSchema(json: string): Promise<Result<WantedSchema>> {
  const schema: unknown = JSON.parse(json)
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    return invalid('schema must be an object')
  }
  const check = await schemaCheckOf(schema)
  return check.ok ? ok({ schema, check: check.value }) : invalid(check.problem.message)
}

/**
 * Asks until an answer satisfies the schema. An answer without an object is asked for once more; five that break the schema end the call. Each
 * new prompt is the first one with the error appended.
 */
export async function askForObject(
  prompt: string,
  wanted: WantedSchema,
  ask: (prompt: string) => Promise<AgentReply>,
  mayRepeat: boolean,
): Promise<AgentReply> {
  let nudged = false
  let broken = 0
  let words = prompt
  for (;;) {
    const reply = await ask(words)
    if (reply.outcome !== 'ok') return reply
    const object: unknown = reply.object ?? extractObject(reply.text)
    if (typeof object !== 'object' || object === null) {
      if (nudged || !mayRepeat) {
        return error(
          'agent({schema}): subagent completed without calling StructuredOutput (after in-conversation nudge)',
        )
      }
      nudged = true
      words = `${prompt}\n\nYour last answer held no JSON object. Answer with one JSON object that satisfies the schema.\n`
      continue
    }
    const wrong = wanted.check(object)
    if (wrong === null) return { ...reply, object }
    if (wrong === TOO_SLOW) return error(`agent({schema}): ${wrong}`)
    broken += 1
    if (!mayRepeat) return error(`agent({schema}): Output does not match required schema: ${wrong}`)
    if (broken === MAX_FAILED_ANSWERS) {
      return error(
        `agent({schema}): StructuredOutput retry cap (${MAX_FAILED_ANSWERS}) exceeded — ${MAX_FAILED_ANSWERS} failed calls with no valid output`,
      )
    }
    words = `${prompt}\n\nOutput does not match required schema: ${wrong}. Answer again with one JSON object that satisfies it.\n`
  }
}

const error = (message: string): AgentReply => ({ outcome: 'error', message })
const invalid = (message: string) =>
  fail({
    kind: 'usage',
    code: 'bad_schema',
    message: `agent({schema}) received an invalid JSON Schema: ${message}`,
  })
