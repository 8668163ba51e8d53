/** Reads the answer from the files that a measured program, or a scorer, left. */
import {
  closeSync,
  createReadStream,
  type Dirent,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SampleFault } from '../ledger/events.ts'
import type { Supervised } from '../process.ts'
import type { BenchmarkAnswer, ReadAnswer, ReadFrom } from './benchmark-answer.ts'
import { numbersIn, partsOf, readToolJson, withoutMark } from './json.ts'
import {
  documents,
  type LineParserOptions,
  lineParser,
  type ParsedLines,
  stripAnsi,
  withoutCodes,
} from './lines.ts'
import { readAnswer } from './metrics.ts'
import { jsonIn, type OutputPlace } from './presets/preset.ts'
import { readPreset } from './presets/read-preset.ts'
import { type PresetName, presetOf, recognise, type Texts } from './presets/registry.ts'
import { keyIn, readPointer } from './read-pointer.ts'
import { UNREADABLE } from './sources.ts'
import type { Aggregate } from './stats.ts'

export interface AnswerFiles {
  read: ReadFrom
  metric: { name: string }
  aggregate: Aggregate
  /** Root of the checkout: its path is no part of a task's name. */
  checkout: string
  /** Where the program was told to write its result; need not exist. */
  result: string
  /** `measure.read.file`, as it was before the program ran; null when the spec names none. */
  named: NamedFile | null
  stdout: string
  stderr: string
  /** The measured command: its time and memory are metrics too. */
  ended: Supervised
  /** Metrics that the caller knows. */
  known?: Record<string, number>
  /** Items that a judge compares; then the metric is the judge's, and 0 in each sample. Absent = it is read. */
  items?: readonly string[] | undefined
  /** With `items`: a metric that the benchmark prints, by which its answer is found. Absent = it need not print any. */
  mark?: string | undefined
}

/** A possible cause when nothing was found, which the texts themselves do not show. */
function asWritten(files: AnswerFiles, reading: ReadAnswer): ReadAnswer {
  if (reading.ok) return reading
  const { read, result, named, stdout, stderr } = files
  const places = {
    result: [named?.path ?? result, named?.shown ?? 'the result file'],
    stdout: [stdout, STREAMS.stdout],
    stderr: [stderr, STREAMS.stderr],
  } as const
  for (const place of placesOf(read)) {
    const [path, name] = places[place]
    const encoding = wideEncodingOf(path)
    if (encoding !== null)
      return refuse(`${name} is written in ${encoding}, which is not read: let the program write UTF-8`)
  }
  return reading
}

/** Where the answer may stand. */
function placesOf(read: ReadFrom): readonly OutputPlace[] {
  if (read === 'result-file') return ['result']
  if (typeof read === 'string') return ['result', 'stdout']
  return 'preset' in read ? presetOf(read.preset).places : ['result', read.from ?? 'stdout']
}

const LOOKED_AT = 4096

/** Of a file whose characters take two or four bytes each; null for any other, or when there is none. */
function wideEncodingOf(path: string): 'UTF-16' | 'UTF-32' | null {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return null
  const start = Buffer.alloc(LOOKED_AT)
  const fd = openSync(path, 'r')
  const length = readSync(fd, start, 0, LOOKED_AT, 0)
  closeSync(fd)
  const text = start.subarray(0, length - (length % 4))
  const [first, second] = [start.readUInt16LE(0), start.readUInt16LE(2)]
  if ((first === 0xfeff && second === 0) || (first === 0 && second === 0xfffe)) return 'UTF-32'
  if (length >= 2 && (first === 0xfeff || first === 0xfffe)) return 'UTF-16'
  // Of letters, digits and signs as METRIC lines and JSON have them, every other byte is 0, or three of four.
  const zeros = [0, 0, 0, 0]
  text.forEach((byte, at) => {
    if (byte === 0) zeros[at % 4] = (zeros[at % 4] ?? 0) + 1
  })
  const mostly = zeros.filter((count) => count > (0.6 * text.length) / 4).length
  if (text.length === 0 || mostly < 2) return null
  return mostly === 2 ? 'UTF-16' : mostly === 3 ? 'UTF-32' : null
}

const RESULT_BYTES = 16 * 1024 * 1024

/** Of output that is searched for an explanation only. */
const EXPLAINED_BYTES = 1024 * 1024

