/** JSON of which nothing is known. Pure. */

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value, or an empty record in the place of anything else. */
export const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})

/** undefined when the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The JSON object that a text is; null when it is anything else. */
export function objectIn(text: string): Record<string, unknown> | null {
  const value = parseJson(text)
  return isRecord(value) ? value : null
}
