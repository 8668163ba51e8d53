/** Stands in for vitest where a benchmark uses the rig of the tests: what the rig would do after the last test. */
const cleanups: (() => void)[] = []

export const afterAll = (cleanup: () => void): void => void cleanups.push(cleanup)

/** The last one first, as vitest does. */
export function cleanUp(): void {
  for (const cleanup of cleanups.reverse()) cleanup()
}
