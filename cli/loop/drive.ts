/**
 * `assay loop`: asks the agents that the agenda names and does what needs none, each lane at its own pace. All that it
 * knows is in the ledger, so the next driver continues the work of one that was killed.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { type Asker, askerOf } from '../agents/asker.ts'
import { type Hosts, openHosts } from '../agents/open-host.ts'
import { patience } from '../agents/patience.ts'
import { figure } from '../evaluate/figure.ts'
import { settled, whenLedger } from '../experiment/wait.ts'
import { packStore } from '../git/store.ts'
import type { StopReason } from '../ledger/events.ts'
import { currentRound, lastAttempt } from '../ledger/state.ts'
import { ok, type Problem, type Result } from '../result.ts'
import { type Driver, environmentOfDriver } from '../run/driver.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { textsOf } from '../text.ts'
import type { TotalUsage } from '../workflow/permits.ts'
import {
  agendaOf,
  type Effect,
  type Facts,
  laneOfEffect,
  type PhaseTitle,
  type Task,
  TRIES,
} from './agenda.ts'
import { ANSWERS_OF } from './answer-schemas.ts'
import { carryOut } from './effects.ts'
import { checkFindings, type ScanFinding } from './findings.ts'
import { alertOfHeldAccelerators } from './held-accelerators.ts'
import { type DueAnswer, metaDue } from './meta/apply.ts'
import { hasFailed, metaTick, SWITCHED_OFF } from './meta/tick.ts'
import { BEGINS, factsOf, isOpen } from './next-tasks.ts'
import { openRound, stopOfNext, suiteRound } from './open.ts'
import { metaInterval, roundLine } from './round.ts'
import { recordGiven } from './take-answer.ts'
import { taskOf } from './task-prompt.ts'

export interface DriveRequest {
  /** How many may be closed by this start; null = no limit. */
  rounds: number | null
  /** A person said yes to a loop without any cap on what its agents cost. */
  uncapped: boolean
  /** Whose lease the loop has: it tells for what the loop waits. */
  driver: Driver
}

export interface DriveOutcome {
  /** Closed by this start. */
  rounds: number
  stop: StopReason | null
  /** Who drives instead, and what to do; null = it is this process. */
  driven: string | null
  /** Why it ended early; null when it did not. */
  error: string | null
  /** A person stopped the loop while it waited for a host: the next start continues from there. */
  left: boolean
  edits: DueAnswer['edits']
  alerts: string[]
  stops: DueAnswer['stops']
  /** `looks`: how many ticks the meta controller had. */
  usage: TotalUsage & { agents: number; looks: number }
  /** The first 1,000 lines. */
  logs: string[]
}

const MOST_LOGS = 1000
/** How often the loop reads whether a person switched the meta controller on, or changed its interval. */
const SWITCH_MS = 10_000
/** With these stop reasons it is no fault of a host that no agent answered. */
const OVER: readonly (StopReason | null)[] = ['budget', 'user', 'target']
/** If the agenda names the same effect more often than this in a round, the effect changes nothing, and the loop ends with an error. */
const MOST_TIMES = 50

/** Fails before anything is begun; what ends it later is in the outcome. */
export async function driveLoop(run: OpenRun, request: DriveRequest): Promise<Result<DriveOutcome>> {
  const hosts = suiteRound(run) === 'repeat' ? ok(NO_HOSTS) : await openHosts(run, request.uncapped)
  if (!hosts.ok) return hosts
  const leaving = new AbortController()
  const signal = AbortSignal.any([run.signal, leaving.signal])
  // What it calls is its own: not of a session around it, nor in the worktree where a person called it.
  const hand = { ...run, cwd: run.site.root, env: environmentOfDriver(run), signal }
  const logs: string[] = []
  const log = (message: string) => {
    if (logs.length < MOST_LOGS) logs.push(message)
    run.tell({ type: 'log', message })
  }
  const asker = askerOf(run, hosts.value, {
    patience: patience(run, request.driver, () => leaving.abort()),
    log,
  })
  const rounds = new Rounds(hand, { asker, log, signal, limit: request.rounds })
  await rounds.run()
  await packStore(run.site)
  return ok({
    rounds: rounds.closed,
    stop: rounds.stop,
    driven: rounds.ending?.code === 'driven' ? inWords(rounds.ending) : null,
    error: rounds.ending !== null && rounds.ending.code !== 'driven' ? inWords(rounds.ending) : null,
    left: leaving.signal.aborted,
    ...(await steered(run, rounds.alerts)),
    usage: { ...asker.usage(), agents: asker.asked(), looks: rounds.looks },
    logs,
  })
}

