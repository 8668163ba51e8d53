import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** What killed runs cost; tests put it into their `meta.toll`. */
interface Toll {
  kills: number
  lost: number
  paid_twice: number
  orphans: number
}

/**
 * Prints `N passed, N failed, N skipped` alone on the last line, so that a script can read the outcome of a whole
 * run; before it each skipped test with its reason, and what the kills of all tests cost, if there were any. A file that cannot be
 * loaded, and an error outside any test, each count as one failure.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    let passed = 0
    let failed = errors.length
    let skipped = 0
    const sum: Toll = { kills: 0, lost: 0, paid_twice: 0, orphans: 0 }
    for (const module of modules) {
      let failedHere = 0
      for (const test of module.children.allTests()) {
        const result = test.result()
        const { state } = result
        const { toll } = test.meta() as { toll?: Toll }
        if (toll) for (const name of Object.keys(sum) as (keyof Toll)[]) sum[name] += toll[name]
        if (state === 'passed') passed++
        else if (state === 'failed') failedHere++
        else {
          skipped++
          const note = result.state === 'skipped' ? result.note : undefined
          process.stdout.write(
            `skipped: ${module.relativeModuleId} > ${test.fullName}: ${note ?? 'no reason'}\n`,
          )
        }
      }
      if (module.state() === 'failed' && failedHere === 0) failedHere = 1
      failed += failedHere
    }
    const { kills, lost, paid_twice, orphans } = sum
    if (kills > 0)
      process.stdout.write(`\nkills ${kills}, lost ${lost}, paid twice ${paid_twice}, orphans ${orphans}\n`)
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`)
  }
}
