/** `round findings`: a finding of a scanner counts only if its quotes were really printed. It writes nothing. */

import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join, relative } from 'node:path'
import { objectIn } from '../json.ts'
import type { Experiment } from '../ledger/state.ts'
import { attemptFolder, experimentFolder, stepsFile, stepsOfJob } from '../paths.ts'
import type { OpenRun } from '../run/open.ts'
import { alike } from '../text.ts'
import type { FindingKind } from './answer-schemas.ts'

export interface Quote {
  experiment: string
  quote: string
}

export interface ScanFinding {
  kind: FindingKind
  message: string
  evidence: Quote[]
}

export interface FindingsAnswer {
  findings: {
    kind: FindingKind
    message: string
    experiments: string[]
    /** Only what was found; `file` is relative to the experiment's folder, or `verdict`. */
    evidence: (Quote & { file: string })[]
  }[]
  dropped: { index: number; reason: string; message: string }[]
}

const LIMITS = { read: 200, findings: 20, evidence: 10, quote: 1000, message: 500 }

/** A finding that cannot be read is text: why. */
export function checkFindings(run: OpenRun, given: readonly (ScanFinding | string)[]): FindingsAnswer {
  const { findings, dropped }: FindingsAnswer = { findings: [], dropped: [] }
  const read = given.slice(0, LIMITS.read)
  const placeOf = placesIn(
    run,
    read.flatMap((finding) => (typeof finding === 'string' ? [] : quotesOf(finding))),
  )
  for (const [index, finding] of given.entries()) {
    const drop = (reason: string, message: string) => dropped.push({ index, reason, message })
    if (typeof finding === 'string') {
      drop('malformed', finding)
      continue
    }
    if (findings.length >= LIMITS.findings || index >= LIMITS.read) {
      drop('too_many', `a round hears ${LIMITS.findings} findings`)
      continue
    }
    const evidence = quotesOf(finding).flatMap((one) => {
      const file = placeOf(one)
      return file === null ? [] : [{ ...one, file }]
    })
    const experiments = [...new Set(evidence.map(({ experiment }) => experiment))]
    const twin = findings.find(
      ({ kind, message }) => kind === finding.kind && alike(message, finding.message),
    )
    if (experiments.length === 0) drop('unverified', 'none of its quotes is in an output that is stored')
    else if (twin) {
      twin.evidence = [...twin.evidence, ...evidence].slice(0, LIMITS.evidence)
      twin.experiments = [...new Set([...twin.experiments, ...experiments])]
      drop('duplicate', 'another finding says the same; its evidence was added there')
    } else if (finding.kind === 'shared_cause' && experiments.length < 2)
      drop('not_shared', `only ${experiments[0]} shows it`)
    else
      findings.push({
        kind: finding.kind,
        message: finding.message.slice(0, LIMITS.message),
        experiments,
        evidence,
      })
  }
  return { findings, dropped }
}

const quotesOf = ({ evidence }: ScanFinding): Quote[] =>
  evidence
    .slice(0, LIMITS.evidence)
    .map(({ experiment, quote }) => ({ experiment, quote: quote.slice(0, LIMITS.quote) }))

/** Where a quote of these stands; each experiment's outputs are read once. */
function placesIn(run: OpenRun, quotes: readonly Quote[]): (quote: Quote) => string | null {
  const places = new Map<string, Map<string, string | null>>()
  for (const id of new Set(quotes.map(({ experiment }) => experiment))) {
    const node = run.ledger.state.experiments.get(id)
    const wanted = quotes.filter(({ experiment }) => experiment === id).map(({ quote }) => quote)
    const found = node ? placesOf(run, node, wanted) : []
    places.set(id, new Map(wanted.map((quote, index) => [quote, found[index] ?? null])))
  }
  return ({ experiment, quote }) => places.get(experiment)?.get(quote) ?? null
}

// ----------------------------------------------------------------
// Whether a quote was really printed: looks for it in the stored outputs of the experiment's own attempts.

/** Bytes of one file: its first half and its last, when it has more. */
const FILE_BYTES = 8 * 1024 * 1024
const MOST_FILES = 2000
/** A shorter quote would be found almost anywhere, so it proves nothing. */
const SHORTEST = 8

/**
 * Where each quote stands, word for word but for the width of its blanks: a file relative to the experiment's folder,
 * or `verdict`; null when it stands nowhere, or is too short to show anything. Samples of what it was compared with are
 * not its own output.
 */
export function placesOf(run: OpenRun, node: Experiment, quotes: readonly string[]): (string | null)[] {
  const wanted = quotes.map(onOneLine)
  const found = wanted.map((): string | null => null)
  const look = (place: string, text: string): boolean => {
    const line = onOneLine(text)
    for (const [index, quote] of wanted.entries())
      if (found[index] === null && quote.length >= SHORTEST && line.includes(quote)) found[index] = place
    return found.every((one, index) => one !== null || (wanted[index] ?? '').length < SHORTEST)
  }
  const folder = experimentFolder(run.paths, node.id)
  for (const { attempt, judged } of [...node.attempts].reverse()) {
    if (judged && look('verdict', judged.message)) break
    const at = attemptFolder(run.paths, node.id, attempt)
    const files = filesBelow(at).filter(
      (file) => ![stepsFile(at), stepsOfJob(at)].includes(file) && !OTHER_SIDE.test(file),
    )
    if (files.some((file) => look(relative(folder, file), textOf(file)))) break
  }
  return found
}

const OTHER_SIDE = /[/\\]samples[/\\][a-z]+-\d+-(a|parent)\./
const onOneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim()

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .slice(0, MOST_FILES)
  } catch {
    // The folder is missing: the attempt was judged without being measured.
    return []
  }
}

/** A file of JSON is read as it is and with its texts unfolded: the agent may have quoted either. */
function textOf(file: string): string {
  const text = read(file)
  const value = file.endsWith('.json') ? objectIn(text) : null
  return value === null ? text : [text, ...textsIn(value)].join('\n')
}

function textsIn(value: unknown): string[] {
  const texts: string[] = []
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const one = rest.pop()
    if (typeof one === 'string') texts.push(one)
    else if (typeof one === 'object' && one !== null) rest.push(...Object.values(one).reverse())
  }
  return texts
}

function read(file: string): string {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(fd)
    const half = (from: number, length: number) => {
      const buffer = Buffer.alloc(length)
      return buffer.toString('utf8', 0, readSync(fd, buffer, 0, length, from))
    }
    if (size <= FILE_BYTES) return half(0, size)
    return `${half(0, FILE_BYTES / 2)}\n${half(size - FILE_BYTES / 2, FILE_BYTES / 2)}`
  } finally {
    closeSync(fd)
  }
}
