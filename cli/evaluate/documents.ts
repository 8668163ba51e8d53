/** Finds JSON objects among the lines of a log, on one line or on many. Pure. */

/** A longer object is not a benchmark's answer on a stream of text. */
const LONGEST = 1024 * 1024
/** Places in one line where an object could begin that are tried. */
const MOST_BEGINS = 20
/** One that is never closed goes on to the end, so that the time is linear. */
const STRING = /"(?:[^"\\]|\\.)*(?:"|\\?$)/g
/** What a line inside of an object consists of beside its strings. */
const SIGNS = /^[\s\d.+\-{}[\]:,A-Za-z]*$/
const WORDS = new Set(['e', 'E', 'true', 'false', 'null', 'NaN', 'nan', 'Infinity', 'inf'])
const BRACKETS = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\]]/g

export interface Documents {
  /** One line without its end. Lines of other text are allowed between objects, and end one that was begun. */
  line(text: string): void
  /** Something else has answered: from now on objects in the midst of lines count. */
  answered(): void
  /** Counts an object that never ended too. Call it once. */
  end(): void
}

/**
 * `found` gets the text of each object: whole, or as far as it went when it was never closed. Behind the first object,
 * one that begins in the midst of a line counts as well, when it is whole: a program that ends its output without
 * an end of line could hide what the next one says.
 */
export function documents(found: (text: string) => void): Documents {
  let open = ''
  let depth = 0
  let any = false
  let hidden = false

  const give = (text: string) => {
    const counts = !hidden || text.includes('\n') || isWhole(text)
    any = true
    hidden = false
    if (counts) found(text)
  }
  const close = () => {
    const text = open
    open = ''
    depth = 0
    if (text !== '') give(text)
  }
  const begin = (text: string) => {
    const over = depthOf(text)
    if (over <= 0 || !isPart(text)) return give(text)
    open = text
    depth = over
  }
  return {
    line(text) {
      if (open !== '' && (!isPart(text) || open.length + text.length > LONGEST)) close()
      if (open === '') {
        if (text.startsWith('{')) return begin(text)
        const at = any ? beginOf(text) : -1
        if (at < 0) return
        hidden = true
        return begin(text.slice(at))
      }
      open += `\n${text}`
      depth += depthOf(text)
      if (depth <= 0) close()
    },
    answered() {
      any = true
    },
    end: close,
  }
}

/** Of the object that ends the line, or else of what may go on behind it; -1 = none. */
function beginOf(text: string): number {
  let at = text.length
  for (let tries = 0; tries < MOST_BEGINS && at > 0; tries++) {
    at = text.lastIndexOf('{', at - 1)
    if (at < 0) break
    if (isWhole(text.slice(at))) return outermost(text, at)
  }
  return text.indexOf('{')
}

/** The object around the one at `at`, as far as it is whole as well. */
function outermost(text: string, at: number): number {
  let best = at
  for (let tries = 0, before = at; tries < MOST_BEGINS && before > 0; tries++) {
    before = text.lastIndexOf('{', before - 1)
    if (before < 0) break
    if (isWhole(text.slice(before))) best = before
  }
  return best
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** How many more brackets it opens than it closes. */
function depthOf(text: string): number {
  let depth = 0
  for (const [token] of text.matchAll(BRACKETS)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
  }
  return depth
}

function isPart(text: string): boolean {
  // What is not closed on its line is no part.
  const rest = text.replace(STRING, (string) => (/."$/.test(string) ? '' : "'"))
  return SIGNS.test(rest) && (rest.match(/[A-Za-z]+/g) ?? []).every((word) => WORDS.has(word))
}
