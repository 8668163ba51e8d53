/** From the files that a measured program, or a scorer, left to its answer. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Supervised } from '../process.ts'
import { lineParser, type ParsedLines } from './lines.ts'
import { type Aggregate, type Answer, type Read, type ReadAnswer, readAnswer } from './metrics.ts'

export interface AnswerFiles {
  read: Read
  metric: { name: string }
  aggregate: Aggregate
  /** Where the program was told to write its result; need not exist. */
  result: string
  stdout: string
  stderr: string
  /** The measured command: its time and memory are metrics too. */
  ended: Supervised
  /** Metrics that the caller knows. */
  known?: Record<string, number>
}

const RESULT_BYTES = 16 * 1024 * 1024

export async function readFiles(files: AnswerFiles): Promise<ReadAnswer> {
  const { metric, result, ended, stdout, stderr } = files
  let resultFile: string | null = null
  if (existsSync(result)) {
    if (!statSync(result).isFile()) return refuse('the result file is not a file')
    if (statSync(result).size > RESULT_BYTES) return refuse('the result file is larger than 16 MiB')
    resultFile = await readFile(result, 'utf8')
  }
  const regex = typeof files.read === 'object' ? compile(files.read.regex) : undefined
  if (regex === null) return refuse('measure.read.regex is not a valid pattern')
  const lines = await parseFile(stdout, metric.name, regex)
  const recorded = Object.fromEntries(
    Object.entries({
      wall_ms: ended.ms,
      cpu_ms: ended.cpuMs,
      peak_mb: ended.peakMb,
      ...files.known,
    }).filter((entry): entry is [string, number] => entry[1] !== null),
  )
  const { read, aggregate } = files
  const evidence = { read, metric, aggregate, resultFile, lines, recorded }
  const reading = readAnswer(evidence)
  const claimed = reading.ok && claimedOf(reading.answer.metrics, files.known ?? {})
  if (claimed) return refuse(claimed)
  if (reading.ok)
    return { ok: true, answer: { ...reading.answer, metrics: { ...recorded, ...reading.answer.metrics } } }
  const onStderr = await parseFile(stderr, metric.name, undefined)
  return readAnswer({ ...evidence, elsewhere: [...onStderr.metrics.keys()] })
}

/** What Assay takes from the files themselves is nobody else's to report. */
function claimedOf(metrics: Answer['metrics'], known: Record<string, number>): string | null {
  const name = Object.keys(known).find((one) => Object.hasOwn(metrics, one) && metrics[one] !== known[one])
  if (name === undefined) return null
  return `it reports ${name} = ${metrics[name]}, which Assay takes from the files (${known[name]}): use another name`
}

async function parseFile(path: string, metric: string, regex: RegExp | undefined): Promise<ParsedLines> {
  const parser = lineParser({ metric, ...(regex && { regex }) })
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