export async function readFiles(files: AnswerFiles): Promise<ReadAnswer> {
  const { result, ended, named } = files
  const unusable = unusableFile(result, 'the result file') ?? (named && staleFile(named))
  if (unusable) return refuse(unusable)
  const recorded = Object.fromEntries(
    Object.entries({
      wall_ms: ended.ms,
      cpu_ms: ended.cpuMs,
      peak_mb: ended.peakMb,
      ...files.known,
      ...(files.items && { [files.metric.name]: 0 }),
    }).filter((entry): entry is [string, number] => entry[1] !== null),
  )
  const sought = files.items && files.mark !== undefined ? { ...files, metric: { name: files.mark } } : files
  const reading = asJudged(files, asWritten(sought, await readAs(sought, recorded)))
  const claimed = reading.ok && claimedOf(reading.answer.metrics, files)
  if (claimed) return refuse(claimed)
  if (!reading.ok) return reading
  return { ok: true, answer: { ...reading.answer, metrics: { ...recorded, ...reading.answer.metrics } } }
}

/** The judge says the metric, not the benchmark. */
function asJudged({ items, metric: { name } }: AnswerFiles, reading: ReadAnswer): ReadAnswer {
  if (!items || !reading.ok) return reading
  const { metrics } = reading.answer
  return { ok: true, answer: { ...reading.answer, metrics: { [name]: 0, ...metrics }, value: 0 } }
}

async function readAs(files: AnswerFiles, recorded: Record<string, number>): Promise<ReadAnswer> {
  const { read, metric, aggregate, result, stdout, stderr, named, checkout } = files
  if (typeof read === 'object' && !('regex' in read)) {
    const texts = await textsOf(files)
    if (texts === null) return refuse('the output is larger than 16 MiB, the most that is searched for it')
    const plain = plainOf(texts)
    const stream = 'preset' in read ? 'stdout' : (read.from ?? 'stdout')
    const file =
      texts.result === null ? [] : [{ name: named?.shown ?? 'the result file', texts: [texts.result] }]
    const attempt = (hints: string[]): ReadAnswer => {
      const shared = { metric, recorded, hints }
      if ('preset' in read)
        return readPreset({ ...shared, preset: read.preset, aggregate, texts: plain, checkout })
      const { json: path, metrics } = read
      const streamed = {
        name: STREAMS[stream],
        texts: objectsIn(plain[stream] ?? '', path, { answered: texts.result !== null }),
      }
      return readPointer({
        ...shared,
        path,
        ...(metrics && { metrics }),
        places: named ? file : [...file, streamed],
      })
    }
    const reading = attempt([])
    return reading.ok || !reading.missing ? reading : attempt(hintsOn(plain, read, metric.name).clauses)
  }
  const regex = typeof read === 'object' ? compile(read.regex) : undefined
  if (regex === null) return refuse('measure.read.regex is not a valid pattern')
  const [own, other] =
    typeof read === 'object' && read.from === 'stderr' ? [stderr, stdout] : [stdout, stderr]
  const resultFile = existsSync(result) ? withoutMark(await readFile(result, 'utf8')) : null
  const answered = read === 'auto' && resultFile !== null
  const lines = await parseFile(own, { metric: metric.name, answered, ...(regex && { regex }) })
  const evidence = { read, metric, aggregate, resultFile, lines, recorded }
  const reading = readAnswer(evidence)
  if (reading.ok || !reading.missing) return reading
  const elsewhere = await parseFile(other, { metric: metric.name, ...(regex && { regex }) })
  const texts = await textsOf(files, EXPLAINED_BYTES)
  const { clauses: hints, preset } = texts
    ? hintsOn(plainOf(texts), read, metric.name)
    : { clauses: [], preset: null }
  if (regex && elsewhere.matches[0])
    hints.unshift(
      other === stderr
        ? 'a line of stderr matches: write read: { regex: …, from: stderr }'
        : 'a line of stdout matches: leave out from: stderr',
    )
  const explained = readAnswer({ ...evidence, elsewhere: [...elsewhere.metrics.keys()], hints })
  if (!explained.ok && preset !== null) propose(explained.fault, preset, hints)
  return explained
}

/** Where nothing was found, or the tool's own JSON could not be read as a result. */
function propose(fault: SampleFault, preset: PresetName, hints: readonly string[]): void {
  if (fault.message.startsWith(UNREADABLE)) fault.message = [fault.message, ...hints].join('; ')
  if (hints.some((clause) => fault.message.includes(clause))) fault.preset = preset
}

