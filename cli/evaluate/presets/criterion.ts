import { isJsonObject } from '../json.ts'
import {
  type Benchmark,
  brokenLine,
  type Figure,
  jsonIn,
  linesOf,
  minimize,
  type Preset,
  printed,
  stringOrNull,
} from './preset.ts'

const ESTIMATES = ['mean', 'median', 'slope', 'std_dev', 'median_abs_dev']
const INTERVAL = /^(.*?)\s*time:\s+\[([\d.]+) (\S+) ([\d.]+) (\S+) ([\d.]+) (\S+)\]\s*$/
const BENCHER = /^test (.+?) \.\.\. bench:\s+([\d,.]+) (\S+)\/iter/

/** Parts of lines that give a time, wherever they stand. */
const ANSWERS = /time:\s+\[[\d.]+ \S+ [\d.]+ \S+ [\d.]+ |bench:\s+[\d,.]+ \S+\/iter/

/** `name   time:   [low best high]`; a long name stands alone on the line before. */
function fromText(text: string): Found {
  const found: Benchmark[] = []
  let broken: string | null = null
  let before = ''
  for (const line of linesOf(text)) {
    const interval = INTERVAL.exec(line)
    const [name, value, unit] = interval
      ? [interval[1], interval[4], interval[5]]
      : (BENCHER.exec(line)?.slice(1) ?? [])
    const typical = value && unit ? printed(value, unit, 'ns') : null
    if (typical) found.push({ name: name?.trim() || before.trim(), metrics: new Map([['typical', typical]]) })
    else if (ANSWERS.test(line)) broken ??= line
    before = line
  }
  return { benchmarks: found, broken }
}

/** `estimates.json` of one benchmark, or of those of a folder with their names. */
function fromEstimates(json: unknown, name: string | null = null): Benchmark[] {
  if (Array.isArray(json))
    return json.flatMap((one) =>
      isJsonObject(one) ? fromEstimates(one.estimates, stringOrNull(one.folder)) : [],
    )
  if (!isJsonObject(json) || !isJsonObject(json.mean) || json.mean.point_estimate === undefined) return []
  const metrics = new Map<string, Figure>()
  for (const name of ESTIMATES) {
    const one = json[name]
    const value = isJsonObject(one) ? one.point_estimate : null
    if (typeof value === 'number') metrics.set(name, { value, unit: 'ns' })
  }
  const typical = metrics.get('slope') ?? metrics.get('mean')
  if (typical) metrics.set('typical', typical)
  return [{ name, metrics }]
}

/** Lines of `cargo criterion --message-format=json`. */
function fromMessages(text: string): Found {
  let broken: string | null = null
  const benchmarks = text.split(/\r?\n/).flatMap((line) => {
    if (!line.includes('"benchmark-complete"')) return []
    const json = jsonIn(line)
    if (!isJsonObject(json)) broken ??= line
    if (!isJsonObject(json)) return []
    const metrics = new Map<string, Figure>()
    for (const name of ['typical', ...ESTIMATES]) {
      const one = json[name]
      if (isJsonObject(one) && typeof one.estimate === 'number')
        metrics.set(name, { value: one.estimate, unit: stringOrNull(one.unit) })
    }
    return [{ name: stringOrNull(json.id), metrics }]
  })
  return { benchmarks, broken }
}

interface Found {
  benchmarks: Benchmark[]
  /** A line that gives a time, and could not be read. */
  broken: string | null
}

function all(text: string): Found {
  const messages = fromMessages(text)
  // With messages the tool prints no table: one beside them is of somebody else.
  if (messages.benchmarks.length > 0)
    return {
      ...messages,
      broken: messages.broken ?? linesOf(text).find((line) => ANSWERS.test(line)) ?? null,
    }
  const estimates = fromEstimates(jsonIn(text))
  return estimates.length > 0 ? { benchmarks: estimates, broken: null } : fromText(text)
}

/** Of cargo, and of libtest. */
const FAILED = /error: bench failed\b|test result: FAILED\b/

export const criterion: Preset<'criterion'> = {
  name: 'criterion',
  example: 'cargo bench --bench parse',
  places: ['result', 'stdout'],
  reads:
    'the printed `time: [low typical high]`, lines of libtest (`bench: 1,002 ns/iter`), `cargo criterion --message-format=json`, or as `file` the folder `target/criterion`, or one `target/criterion/NAME/new/estimates.json`',
  metrics: minimize('ns', 'typical', 'mean', 'median', 'slope', 'std_dev', 'median_abs_dev'),
  folder: {
    holds: /(?:^|\/)new\/estimates\.json$/,
    // What is no JSON stays none in the whole, and is refused.
    together: (files) =>
      `[${files.map(({ path, text }) => `{"folder":${JSON.stringify(path.replace(/\/?new\/estimates\.json$/, ''))},"estimates":${text}}`).join(',\n')}]`,
  },
  command: /\bcargo (?:bench|criterion)\b/,
  recognises: (text) => all(text).benchmarks.length > 0,
  failed: FAILED,
  read(text) {
    const { benchmarks, broken } = all(text)
    return broken === null ? { benchmarks } : brokenLine('criterion', broken)
  },
}
