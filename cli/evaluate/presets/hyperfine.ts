import { isJsonObject } from '../json.ts'
import {
  type Benchmark,
  brokenLine,
  type Figure,
  figures,
  isWithin,
  jsonIn,
  minimize,
  objectsIn,
  type Preset,
  printed,
  stringOrNull,
} from './preset.ts'

const TIMES = ['mean', 'median', 'min', 'max', 'stddev', 'user', 'system']
const results = (text: string) => {
  const json = jsonIn(text)
  if (!isJsonObject(json)) return []
  return objectsIn(json.results).filter(
    ({ command, mean }) => typeof command === 'string' && mean !== undefined,
  )
}
const BLOCK = /^[ \t]*Benchmark (?:#?\d+): (.*)$/gm
const MEAN =
  /Time \((?:mean ± σ|abs ≡)\):\s+([\d.]+) (\S+)(?: ±\s+([\d.]+) (\S+))?\s+\[User: ([\d.]+) ([^\s,]+), System: ([\d.]+) ([^\s\]]+)\]/
const RANGE = /Range \(min … max\):\s+([\d.]+) (\S+) …\s+([\d.]+) (\S+)/

function fromText(text: string): Benchmark[] {
  const heads = [...text.matchAll(BLOCK)]
  return heads.flatMap((head, index) => {
    const block = text.slice(head.index, heads[index + 1]?.index)
    const [mean, range] = [MEAN.exec(block), RANGE.exec(block)]
    if (!mean) return []
    const metrics: Benchmark['metrics'] = new Map()
    const put = (name: string, value: string | undefined, unit: string | undefined) => {
      const found = value && unit ? printed(value, unit, 's') : null
      if (found) metrics.set(name, found)
    }
    put('mean', mean[1], mean[2])
    put('stddev', mean[3], mean[4])
    put('user', mean[5], mean[6])
    put('system', mean[7], mean[8])
    put('min', range?.[1], range?.[2])
    put('max', range?.[3], range?.[4])
    return [{ name: head[1]?.trim() ?? '', metrics }]
  })
}

const isAbout = (said: Figure | undefined, mean: unknown): boolean =>
  typeof said?.value === 'number' && typeof mean === 'number' && isWithin(mean, said.value, said.within ?? 0)

/** With `-i`. Its JSON has the exit codes, and its summary does not. */
const FAILED = /Warning: Ignoring non-zero exit code\.\s*$/

const TIMES_LINE = /^.*Time \((?:mean|abs).*$/gm

export const hyperfine: Preset<'hyperfine'> = {
  name: 'hyperfine',
  example: "hyperfine --export-json {result} 'node src/main.js'",
  places: ['result', 'stdout'],
  reads: 'the file of `--export-json`, or the printed summary (which has no `median`)',
  metrics: minimize('s', ...TIMES),
  command: /\bhyperfine\b/,
  recognises: (text) => results(text).length > 0 || fromText(text).length > 0,
  failed: FAILED,
  instead: {
    recognises: (text) => /^command,mean,stddev,median,user,system,min,max/m.test(text),
    hint: 'a table of --export-csv is not read: write --export-json {result} in its place',
  },
  read(text) {
    const found = results(text)
    const summary = fromText(text)
    const other = summary.find(
      ({ metrics: said }) => !found.some((one) => isAbout(said.get('mean'), one.mean)),
    )
    if (found.length > 0 && other)
      return {
        reason: `the printed summary says a mean of ${other.metrics.get('mean')?.value} s, which is in no result of its JSON: write --export-json {result}`,
      }
    if (found.length === 0) {
      const benchmarks = summary
      const times = text.match(TIMES_LINE) ?? []
      return times.length > benchmarks.length ? brokenLine('hyperfine', times.at(-1) ?? '') : { benchmarks }
    }
    const failed = found.find(
      ({ exit_codes }) => Array.isArray(exit_codes) && exit_codes.some((one) => one !== 0),
    )
    if (failed)
      return {
        reason: `a run of ${JSON.stringify(failed.command)} failed, and hyperfine ignored that (-i): let the command end with exit code 0`,
      }
    const unit = (name: string) => (TIMES.includes(name) ? 's' : undefined)
    return {
      benchmarks: found.map((result) => ({
        name: stringOrNull(result.command),
        metrics: figures(result, unit),
      })),
    }
  },
}
