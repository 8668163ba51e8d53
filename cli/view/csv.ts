/** Tables for other programs (RFC 4180), one line a row. Pure. */

export type CsvValue = string | number | boolean | null

/** Unknown is an empty cell. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csv(columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(cellOf).join(',')}\n`).join('')
}

function cellOf(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