const STREAMS = { stdout: 'standard output', stderr: 'standard error' }

const plainOf = ({ result, stdout, stderr }: Texts): Texts => ({
  result,
  stdout: stdout && withoutCodes(stdout),
  stderr: stderr && withoutCodes(stderr),
})

/** The file that the spec names stands for the result file. null when one of them is too large to be looked at whole. */
async function textsOf(
  { read: how, result, named, stdout, stderr }: AnswerFiles,
  most = RESULT_BYTES,
): Promise<Texts | null> {
  const together =
    typeof how === 'object' && 'preset' in how ? presetOf(how.preset).folder?.together : undefined
  const texts: Texts = { result: null, stdout: null, stderr: null }
  for (const [place, path] of [
    ['result', named?.path ?? result],
    ['stdout', stdout],
    ['stderr', stderr],
  ] as const) {
    if (!existsSync(path)) continue
    const folder = place === 'result' && statSync(path).isDirectory() ? named : null
    const files = folder ? writtenSince(folder) : [path]
    if (files.reduce((bytes, file) => bytes + statSync(file).size, 0) > most) return null
    const read = await Promise.all(
      files.map(async (file) => ({
        path: file.slice(path.length + 1),
        text: withoutMark(await readFile(file, 'utf8')),
      })),
    )
    texts[place] = folder ? (together?.(read) ?? null) : (read[0]?.text ?? null)
  }
  return texts
}

/**
 * JSON of a stream: all of it when it begins with a list, or when the path asks for a list; else the objects that stand
 * among other lines.
 */
function objectsIn(text: string, path: string, { answered }: { answered: boolean }): string[] {
  if (text.trimStart().startsWith('[') || /^\d+$/.test(partsOf(path)[0] ?? '')) return [text]
  const found: string[] = []
  const objects = documents((one) => found.push(one), keyIn(path))
  if (answered) objects.answered()
  for (const line of text.split('\n')) objects.line(line.trim(), /^\s/.test(line))
  objects.end()
  return found
}

function unusableFile(path: string, name: string): string | null {
  if (!existsSync(path)) return null
  if (!statSync(path).isFile()) return `${name} is not a file`
  return statSync(path).size > RESULT_BYTES ? `${name} is larger than 16 MiB` : null
}

export interface NamedFile {
  path: string
  /** As the spec has it. */
  shown: string
  /** `stampOf` the file, or, where it may be a folder, of each that the tool writes there; by path. */
  before: ReadonlyMap<string, string>
  /** Which files of a folder are the tool's; absent = it must be a file. */
  holds?: RegExp
}

/** To be called before the program runs. */
export function namedFile(path: string, shown: string, read: ReadFrom): NamedFile {
  const folder = typeof read === 'object' && 'preset' in read ? presetOf(read.preset).folder : undefined
  const named = { path, shown, ...(folder && { holds: folder.holds }) }
  const stamps = filesOf(named).flatMap((file) => {
    const stamp = writeStamp(file)
    return stamp === null ? [] : [[file, stamp] as const]
  })
  return { ...named, before: new Map(stamps) }
}

const DEEPEST = 8
const MOST_FILES = 2000

