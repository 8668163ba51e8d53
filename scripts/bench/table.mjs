/** @param {string[][]} rows the first is the head */
export function aligned(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** The same in Markdown: the first column to the left, the others to the right. */
export function markdown([head, ...rows]) {
  const rule = head.map((_, column) => (column === 0 ? '---' : '--:'))
  return [head, rule, ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('')
}
