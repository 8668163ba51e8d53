/** Finds JSON objects among the lines of a log, on one line or on many. Pure. */

/** A longer object is not a benchmark's answer on a stream of text. */
const LONGEST = 1024 * 1024
/** One that is never closed goes on to the end, so that the time is linear. */
const STRING = /"(?:[^"\\]|\\.)*(?:"|\\?$)/g
/** What a line inside of an object consists of beside its strings. */
const SIGNS = /^[\s\d.+\-{}[\]:,A-Za-z]*$/
const WORDS = new Set(['e', 'E', 'true', 'false', 'null', 'NaN', 'nan', 'Infinity', 'inf'])
const BRACKETS = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\]]/g

export interface Documents {
  /** One line without its end. Lines of other text are allowed between objects, and end one that was begun. */
  line(text: string): void
  /** Counts an object that never ended too. Call it once. */
  end(): void
}

/** `found` gets the text of each object: whole, or as far as it went when it was never closed. */
export function documents(found: (text: string) => void): Documents {
  let open = ''
  let depth = 0

  const close = () => {
    if (open !== '') found(open)
    open = ''
    depth = 0
  }
  const begin = (text: string) => {
    const over = depthOf(text)
    if (over <= 0 || !isPart(text)) return found(text)
    open = text
    depth = over
  }
  return {
    line(text) {
      if (open !== '' && (!isPart(text) || open.length + text.length > LONGEST)) close()
      if (open === '') {
        if (text.startsWith('{')) begin(text)
        return
      }
      open += `\n${text}`
      depth += depthOf(text)
      if (depth <= 0) close()
    },
    end: close,
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