/** The file itself, or those of a folder that are the tool's. */
function filesOf({ path, holds }: Pick<NamedFile, 'path' | 'holds'>): string[] {
  if (!holds || !lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path]
  const found: string[] = []
  const search = (folder: string, depth: number) => {
    for (const entry of entriesOf(join(path, folder))) {
      const name = join(folder, entry.name)
      if (entry.isDirectory() && depth < DEEPEST) search(name, depth + 1)
      else if (entry.isFile() && holds.test(name) && found.length < MOST_FILES) found.push(join(path, name))
    }
  }
  search('', 1)
  return found.sort()
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** Of a folder, those that were written since: others are the answer of another sample. */
const writtenSince = (named: NamedFile): string[] =>
  filesOf(named).filter((file) => writeStamp(file) !== (named.before.get(file) ?? null))

/** Changes whenever a file is written, because no program can set back its change time (ctime). null when there is no file. */
export function writeStamp(path: string): string | null {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return found ? [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ') : null
}

/** A file that was there before would be the answer of another sample, or of another machine. */
function staleFile(named: NamedFile): string | null {
  const { path, shown, before } = named
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return `${shown} (measure.read.file) is not there after the sample`
  if (named.holds && found.isDirectory()) {
    const written = writtenSince(named)
    return written.length > 0
      ? (written.map((file) => unusableFile(file, file.slice(path.length + 1))).find(Boolean) ?? null)
      : `${shown} (measure.read.file) holds no results that the sample wrote`
  }
  if (!found.isFile()) return `${shown} (measure.read.file) is not a file`
  if (writeStamp(path) === before.get(path))
    return `${shown} (measure.read.file) was there before the sample, which did not write it`
  return unusableFile(path, shown)
}

/** A benchmark may not report a metric that Assay computes from the files itself. */
function claimedOf(
  metrics: BenchmarkAnswer['metrics'],
  { known = {}, items, metric }: AnswerFiles,
): string | null {
  if (items && metrics[metric.name] !== 0)
    return `it reports ${metric.name} = ${metrics[metric.name]}, which the judge says: print it under another name, or remove \`judge\` from the spec`
  if (items && Object.hasOwn(metrics, LENGTH))
    return `it reports ${LENGTH}, which Assay counts itself: use another name`
  const name = Object.keys(known).find((one) => Object.hasOwn(metrics, one) && metrics[one] !== known[one])
  if (name === undefined) return null
  return `it reports ${name} = ${metrics[name]}, which Assay takes from the files (${known[name]}): use another name`
}

/** The median length of the answers to items. */
const LENGTH = 'answer_chars'

async function parseFile(path: string, options: LineParserOptions): Promise<ParsedLines> {
  const parser = lineParser(options)
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) parser.push(chunk as string)
  return parser.end()
}

function compile(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern)
  } catch {
    return null
  }
}

const refuse = (message: string): ReadAnswer => ({ ok: false, fault: { reason: 'metric_error', message } })

// ---------------------------------------------------------------- a metric that was not found
// When a metric was not found: what the output has instead, as clauses of the message.

const MOST = 8

export interface Hints {
  /** Clauses. */
  clauses: string[]
  /** The tool that `measure.read` should name. */
  preset: PresetName | null
}

export function hintsOn(texts: Texts, read: ReadFrom, metric: string): Hints {
  const known = recognise(texts)
  const using = typeof read === 'object' && 'preset' in read ? read.preset : null
  if (known && known.preset.name !== using) {
    const { preset, hint } = known
    const names = preset.metrics.map(({ name }) => name)
    const renamed = names.includes(metric)
      ? ''
      : `, and let metric.name be one of ${names.slice(0, 6).join(', ')}`
    const clauses = [
      `it looks like the output of ${preset.name}: write measure: { read: ${preset.name} }${renamed}${hint === null ? '' : `; ${hint}`}`,
    ]
    return { clauses, preset: preset.name }
  }
  if (known?.hint) return { clauses: [known.hint], preset: null }
  const csv = csvIn(texts.result ?? texts.stdout ?? '')
  return { clauses: [...numbers(texts, read), ...(csv === null ? [] : [csv])], preset: null }
}

function numbers(texts: Texts, read: ReadFrom): string[] {
  const pattern = typeof read === 'object' && 'regex' in read
  if (pattern) return []
  for (const [where, text] of [
    ['the result file', texts.result],
    ['standard output', texts.stdout],
  ] as const) {
    if (text === null) continue
    const whole = where === 'the result file' ? readToolJson(text) : { value: jsonIn(stripAnsi(text)) }
    const found = 'value' in whole ? numbersIn(whole.value, MOST + 1) : []
    if (found.length === 0) continue
    const shown = found.slice(0, MOST).map(({ pointer, value }) => `${pointer} = ${value}`)
    const [first] = found
    return [
      `JSON in ${where} has ${shown.join(', ')}${found.length > MOST ? ', …' : ''}: name one with measure: { read: { json: ${JSON.stringify(first?.pointer ?? '')} } }`,
    ]
  }
  return []
}

/** Two lines and more with the same number of commas, and a number in one of them. */
function csvIn(text: string): string | null {
  const lines = stripAnsi(text.slice(0, 20_000)).trim().split(/\r?\n/)
  const counts = lines.slice(0, 20).map((line) => line.split(',').length)
  if (lines.length < 2 || (counts[0] ?? 0) < 2 || new Set(counts).size > 1) return null
  if (!lines.slice(1).some((line) => /(?:^|,)\s*-?\d/.test(line))) return null
  return 'it looks like a table (CSV), which is not read: let the tool write JSON, or print METRIC name=value'
}
