import { type Benchmark, brokenLine, type Figure, linesOf, minimize, type Preset, printed } from './preset.ts'

const HEAD = /^benchmark name\s+samples\s+iterations\s+est/
const NUMBER = /^\d+(?:\.\d+)?$/
/** It has five lines. */
const LONGEST_ELEMENT = 10_000
const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** All values of the XML reporter are nanoseconds. */
function fromXml(text: string): Benchmark[] {
  const [, ...parts] = text.split('<BenchmarkResults ')
  return parts.flatMap((part) => {
    const end = part.indexOf('</BenchmarkResults>')
    const inner = part.slice(0, end).slice(0, LONGEST_ELEMENT)
    const name = /\bname="([^"]*)"/.exec(inner)?.[1]
    if (end < 0 || name === undefined) return []
    const metrics = new Map<string, Figure>()
    const put = (metric: string, element: string) => {
      const value = new RegExp(`<${element}\\s[^>]*?\\bvalue="([^"]+)"`).exec(inner)?.[1]
      if (value !== undefined && Number.isFinite(Number(value)))
        metrics.set(metric, { value: Number(value), unit: 'ns' })
    }
    put('mean', 'mean')
    put('std_dev', 'standardDeviation')
    return [{ name: name.replace(/&(\w+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole), metrics }]
  })
}

/** The table: a name, which may take several lines, then three lines of numbers. */
function fromTable(text: string): { benchmarks: Benchmark[]; broken: string | null } {
  const found: Benchmark[] = []
  let broken: string | null = null
  let name: string | null = null
  let inTable = false
  for (const line of linesOf(text)) {
    if (HEAD.test(line)) {
      inTable = true
      name = null
      continue
    }
    if (!inTable || /^[-=.]{20,}$/.test(line)) continue
    const words = line.trim().split(/\s+/)
    const three =
      /^\s/.test(line) && words.length === 6 && [0, 2, 4].every((at) => NUMBER.test(words[at] ?? ''))
    const last = found.at(-1)
    if (three && last && name === null) {
      const figure = printed(words[0] ?? '', words[1] ?? '', 'ns')
      const metric = last.metrics.has('mean') ? 'std_dev' : 'mean'
      if (figure && !last.metrics.has(metric)) last.metrics.set(metric, figure)
      else broken ??= line
      continue
    }
    if (FIGURES.test(line)) broken ??= line
    // Samples, iterations, and an estimate with its unit.
    const [samples = '', iterations = '', estimate = ''] = words.slice(-4)
    if (/^\d+$/.test(samples) && /^\d+$/.test(iterations) && NUMBER.test(estimate)) {
      found.push({ name: [name, ...words.slice(0, -4)].filter(Boolean).join(' '), metrics: new Map() })
      name = null
    } else if (/^\S/.test(line)) name = [name, line.trim()].filter(Boolean).join(' ')
    else if (line.trim() === '') name = null
  }
  return { benchmarks: found.filter(({ metrics }) => metrics.size > 0), broken }
}

/** How a line of mean or standard deviation ends. */
const FIGURES = /(?:\d(?:\.\d+)? (?:ns|us|µs|ms|s)\s+){2}\d+(?:\.\d+)? (?:ns|us|µs|ms|s)\s*$/

/** In the totals: an assertion, or a test case. */
const FAILED =
  /<OverallResults(?:Cases)?\s[^>]*\bfailures="[1-9]|^(?:test cases|assertions):.*\b[1-9]\d* failed/

const all = (text: string): { benchmarks: Benchmark[]; broken: string | null } => {
  const benchmarks = fromXml(text)
  if (benchmarks.length === 0) return fromTable(text)
  // What the benchmark prints while it runs stands inside of its element, and in front of what Catch2 says of it.
  const means = [...text.matchAll(/<mean\s[^>]*>?/g)]
  const whole = benchmarks.filter(({ metrics }) => metrics.has('mean')).length === benchmarks.length
  // With XML the reporter prints no table: one beside it is of somebody else.
  const table = linesOf(text).find((line) => HEAD.test(line) || FIGURES.test(line))
  const odd = !whole || means.length > benchmarks.length ? means.at(-1)?.[0] : table
  return { benchmarks, broken: odd ?? null }
}

export const catch2: Preset<'catch2'> = {
  name: 'catch2',
  example: "build/tests '[benchmark]' -r xml -o {result}",
  places: ['result', 'stdout'],
  reads: 'the XML of `-r xml`, or the printed table',
  metrics: minimize('ns', 'mean', 'std_dev'),
  command: /\bcatch2?\b|--benchmark-samples\b/i,
  recognises: (text) => all(text).benchmarks.length > 0,
  read(text) {
    const { benchmarks, broken } = all(text)
    return broken === null ? { benchmarks } : brokenLine('Catch2', broken)
  },
  failed: FAILED,
}
