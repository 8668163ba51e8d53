/**
 * The name that was probably meant: the one with the smallest optimal-string-alignment distance (insert, delete,
 * replace, swap neighbours), if that is at most a third of its length. Null when nothing is near.
 */
export function nearest(given: string, names: readonly string[]): string | null {
  let best: string | null = null
  let bestDistance = Number.POSITIVE_INFINITY
  for (const name of names) {
    const distance = osaDistance(given.toLowerCase(), name)
    if (distance < bestDistance && distance <= Math.max(1, Math.floor(name.length / 3))) {
      best = name
      bestDistance = distance
    }
  }
  return best
}

function osaDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replace = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replace)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1)
      }
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}
