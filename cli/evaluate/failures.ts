/** What a test runner says of its failures, without all that passed. Pure. */

/** A line of the runner, and what belongs to it. */
interface Runner {
  /** Whether the text is of this runner and something failed. */
  knows: RegExp
  /** A line that is kept. */
  keeps: RegExp
  /** Of the lines behind it, those that are kept with it; ends at the first other one. */
  follows?: RegExp
  /** Never kept: stacks, durations. */
  drops?: RegExp
}

const RUNNERS: readonly Runner[] = [
  // TAP, as of node --test: the failures with their YAML, but not the file around them.
  {
    knows: /^\s*not ok \d+(?!.*# (?:SKIP|TODO))/m,
    keeps: /^\s*not ok \d+(?!.*# (?:SKIP|TODO))/,
    follows: /^\s+(?!ok \d|not ok \d|# |\d+\.\.\d+)\S/,
    drops:
      /^\s+(?:---|\.\.\.|duration_ms:|type:|stack:|failureType:|code:|name:|operator:)|^\s+(?:async )?\S+ \(?(?:file|node):|^\s+(?:new )?[\w.<>]+ \(/,
  },
  // pytest
  {
    knows: /^=+ (?:FAILURES|ERRORS) =+$/m,
    keeps: /^(?:E {2,}|>\s|FAILED |ERROR |_{3,} .+ _{3,}$|\S+\.py:\d+: )/,
  },
  // go test
  {
    knows: /^\s*--- FAIL: /m,
    keeps: /^\s*--- FAIL: |^panic: |^FAIL\t/,
    follows: /^\s+(?!--- (?:PASS|SKIP))\S/,
  },
  // cargo test
  {
    knows: /^test result: FAILED\./m,
    keeps: /^test .+ \.\.\. FAILED$|^---- .+ ----$|^test result: FAILED/,
    follows: /^(?!note: |----|failures:|test )\S|^\s+(?:left|right): /,
  },
  // mocha
  {
    knows: /^\s+\d+ failing$/m,
    keeps: /^\s+\d+ failing$|^\s+\d+\) /,
    follows: /^(?:[+-]|\s*$|\s*[[\]{}]|\s+(?!\d+\) |✔|✓)\S)/,
    drops: /^\s+at (?:.*\(|async |file:|node:|\/)|^\s+\d+ (?:passing|pending)/,
  },
  // vitest and jest
  {
    knows: /^\s*(?:FAIL|●) {1,2}\S/m,
    keeps:
      /^\s*(?:FAIL|●) {1,2}\S|^\s*(?:\w*Error|Error): |^\s+(?:Expected|Received):? |^\s*❯ \S+:\d+:\d+$|^\s*[-+] \S/,
  },
]

/**
 * The lines that say what failed, in their order, each once; null when the text is of no known runner. `text` is without
 * the codes of terminals.
 */
export function failuresIn(text: string): string[] | null {
  const runner = RUNNERS.find(({ knows }) => knows.test(text))
  if (runner === undefined) return null
  const kept: string[] = []
  let inside = false
  for (const line of text.split('\n')) {
    const begins = runner.keeps.test(line)
    inside = begins || (inside && runner.follows?.test(line) === true)
    if (inside && line.trim() !== '' && !runner.drops?.test(line) && !kept.includes(line))
      kept.push(line.trimEnd())
  }
  return kept.length === 0 ? null : kept
}
