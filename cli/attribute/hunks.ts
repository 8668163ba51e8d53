/**
 * The places where two versions of one file differ, and the file with only some of them. Text is latin1: each
 * character is one byte, so that bytes that are not UTF-8 come out as they went in.
 */

/** One block of a patch of one file, its context included. */
export interface Hunk {
  /** Lines of the old file before the hunk. */
  before: number
  /** Lines of the old file that the hunk takes the place of. */
  old: number
  /** What stands there afterwards, each line with its end. */
  lines: string[]
  added: number
  removed: number
  /** The changed lines, without their marks. */
  changed: string[]
  /** What git found to stand around it, such as the head of a function. Empty when it found nothing. */
  around: string
}

const HEAD = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@ ?(.*)$/

/** The hunks of a patch of one text file. Everything outside of them is passed over. A patch that ends within a hunk is a bug. */
export function hunksOf(patch: string): Hunk[] {
  const lines = patch.split('\n')
  const hunks: Hunk[] = []
  for (let at = 0; at < lines.length; at++) {
    const head = HEAD.exec(lines[at] ?? '')
    if (!head) continue
    const [old, fresh] = [Number(head[2] ?? 1), Number(head[3] ?? 1)]
    const hunk: Hunk = {
      // A hunk without old lines names the line that it follows.
      before: old === 0 ? Number(head[1]) : Number(head[1]) - 1,
      old,
      lines: [],
      added: 0,
      removed: 0,
      changed: [],
      around: head[4] ?? '',
    }
    at = readBody(lines, at + 1, hunk, fresh) - 1
    hunks.push(hunk)
  }
  return hunks
}

/** Reads the lines of `hunk` from `at` on, and answers where they end. */
function readBody(lines: readonly string[], start: number, hunk: Hunk, fresh: number): number {
  let at = start
  let seen = 0
  while (seen < hunk.old || hunk.lines.length < fresh) {
    const line = lines[at]
    if (line === undefined) throw new Error('the patch ends within a hunk')
    const mark = line[0]
    const unended = lines[at + 1]?.startsWith('\\') === true
    const text = line.slice(1)
    if (mark !== '+') seen += 1
    if (mark !== '-') hunk.lines.push(unended ? text : `${text}\n`)
    if (mark === '+') hunk.added += 1
    if (mark === '-') hunk.removed += 1
    if (mark === '+' || mark === '-') hunk.changed.push(text)
    at += unended ? 2 : 1
  }
  return at
}

/** The old file with these hunks of its patch, in any order. With none it is `old`; with all it is the new file. */
export function withHunks(old: string, hunks: readonly Hunk[]): string {
  const lines = old.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const parts: string[] = []
  let at = 0
  for (const hunk of [...hunks].sort((a, b) => a.before - b.before)) {
    parts.push(...lines.slice(at, hunk.before), ...hunk.lines)
    at = hunk.before + hunk.old
  }
  return [...parts, ...lines.slice(at)].join('')
}