/** What was steered in this run, earlier starts included. */
async function steered(
  run: OpenRun,
  own: readonly string[],
): Promise<Pick<DriveOutcome, 'edits' | 'alerts' | 'stops'>> {
  const seen = metaInterval(run) !== null ? await metaDue(run, null) : null
  if (!seen?.ok) return { edits: [], alerts: [...own], stops: [] }
  const { edits, alerts, stops } = seen.value
  return { edits, alerts: [...alerts, ...own], stops }
}

const inWords = ({ message, hint }: Problem): string => [message, hint].filter(Boolean).map(String).join('; ')

// ---------------------------------------------------------------- the rounds

interface RoundsSetup {
  asker: Asker
  log(message: string): void
  signal: AbortSignal
  limit: number | null
}

/**
 * Begins what the agenda names: no task or effect twice at a time, and in a lane only one. When one ends, or the ledger grows, the
 * agenda is read again.
 */
class Rounds {
  closed = 0
  stop: StopReason | null = null
  /** Why nothing more is begun; what was begun is finished and recorded. */
  ending: Problem | null = null
  /** How often the meta controller looked whether there is anything to steer. */
  looks = 0
  /** What a person should know of these ticks. */
  readonly alerts: string[] = []
  readonly #run: OpenRun
  readonly #setup: RoundsSetup
  readonly #atWork = new Map<string, { lane: number | null; done: Promise<void> }>()
  readonly #times = new Map<string, number>()
  /** The number of the round that this start has opened, or continued. */
  #round: number | null = null
  #phase: PhaseTitle | 'Orient' | null = null
  /** Whether any agent did something: one that never does is a broken host, not an agent without ideas. */
  #answered = false
  #thrown: { error: unknown } | null = null
  #wake = new AbortController()
  /** Aborts when the rounds have ended: no tick of the meta controller holds them. */
  readonly #over = new AbortController()

  constructor(run: OpenRun, setup: RoundsSetup) {
    this.#run = run
    this.#setup = setup
  }

