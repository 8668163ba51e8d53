import {
  type Benchmark,
  type Figure,
  isObject,
  jsonIn,
  linesOf,
  minimize,
  type Preset,
  printed,
  textOf,
} from './preset.ts'

const ESTIMATES = ['mean', 'median', 'slope', 'std_dev', 'median_abs_dev']
const INTERVAL = /^(.*?)\s*time:\s+\[([\d.]+) (\S+) ([\d.]+) (\S+) ([\d.]+) (\S+)\]\s*$/
const BENCHER = /^test (.+?) \.\.\. bench:\s+([\d,.]+) (\S+)\/iter/

/** `name   time:   [low best high]`; a long name stands alone on the line before. */
function fromText(text: string): Benchmark[] {
  const found: Benchmark[] = []
  let before = ''
  for (const line of linesOf(text)) {
    const interval = INTERVAL.exec(line)
    const [name, value, unit] = interval
      ? [interval[1], interval[4], interval[5]]
      : (BENCHER.exec(line)?.slice(1) ?? [])
    const typical = value && unit ? printed(value, unit, 'ns') : null
    if (typical) found.push({ name: name?.trim() || before.trim(), metrics: new Map([['typical', typical]]) })
    before = line
  }
  return found
}

/** `estimates.json` of one benchmark. */
function fromEstimates(json: unknown): Benchmark[] {
  if (!isObject(json) || !isObject(json.mean) || json.mean.point_estimate === undefined) return []
  const metrics = new Map<string, Figure>()
  for (const name of ESTIMATES) {
    const one = json[name]
    const value = isObject(one) ? one.point_estimate : null
    if (typeof value === 'number') metrics.set(name, { value, unit: 'ns' })
  }
  const typical = metrics.get('slope') ?? metrics.get('mean')
  if (typical) metrics.set('typical', typical)
  return [{ name: null, metrics }]
}

/** Lines of `cargo criterion --message-format=json`. */
function fromMessages(text: string): Benchmark[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const json = line.includes('"benchmark-complete"') ? jsonIn(line) : null
    if (!isObject(json)) return []
    const metrics = new Map<string, Figure>()
    for (const name of ['typical', ...ESTIMATES]) {
      const one = json[name]
      if (isObject(one) && typeof one.estimate === 'number')
        metrics.set(name, { value: one.estimate, unit: textOf(one.unit) })
    }
    return [{ name: textOf(json.id), metrics }]
  })
}

function all(text: string): Benchmark[] {
  const messages = fromMessages(text)
  if (messages.length > 0) return messages
  const estimates = fromEstimates(jsonIn(text))
  return estimates.length > 0 ? estimates : fromText(text)
}

export const criterion: Preset<'criterion'> = {
  name: 'criterion',
  example: 'cargo bench --bench parse',
  places: ['result', 'stdout'],
  reads:
    'the printed `time: [low typical high]`, lines of libtest (`bench: 1,002 ns/iter`), `cargo criterion --message-format=json`, or as `file` one `target/criterion/NAME/new/estimates.json`',
  metrics: minimize('ns', 'typical', 'mean', 'median', 'slope', 'std_dev', 'median_abs_dev'),
  command: /\bcargo (?:bench|criterion)\b/,
  recognises: (text) => all(text).length > 0,
  read: (text) => ({ benchmarks: all(text) }),
}
