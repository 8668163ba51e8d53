/** The failures in the output of a test runner, without what passed. Pure. */

/** Patterns for the lines of one test runner. Each looks at one line. */
interface Runner {
  /** Both are in its output when a test failed: a line with a failure, and a line that only this runner prints. */
  failed: RegExp
  mark: RegExp
  /** A line that is kept. */
  keeps: RegExp
  /** Of the lines behind it, those that are kept with it; ends at the first other one. */
  follows?: RegExp
  /** Never kept: stacks, durations. */
  drops?: RegExp
}

const NOT_OK = /^\s*not ok \d+(?!.*# (?:SKIP|TODO))/

const RUNNERS: readonly Runner[] = [
  // pytest
  {
    failed: /^(?:FAILED|ERROR) /,
    mark: /^=+ (?:FAILURES|ERRORS) =+$/,
    keeps: /^(?:E {2,}|>\s|FAILED |ERROR |_{3,} [^_].* _{3,}$|\S+\.py:\d+: )/,
  },
  // cargo test
  {
    failed: /^test .+ \.\.\. FAILED$/,
    mark: /^test result: FAILED\./,
    keeps: /^test .+ \.\.\. FAILED$|^---- .+ ----$|^test result: FAILED/,
    follows: /^(?!note: |----|failures:|test )\S|^\s+(?:left|right): |^\s*$/,
  },
  // mocha
  {
    failed: /^\s+1\) /,
    mark: /^\s+\d+ failing$/,
    keeps: /^\s+\d+ failing$|^\s+\d+\) /,
    follows: /^(?:[+-]|\s*$|\s*[[\]{}]|\s+(?!\d+\) |✔|✓)\S)/,
    drops: /^\s+at (?:.*\(|async |file:|node:|\/)|^\s+\d+ (?:passing|pending)/,
  },
  // vitest and jest
  {
    failed: /^\s*(?:FAIL|●) {1,2}\S/,
    mark: /^\s*(?:Test Files |Test Suites: |Tests: )/,
    keeps:
      /^\s*(?:FAIL|●) {1,2}\S|^\s*(?:\w*Error|Error): |^\s+(?:Expected|Received):? |^\s*❯ \S+:\d+:\d+$|^\s*[-+] \S/,
  },
  // go test
  {
    failed: /^\s*--- FAIL: /,
    mark: /^FAIL(?:\t|$)/,
    keeps: /^\s*--- FAIL: |^panic: |^FAIL\t/,
    follows: /^\s+(?!--- (?:PASS|SKIP))\S/,
  },
  // TAP, as of node --test: the failures with their YAML.
  {
    failed: NOT_OK,
    mark: /^TAP version \d|^1\.\.\d/,
    keeps: NOT_OK,
    follows: /^\s+(?!ok \d|not ok \d|# |\d+\.\.\d+)\S|^\s*$/,
    drops:
      /^\s+(?:---|\.\.\.|duration_ms:|type:|stack:|failureType:|code:|name:|operator:)|^\s+(?:async )?\S+ \(?(?:file|node):|^\s+(?:new )?[\w.<>]+ \(/,
  },
]

/** A longer line is read as far as that. */
const LONGEST = 1000
/** Most lines that are kept: many more than are shown. */
const MOST = 200

/**
 * The lines that say what failed, in their order, at most 200; null when the text is of no known runner. `text` is without
 * the codes of terminals.
 */
export function failuresIn(text: string): string[] | null {
  const lines = text.split('\n').map((line) => line.slice(0, LONGEST).trimEnd())
  const has = (pattern: RegExp) => lines.some((line) => pattern.test(line))
  const runner = RUNNERS.find(({ failed, mark }) => has(mark) && has(failed))
  if (runner === undefined) return null
  const kept: string[] = []
  let inside = false
  for (const line of lines) {
    inside = runner.keeps.test(line) || (inside && runner.follows?.test(line) === true)
    if (inside && line !== '' && !runner.drops?.test(line)) kept.push(line)
    if (kept.length === MOST) break
  }
  return kept.length === 0 ? null : kept
}
