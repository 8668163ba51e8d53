/**
 * `npm run bench:before -- REF [rounds]`: the loop of this tree against the loop of an earlier commit, both measured in this run,
 * one round of each in turn. What is compared is what a round takes longer than the benchmark of its experiments, and how many
 * clerks a round of the script asks. Ends with 1 when the median of the ratios is more than a half.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clerksBy, LANES, roundsBy } from './loop.mjs'
import { median } from './median.mjs'
import { ASSAY } from './project.mjs'
import { aligned } from './table.mjs'

const BAR = 0.5
const root = fileURLToPath(new URL('../..', import.meta.url))
const [ref, rounds = '7'] = process.argv.slice(2)
if (ref === undefined || !/^[1-9]\d*$/.test(rounds)) {
  process.stderr.write('which commit is compared with: npm run bench:before -- REF [rounds]\n')
  process.exit(2)
}

const base = mkdtempSync(join(tmpdir(), 'assay-before-'))
const opened = []
try {
  const before = built(ref)
  const rows = [
    {
      name: 'loop',
      what: 'ms more than the benchmark, an experiment',
      ...compare(before, roundsBy, ({ ours, floor }) => ours() - floor()),
    },
    {
      name: 'clerks',
      what: 'calls, an experiment',
      ...compare(before, clerksBy, ({ ours }) => ours()),
    },
  ]
  process.stdout.write(
    aligned([
      ['name', 'what', 'before', 'now', 'ratio', 'bar', 'holds?'],
      ...rows.map(({ name, what, was, is, ratio }) => [
        name,
        what,
        was.toFixed(2),
        is.toFixed(2),
        ratio.toFixed(2),
        `≤ ${BAR}`,
        ratio <= BAR ? 'yes' : 'NO',
      ]),
    ]),
  )
  process.exitCode = rows.every(({ ratio }) => ratio <= BAR) ? 0 : 1
} finally {
  for (const { clean } of opened) clean()
  rmSync(base, { recursive: true, force: true })
}

/** The launcher of the commit, built from its own sources. */
function built(commit) {
  const dir = join(base, 'tree')
  mkdirSync(dir)
  const archive = execFileSync('git', ['archive', '--format=tar', commit], { cwd: root, maxBuffer: 1 << 30 })
  execFileSync('tar', ['-x', '-C', dir], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  execFileSync(process.execPath, [join(dir, 'scripts', 'build.mjs'), '--force'], {
    cwd: dir,
    stdio: 'ignore',
  })
  return join(dir, 'bin', 'assay.cjs')
}

/** Medians by experiment, and of the ratios; `measure` does the work of a side once. */
function compare(before, make, measure) {
  const sides = [before, ASSAY].map((assay) => {
    const side = make(assay)
    opened.push(side)
    return side
  })
  // Once without counting: the first start of each reads its files from the disk.
  for (const side of sides) measure(side)
  const samples = Array.from({ length: Number(rounds) }, (_, round) => {
    const values = []
    // In turn, so that neither side always comes second.
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) values[at] = measure(sides[at]) / LANES
    return values
  })
  return {
    was: median(samples.map(([was]) => was)),
    is: median(samples.map(([, is]) => is)),
    ratio: median(samples.map(([was, is]) => is / was)),
  }
}
