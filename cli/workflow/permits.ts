/** At most `limit` holders at once, first come first served. */
export interface Permits {
  /** Resolves with the release; it must be called once. */
  take(): Promise<() => void>
}

export function permits(limit: number): Permits {
  let free = Math.max(1, limit)
  const line: (() => void)[] = []
  const release = () => {
    const next = line.shift()
    if (next === undefined) free += 1
    else next()
  }
  return {
    take: () =>
      new Promise((resolve) => {
        if (free > 0) {
          free -= 1
          resolve(release)
        } else line.push(() => resolve(release))
      }),
  }
}