  async run(): Promise<void> {
    const looking = this.#watch()
    while (await this.#step());
    this.#over.abort()
    await looking
    await Promise.all([...this.#atWork.values()].map(({ done }) => done))
    if (this.#thrown) throw this.#thrown.error
  }

  /** Looks from time to time whether there is anything to steer; what it finds is a task like any other. */
  async #watch(): Promise<void> {
    const signal = AbortSignal.any([this.#setup.signal, this.#over.signal])
    let last = performance.now()
    for (;;) {
      // A person may change the interval while this waits, so it waits in short pieces.
      const left = () => last + (metaInterval(this.#run) ?? Number.POSITIVE_INFINITY) - performance.now()
      await pause(Math.max(1, Math.min(left(), SWITCH_MS)), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      if (left() > 0) continue
      last = performance.now()
      if (this.#round === null) continue
      this.looks++
      const tick = await metaTick(this.#run)
      if (!tick.ok) this.#setup.log(`meta: ${tick.problem.message}`)
      else if (tick.value !== null) this.#wake.abort()
    }
  }

  /** False when there is nothing more to do. */
  async #step(): Promise<boolean> {
    const { ledger } = this.#run
    this.#wake = new AbortController()
    const read = ledger.refresh()
    if (!read.ok) this.ending ??= read.problem
    if (this.#setup.signal.aborted || this.#thrown || !read.ok) return false
    const { state } = ledger
    const seen = state.seq
    const isOpen = this.#round !== null && currentRound(state)?.round === this.#round
    if (this.ending === null && !isOpen) return this.#next()
    const facts = factsOf(this.#run)
    const agenda = agendaOf(state, liveSpec(this.#run), facts)
    for (const effect of agenda.effects) this.#effect(effect)
    if (this.ending === null) for (const task of agenda.tasks) this.#task(task)
    const left = this.ending === null ? agenda.measuring : []
    if (this.ending !== null) this.#over.abort()
    if (this.ending !== null && this.#atWork.size === 0) return false
    await this.#change(seen, left, facts)
    return true
  }

  /** The round that was open is closed, or none was: opens the next one. */
  async #next(): Promise<boolean> {
    const { log, limit, signal, asker } = this.#setup
    const { state } = this.#run.ledger
    if (this.#round !== null) {
      this.closed++
      this.#round = null
      this.#times.clear()
      const stop = stopOfNext(state)
      // A start that only closed the round of an earlier one asked no agent.
      if (asker.asked() > 0 && !this.#answered && !OVER.includes(stop)) {
        this.ending = NOBODY
        return false
      }
    }
    if (limit !== null && this.closed >= limit) {
      this.stop = stopOfNext(state)
      return false
    }
    this.#enter('Orient')
    await asker.begin(signal)
    if (signal.aborted) return false
    const opened = openRound(this.#run)
    if (!opened.ok) {
      this.ending = opened.problem
      return false
    }
    const { round, stop, warnings, direction } = opened.value
    if (stop !== null || round === null) {
      this.stop = stop
      return false
    }
    this.#round = round
    for (const alert of await alertOfHeldAccelerators(this.#run)) log(`warning: ${alert}`)
    const open = currentRound(state)
    if (open) log(roundLine(state, open))
    for (const warning of warnings) log(`warning: ${warning}`)
    if (direction) log(`round ${round} changes direction: ${direction.why}`)
    return true
  }

  /** Waits until something at work ends, the ledger grows, or a process that measures dies. */
  async #change(seen: number, measuring: readonly string[], { lost }: Facts): Promise<void> {
    const { state } = this.#run.ledger
    const signal = AbortSignal.any([this.#setup.signal, this.#wake.signal])
    const hasDied = (id: string) => {
      const node = state.experiments.get(id)
      return node !== undefined && !lost.has(id) && settled(node) === 'lost'
    }
    const read = await whenLedger({ ...this.#run, signal }, Number.POSITIVE_INFINITY, () =>
      state.seq > seen || measuring.some(hasDied) ? true : null,
    )
    if (!read.ok) this.ending ??= read.problem
  }

  #enter(phase: PhaseTitle | 'Orient'): void {
    if (this.#phase === phase) return
    this.#phase = phase
    this.#run.tell({ type: 'phase', title: phase })
  }

  /** The ledger cannot tell this: an experiment has its event before its folder, so work that seems done may still go on. */
  #isAtWork(name: string, lane: number | null): boolean {
    if (this.#atWork.has(name)) return true
    return lane !== null && [...this.#atWork.values()].some((one) => one.lane === lane)
  }

  #begin(name: string, lane: number | null, work: () => Promise<Problem | null>): void {
    const { signal } = this.#setup
    const done = work()
      .then((problem) => {
        // What is cut off when the loop is left says nothing.
        if (problem !== null && !signal.aborted) this.ending ??= problem
      })
      .catch((error: unknown) => {
        this.#thrown ??= { error }
      })
      .finally(() => {
        this.#atWork.delete(name)
        this.#wake.abort()
      })
    this.#atWork.set(name, { lane, done })
  }

  // -------------------------------------------------------------- what needs an agent

  #task(task: Task): void {
    if (this.#isAtWork(task.id, task.lane)) return
    if (task.phase !== null) this.#enter(task.phase)
    this.#begin(task.id, task.lane, () => this.#asked(task))
  }

  async #asked(task: Task): Promise<Problem | null> {
    const { asker, signal, log } = this.#setup
    const told = await taskOf(this.#run, task.id)
    // An answer of a different driver came first.
    if (!told.ok) return told.problem.code === 'answered' ? null : told.problem
    const { label, phase } = task
    const isMetaTick = task.role === 'meta'
    const until = isMetaTick ? AbortSignal.any([signal, this.#over.signal]) : signal
    const isWanted = () => isOpen(this.#run, task.id)
    const object = await asker.ask(
      { prompt: told.value.prompt, label, phase, schema: ANSWERS_OF[task.role], isWanted },
      until,
    )
    // It was not the agent that ended: it is asked again.
    if (until.aborted) return null
    this.#answered ||= object !== null && !isMetaTick
    const recorded = await recordGiven(this.#run, task, object === null ? null : JSON.stringify(object))
    if (!recorded.ok) return recorded.problem
    if (isMetaTick && object === null && hasFailed(this.#run.ledger.state)) {
      this.alerts.push(SWITCHED_OFF)
      log(SWITCHED_OFF)
    }
    if (task.role === 'scan' && object !== null) {
      const { findings } = object as { findings: ScanFinding[] }
      for (const { message } of checkFindings(this.#run, findings).dropped) log(`finding dropped: ${message}`)
    }
    return null
  }

  // -------------------------------------------------------------- what needs none

  #effect(effect: Effect): void {
    // What was paid for is sealed; the next start continues from there.
    if (this.ending !== null && (effect.do !== 'seal' || this.ending.code === 'driven')) return
    const name = JSON.stringify(effect)
    const lane = laneOfEffect(this.#run.ledger.state, effect)
    // Each replacement of its process has a record of its own, and there is one at a time.
    const work = effect.do === 'run' ? `run ${effect.experiment}` : name
    if (this.#isAtWork(work, lane)) return
    const times = (this.#times.get(name) ?? 0) + 1
    this.#times.set(name, times)
    if (times > MOST_TIMES) throw new Error(`the loop cannot go on: ${name}`)
    // It was tried, and ended the loop.
    if (this.ending !== null && times > 1) return
    this.#show(effect)
    this.#begin(work, lane, async () => {
      const { asker, signal } = this.#setup
      // A person may hold the loop: what begins an experiment waits.
      if (BEGINS.includes(effect.do)) await asker.begin(signal)
      if (signal.aborted) return null
      const done = await carryOut(this.#run, effect)
      if (done.ok) this.#tell(effect, done.value)
      // It was killed before it could claim the attempt: nothing is begun, and nothing is known of the candidate.
      else if (done.problem.code !== 'worker_died' || times >= TRIES) return done.problem
      return null
    })
  }

  #show(effect: Effect): void {
    const step = effect.do === 'run' ? 'judging' : effect.do === 'seal' ? 'sealing' : null
    if (step !== null && 'experiment' in effect)
      this.#run.tell({ type: 'step', experiment: effect.experiment, step })
  }

  /** What a person should read of it, as far as no event says it. */
  #tell(effect: Effect, done: unknown): void {
    const { log } = this.#setup
    const { answers, experiments } = this.#run.ledger.state
    const found = 'record' in effect ? answers.get(effect.record)?.answer : null
    switch (effect.do) {
      case 'propose':
        for (const { message } of (done as { refused: { message: string }[] }).refused)
          log(`idea refused: ${message}`)
        return
      case 'brief':
        for (const message of textsOf(found?.refused)) log(`brief refused: ${message}`)
        return
      case 'create': {
        const refused = answers.get(effect.refused)?.answer?.refused
        if (typeof refused === 'string') log(`lane ${effect.lane.lane} ends: ${refused}`)
        return
      }
      case 'run':
        if (typeof found?.refused === 'string') log(`${effect.experiment} was not run: ${found.refused}`)
        return
      case 'merge':
        if (typeof found?.refused === 'string')
          log(`the CLI merges nothing more in this round: ${found.refused}`)
        return
      case 'descend':
        for (const message of textsOf(found?.declined)) log(`text refused: ${message}`)
        if (typeof found?.artifact === 'string')
          log(
            `${found.artifact} is tried: expected reduction × confidence = ${figure(Number(found.product))}`,
          )
        return
      case 'repeat':
        log(`the suite was run again: loss ${figure((done as { loss: number | null }).loss)}`)
        return
      case 'steer':
        for (const message of (done as { said: string[] }).said) log(`meta: ${message}`)
        return
      case 'seal': {
        const given = answers.get(effect.answer)
        const node = experiments.get(effect.experiment)
        if (given?.answer !== null || !node || found?.attempt !== lastAttempt(node)?.attempt) return
        this.#answered = true
        log(`${effect.experiment}: its agent gave no answer, but left an edit, which is judged`)
        return
      }
      default:
        return
    }
  }
}

/** A loop that only repeats a suite asks nobody. */
const NO_HOSTS: Hosts = {
  now: async () => {
    throw new Error('a loop that repeats a suite asked an agent')
  },
}

const NOBODY: Problem = {
  kind: 'failed',
  code: 'nobody_answered',
  message: 'no agent answered: check agent.host and its command in the spec',
}
