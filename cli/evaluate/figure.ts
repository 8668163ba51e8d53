/** A value in a sentence: whole numbers (bytes, counts) in full, others in four digits. The event has all of them. */
export const figure = (value: number | null): string => {
  if (value === null) return 'unknown'
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(4)))
}

/** `1 file`, `2 files`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
