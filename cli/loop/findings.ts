/** `round findings`: a finding of a scanner counts only if its quotes were really printed. It writes nothing. */
import { placesOf } from '../experiment/quotes.ts'
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
