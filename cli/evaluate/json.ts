/** JSON of a benchmark, read strictly. */
export type JsonObject = Record<string, unknown>
export type ReadJson = { ok: true; object: JsonObject } | { ok: false; reason: string }

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Refuses what `JSON.parse` refuses, anything but an object, and an object that has a key twice (which one counts?). */
export function readJsonObject(text: string): ReadJson {
  if (text.trim() === '') return refuse('it is empty')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (/[:[,]\s*-?(?:NaN|Infinity)\b/.test(text))
      return refuse('it has NaN or Infinity, which is neither JSON nor a result')
    return refuse(`it is not JSON: ${(error as Error).message}`)
  }
  if (!isJsonObject(value)) return refuse('it is not a JSON object')
  const twice = duplicateKey(text)
  if (twice !== null) return refuse(`it has the key ${JSON.stringify(twice)} twice`)
  return { ok: true, object: value }
}

const refuse = (reason: string): ReadJson => ({ ok: false, reason })

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g

/** The first key that one object of a *valid* JSON text has twice. */
export function duplicateKey(text: string): string | null {
  const open: (Set<string> | null)[] = []
  let string: string | null = null
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':' && string !== null) {
      const key = JSON.parse(string) as string
      const keys = open.at(-1)
      if (keys?.has(key)) return key
      keys?.add(key)
    }
    string = token.startsWith('"') ? token : null
  }
  return null
}
