/** JSON of which nothing is known, and the one text that equal data has. Pure. */

export type JsonObject = Record<string, unknown>

export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value, or an empty record in the place of anything else. */
export const recordOf = (value: unknown): JsonObject => (isRecord(value) ? value : {})

/** undefined when the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The JSON object that a text is; null when it is anything else. */
export function objectIn(text: string): JsonObject | null {
  const value = parseJson(text)
  return isRecord(value) ? value : null
}

/** JSON text that is equal for equal data: no spaces, the names of each object in code unit order. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
