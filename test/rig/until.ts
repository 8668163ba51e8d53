import { watch } from 'node:fs'

/**
 * Resolves once the predicate holds. It is asked again at every change in `dir` (when given) and at short
 * intervals besides, because a change can be missed; past the hard limit it rejects with what was waited for.
 */
export async function until(
  predicate: () => boolean | Promise<boolean>,
  { what, dir, limitMs = 45_000 }: { what: string; dir?: string; limitMs?: number },
): Promise<void> {
  const limit = performance.now() + limitMs
  let wake = () => {}
  const watcher = dir === undefined ? null : watch(dir, () => wake())
  try {
    while (!(await predicate())) {
      if (performance.now() > limit) throw new Error(`waited ${limitMs} ms in vain for ${what}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 20)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  } finally {
    watcher?.close()
  }
}
