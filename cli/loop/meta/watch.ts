/** The meta controller of a loop: looks from time to time, and asks an agent only about facts that are new. */
import { setTimeout as pause } from 'node:timers/promises'
import { abort } from '../../experiment/abort.ts'
import type { FailureClass } from '../../ledger/events.ts'
import { currentRound } from '../../ledger/state.ts'
import { liveSpec, type OpenRun } from '../../run/open.ts'
import { applyEdits, type DueAnswer, metaDue } from './apply.ts'
import type { MetaFact } from './facts.ts'
import { META_ANSWER, metaPrompt } from './prompt.ts'

export interface Watching {
  every: number
  /** Tells its looks from those of other starts of the loop. */
  launch: string
  ask(prompt: string, schema: object): Promise<object | null>
  /** Called at each look. */
  looked(): void
  log(message: string): void
  /** Aborts when the rounds are over. */
  over: AbortSignal
}

/** What it answers; the schema was checked. */
interface MetaAnswer {
  edits?: unknown[]
  alerts?: string[]
  stops?: Stop[]
}

interface Stop {
  experiment: string
  failure_class?: string
  reason: string
  fix?: string
  evidence: string
}

const FAILED_LOOKS = 3
/** Of one answer. */
const MOST_STOPS = 7

/** Resolves when the rounds are over, or it failed three times in a row: then with what a person should know. */
export async function watchOver(run: OpenRun, watching: Watching): Promise<string | null> {
  const { every, launch, looked, log, over } = watching
  let failed = 0
  for (let look = 1; failed < FAILED_LOOKS; look++) {
    await pause(every, undefined, { signal: over }).catch(() => {})
    if (over.aborted) return null
    looked()
    const worked = await lookOnce(run, `${launch}.${look}`, watching)
    if (over.aborted) return null
    failed = worked ? 0 : failed + 1
  }
  const alert = `the meta controller failed ${FAILED_LOOKS} times in a row and was switched off`
  log(alert)
  return alert
}

/** False when it failed. */
async function lookOnce(run: OpenRun, name: string, { ask, log, over }: Watching): Promise<boolean> {
  const read = run.ledger.refresh()
  const seen = read.ok ? await metaDue(run, name) : read
  if (!seen.ok) return failedFor(log, seen.problem.message)
  const { due, tick, facts } = seen.value
  if (!due || tick === null || facts.length === 0) return true
  const answer = (await ask(promptFor(run, seen.value), META_ANSWER)) as MetaAnswer | null
  if (answer === null || over.aborted) return false
  let worked = true
  for (const stop of (answer.stops ?? []).slice(0, MOST_STOPS))
    worked = (await enforce(run, stop, facts, tick, log)) && worked
  const alerts = answer.alerts ?? []
  for (const alert of alerts) log(`meta: ${alert}`)
  // Also when there is nothing to change: that the facts were answered is what keeps them from being told again.
  const { edits = [] } = answer
  const done = await applyEdits(run, { tick, edits, alerts, key: `meta/${tick}/apply` })
  if (!done.ok) return failedFor(log, done.problem.message)
  for (const { index, message } of done.value.refused) log(`meta: edit ${index + 1} refused: ${message}`)
  return worked
}

function failedFor(log: Watching['log'], message: string): false {
  log(`meta: ${message}`)
  return false
}

function promptFor(run: OpenRun, { facts, knobs, phases, edits }: DueAnswer): string {
  const round = currentRound(run.ledger.state)?.round ?? null
  return metaPrompt({ run: run.run, round, goal: liveSpec(run).goal, facts, knobs, phases, edits })
}

const CLASSES = ['build', 'eval', 'hypothesis', 'environment'] as const satisfies readonly FailureClass[]

/** Stops an experiment when a fact about that very one is the evidence. False when that failed. */
async function enforce(
  run: OpenRun,
  { experiment, failure_class, reason, fix, evidence }: Stop,
  facts: readonly MetaFact[],
  tick: number,
  log: Watching['log'],
): Promise<boolean> {
  const grounds = facts.some(({ name, experiments }) => name === evidence && experiments.includes(experiment))
  if (!grounds) {
    log(`meta: ${experiment.slice(0, 20)} goes on: ${evidence.slice(0, 100)} is no fact about it`)
    return true
  }
  const done = await abort(run, experiment, {
    ifRunning: true,
    failureClass: CLASSES.find((one) => one === failure_class) ?? 'environment',
    why: inOneLine(reason),
    fix: fix ? inOneLine(fix) : null,
    key: `meta/${tick}/${experiment}`,
  })
  if (!done.ok) return failedFor(log, done.problem.message)
  log(`meta: ${experiment} ${done.value.aborted ? 'was stopped' : 'was not running any more'}`)
  return true
}

const inOneLine = (said: string): string => said.replace(/\s+/g, ' ').trim().slice(0, 500)
