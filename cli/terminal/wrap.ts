import { widthOf } from '../text.ts'

/** A sentence in lines of at most `columns`, broken at spaces; what follows is indented two more. A longer word stays whole. */
export function wrap(line: string, columns: number): string[] {
  const indent = `${/^ */.exec(line)?.[0] ?? ''}  `
  const lines: string[] = []
  let open = ''
  for (const word of line.split(/(?<=\S) /)) {
    const joined = open === '' ? word : `${open} ${word}`
    if (open === '' || widthOf(joined) <= columns) open = joined
    else {
      lines.push(open)
      open = `${indent}${word}`
    }
  }
  return [...lines, open]
}
