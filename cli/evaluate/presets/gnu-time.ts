import {
  type Benchmark,
  brokenLine,
  type Figure,
  linesOf,
  minimize,
  type Preset,
  type PresetReading,
} from './preset.ts'

const VERBOSE: Record<string, [RegExp, string | null]> = {
  user: [/^\s*User time \(seconds\): ([\d.]+)/, 's'],
  system: [/^\s*System time \(seconds\): ([\d.]+)/, 's'],
  elapsed: [/^\s*Elapsed \(wall clock\) time .*: ([\d:.]+)$/, 's'],
  max_rss: [/^\s*Maximum resident set size \(kbytes\): (\d+)/, 'KiB'],
  major_faults: [/^\s*Major .*page faults: (\d+)/, null],
  minor_faults: [/^\s*Minor .*page faults: (\d+)/, null],
  voluntary_switches: [/^\s*Voluntary context switches: (\d+)/, null],
  involuntary_switches: [/^\s*Involuntary context switches: (\d+)/, null],
}
const SHORT = /^([\d.]+)user ([\d.]+)system ([\d:.]+)elapsed .*?(?:\b|\+)(\d+)maxresident\)k/
const FAULTS = /\((\d+)major\+(\d+)minor\)pagefaults/
/** Of `-p`, and of the word `time` of a shell: `real 0m12.345s`, in some languages `0m12,345s`. */
const PORTABLE: Record<string, RegExp> = {
  elapsed: /^real\s+(\d+(?:\.\d+)?|\d+m ?\d+(?:[.,]\d+)?s)$/,
  user: /^user\s+(\d+(?:\.\d+)?|\d+m ?\d+(?:[.,]\d+)?s)$/,
  system: /^sys\s+(\d+(?:\.\d+)?|\d+m ?\d+(?:[.,]\d+)?s)$/,
}

/** `1:02:03`, `2:03.45` in seconds. */
const seconds = (text: string): number =>
  // Thousandths as whole numbers: 60 times a part of a second is not exact.
  text.split(':').reduce((sum, part) => sum * 60 + Math.round(Number(part) * 1000), 0) / 1000

/** `1m2.345s` as `1:2.345`. */
const withColons = (text: string): string => text.replace(/m ?/, ':').replace(',', '.').replace(/s$/, '')

/** With which a report begins. */
const FIRST = /^\s*(?:Command being timed:|User time \(seconds\):|[\d.]+user |real\s)/

const COMMAND = /^\s*Command being timed: ".*"$/

/** What a line of a report has, which another program's output in front of it hides from the patterns above. */
const HIDDEN =
  /\S.*(?:User time \(seconds\): |Elapsed \(wall clock\) time |Maximum resident set size \(kbytes\): |[\d.]+user [\d.]+system )|\S\s*(?:real|user|sys)[ \t]+(?:\d+\.\d\d|\d+m ?\d+[.,]\d+s)$/

/** Of the program that it timed. */
const FAILED =
  /Command (?:exited with non-zero status|(?:terminated|stopped) by signal) \d+$|^\s*Exit status: [1-9]\d*$/

/** The reports, one for each time that it ran, and what else looks like a line of one. */
function blocks(text: string): { runs: Benchmark[]; outside: Benchmark[] } {
  const found: Benchmark[] = []
  let metrics = new Map<string, Figure>()
  const put = (name: string, value: string | undefined, unit: string | null) => {
    if (value === undefined) return
    if (metrics.has(name)) metrics = new Map()
    if (metrics.size === 0) found.push({ name: null, metrics })
    const parts = withColons(value)
    metrics.set(name, { value: parts.includes(':') ? seconds(parts) : Number(parts), unit })
  }
  for (const line of linesOf(text)) {
    if (FIRST.test(line)) metrics = new Map()
    for (const [name, [pattern, unit]] of Object.entries(VERBOSE)) put(name, pattern.exec(line)?.[1], unit)
    for (const [name, pattern] of Object.entries(PORTABLE)) put(name, pattern.exec(line)?.[1], 's')
    const [, user, system, elapsed, rss] = SHORT.exec(line) ?? []
    put('user', user, 's')
    put('system', system, 's')
    put('elapsed', elapsed, 's')
    put('max_rss', rss, 'KiB')
    const [, major, minor] = FAULTS.exec(line) ?? []
    put('major_faults', major, null)
    put('minor_faults', minor, null)
  }
  const isRun = ({ metrics: all }: Benchmark) => all.has('elapsed') && all.has('user')
  return { runs: found.filter(isRun), outside: found.filter((one) => !isRun(one)) }
}

/** The measured program writes to the same stream, so what it says there must not be taken for the report. */
function read(text: string): PresetReading {
  const hidden = linesOf(text).find((line) => HIDDEN.test(line) && !SHORT.test(line) && !COMMAND.test(line))
  if (hidden !== undefined) return brokenLine('time', hidden)
  const { runs, outside } = blocks(text)
  for (const { metrics: said } of outside)
    for (const [name, { value }] of said) {
      const other = runs.map(({ metrics }) => metrics.get(name)).find((one) => one && one.value !== value)
      if (other)
        return { reason: `its output says ${name} twice: ${said.get(name)?.value} and ${other.value}` }
    }
  return { benchmarks: runs }
}

export const gnuTime: Preset<'gnu-time'> = {
  name: 'gnu-time',
  example: '/usr/bin/time -v node src/main.js',
  places: ['stderr', 'result', 'stdout'],
  reads:
    'what it prints to stderr, with `-v`, with `-p` or by default, or the file of `-o {result}`; and what `time` of bash prints',
  metrics: [
    ...minimize('s', 'elapsed', 'user', 'system'),
    ...minimize('KiB', 'max_rss'),
    ...minimize(null, 'major_faults', 'minor_faults', 'voluntary_switches', 'involuntary_switches'),
  ],
  command: /(?:^|[\s;&|])(?:\/usr\/bin\/time|\\time|gtime|command time)\s/,
  recognises: (text) => blocks(text).runs.length > 0,
  read,
  failed: FAILED,
}
