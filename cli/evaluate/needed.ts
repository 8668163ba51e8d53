/** Finds which of many names are needed, by trying few combinations. */

export interface Needed {
  names: string[]
  /** False = the tries ran out; the needed names are among these. */
  certain: boolean
}

/**
 * The names without which `works` answers false, given that it answers true for all of them and false for none, and
 * that more names never hurt. Likely ones come first in `names`. Each try is one call; at most `tries` are made, and
 * none after `expired` says so.
 */
export async function neededNames(
  names: readonly string[],
  works: (names: readonly string[]) => Promise<boolean>,
  { tries, expired }: { tries: number; expired: () => boolean },
): Promise<Needed> {
  const found: string[] = []
  let open = [...names]
  let left = tries
  const attempt = async (some: readonly string[]): Promise<boolean | null> =>
    left-- <= 0 || expired() ? null : works([...found, ...some])
  while (open.length > 0) {
    const enough = await shortest(open, attempt)
    if (enough === null) return { names: [...found, ...open], certain: false }
    // The prefix fails without its last name, so that name is needed.
    found.push(...open.slice(enough - 1, enough))
    open = open.slice(0, enough - 1)
    if (open.length === 0) break
    const done = await attempt([])
    if (done === null) return { names: [...found, ...open], certain: false }
    if (done) break
  }
  return { names: found.sort(), certain: true }
}

/** Length of the shortest prefix that works; null when the tries ran out. Doubles first, since the likely are in front. */
async function shortest(
  names: readonly string[],
  attempt: (names: readonly string[]) => Promise<boolean | null>,
): Promise<number | null> {
  let low = 0
  let high = names.length
  for (let size = 1; size < high; size *= 2) {
    const done = await attempt(names.slice(0, size))
    if (done === null) return null
    if (done) high = size
    else low = size
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const done = await attempt(names.slice(0, middle))
    if (done === null) return null
    if (done) high = middle
    else low = middle
  }
  return high
}
