/** Finds a value in JSON text without parsing it into objects, so that it can be replaced where it stands. Pure. */

/**
 * Start and end of the value at `pointer` (RFC 6901); null when there is none or the text is not JSON up to there.
 * Of a repeated key the last one counts, as in `JSON.parse`.
 */
export function numberSpan(json: string, pointer: string): [number, number] | null {
  const path = pointer === '' ? [] : pointer.slice(1).split('/')
  if (pointer !== '' && !pointer.startsWith('/')) return null
  const keys = path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  let span: [number, number] | null = [0, json.length]
  for (const key of keys) {
    span = member(json, span[0], key)
    if (!span) return null
  }
  const value = skipSpace(json, span[0])
  const end = skipValue(json, value)
  return end === null ? null : [value, end]
}

/** The span of one member of the object or array that starts at `from`. */
function member(json: string, from: number, key: string): [number, number] | null {
  let at = skipSpace(json, from)
  const opening = json[at]
  if (opening !== '{' && opening !== '[') return null
  let found: [number, number] | null = null
  at = skipSpace(json, at + 1)
  for (let index = 0; at < json.length && json[at] !== '}' && json[at] !== ']'; index++) {
    let name = String(index)
    if (opening === '{') {
      const end = skipValue(json, at)
      if (end === null) return null
      name = text(json.slice(at, end))
      at = skipSpace(json, end)
      if (json[at] !== ':') return null
      at = skipSpace(json, at + 1)
    }
    const end = skipValue(json, at)
    if (end === null) return null
    if (name === key) found = [at, end]
    at = skipSpace(json, end)
    if (json[at] === ',') at = skipSpace(json, at + 1)
  }
  return found
}

/** The end of the value that starts at `from`; brackets are counted, so depth costs no stack. */
function skipValue(json: string, from: number): number | null {
  let depth = 0
  let at = from
  while (at < json.length) {
    const char = json[at] ?? ''
    if (char === '"') {
      at = endOfText(json, at)
    } else if (char === '{' || char === '[') {
      depth++
      at++
    } else if (char === '}' || char === ']') {
      if (depth === 0) return null
      depth--
      at++
    } else if (depth > 0) {
      at++
    } else {
      while (at < json.length && !/[\s,:[\]{}"]/.test(json[at] ?? '')) at++
      return at > from ? at : null
    }
    if (depth === 0) return at
  }
  return null
}

function endOfText(json: string, from: number): number {
  let at = from + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}

function skipSpace(json: string, from: number): number {
  let at = from
  while (at < json.length && /\s/.test(json[at] ?? '')) at++
  return at
}

function text(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}
