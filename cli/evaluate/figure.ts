/** A value in a sentence: whole numbers (bytes, counts) in full, others in four digits. The event has all of them. */
export const figure = (value: number | null): string => {
  if (value === null) return 'unknown'
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(4)))
}
