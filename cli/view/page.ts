/** What the page says of a run, from the state and the functions that the terminal's verbs answer with. */
import { tailOf } from '../evaluate/command.ts'
import { gainOf } from '../evaluate/figure.ts'
import { fileJson, fileText } from '../files.ts'
import { heardIn } from '../hosts/heard.ts'
import { numberAt, textAt } from '../hosts/json.ts'
import { isAgentOutput } from '../hosts/program.ts'
import { bestOf, bestsInOrder } from '../ledger/best.ts'
import type { Edit, Judged } from '../ledger/events.ts'
import {
  BASELINE,
  type Experiment,
  failureClassOf,
  lastJudged,
  nodeValue,
  type Round,
  repairable,
  retestable,
  type State,
  severalParents,
  stallOf,
} from '../ledger/state.ts'
import { samplesOf, stepsToShow } from '../ledger/steps.ts'
import { seeLeases } from '../lock/inspect.ts'
import { learningsOf } from '../loop/open.ts'
import { progressOf } from '../measure/steps.ts'
import { agentRecord, attemptFolder, leaseFolder, listRuns, pullRequestFile } from '../paths.ts'
import { nameOfProcess } from '../process.ts'
import { experimentsLeft } from '../run/budget.ts'
import { differencesOf, machineAt } from '../run/machine.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { plain, verbatim } from '../text.ts'
import { pageBacklog } from './backlog.ts'
import { armsOf, bestPath, runDuration, spendOf } from './chart.ts'
import type { History } from './history.ts'
import { judgedItems } from './judging.ts'
import { objectionsOf } from './objections.ts'
import {
  markOf,
  type PageCall,
  type PageHead,
  type PageLane,
  type PageNow,
  type PageRound,
  type PageRow,
  type PageRunLine,
  type PageText,
} from './page-model.ts'
import { machineFacts } from './page-node.ts'
import { statusOf } from './run.ts'
import { suiteView } from './suite.ts'

/** Characters of a text that stands in a list; a node shows the whole of it. */
const LINE = 300
const WHOLE = 4000

const said = (text: string, max = WHOLE): string => plain(text, max)

// ---------------------------------------------------------------- rows

export function rowOf(run: OpenRun, node: Experiment): PageRow {
  const judged = lastJudged(node)
  const { round, lane } = node.created
  const since = Date.parse(run.started.at)
  const at = (time: string) => Date.parse(time) - since
  return {
    experiment: node.id,
    parent: node.parent,
    ...severalParents(node),
    status: node.status,
    mark: markOf({
      status: node.status,
      flagged: node.flagged !== null,
      reason: judged?.reason ?? null,
      confirmed: isConfirmed(node),
      merged: node.parents.length > 1,
    }),
    reason: judged?.reason ?? null,
    failure_class: failureClassOf(node),
    value: nodeValue(node),
    epoch: node.epoch,
    range: rangeOf(run, judged),
    improvement: judged?.improvement ?? null,
    round,
    lane,
    arm: node.created.arm !== undefined,
    attempts: node.attempts.length,
    created: at(node.created.at),
    judged: judged ? at(judged.at) : null,
    order: node.judgedSeq,
    hypothesis: said(node.hypothesis, LINE),
  }
}

export const rowsOf = (run: OpenRun): PageRow[] =>
  [...run.ledger.state.experiments.values()].map((node) => rowOf(run, node))

/** Where the value lies, from the interval of its improvement over what it was compared with. */
function rangeOf({ started }: OpenRun, judged: Judged | null): [number, number] | null {
  if (!judged?.interval || judged.parent_value === null) return null
  const [low, high] = judged.interval
  const from = judged.parent_value
  return started.metric.direction === 'minimize' ? [from - high, from - low] : [from + low, from + high]
}

/** Measured a second time, and better again: within its verdict, or by a later look against its parent. */
function isConfirmed(node: Experiment): boolean {
  // There is nothing that the baseline could be better than.
  if (node.parent === null) return false
  const last = node.attempts.findLast(({ judged }) => judged !== null)
  if (!last?.judged) return false
  return last.judged.confirmed || last.confirmed.some(({ passed, aside }) => passed && !aside)
}

// ---------------------------------------------------------------- the run

export function headOf(run: OpenRun, history: History, version: string): PageHead {
  const { state } = run.ledger
  const { started } = run
  const status = statusOf(run)
  const best = bestOf(state)
  const judged = best && lastJudged(best)
  const { metric, baseline } = status
  const calibrated = state.experiments.get(BASELINE)
  const suite = suiteView(run)
  const backlog = pageBacklog(state)
  return {
    ...(suite === null ? {} : { suite }),
    run: run.run,
    name: said(started.name, LINE),
    goal: said(liveSpec(run).goal),
    version,
    started: started.at,
    last: state.lastAt ?? started.at,
    offset: history.offset,
    metric,
    noise: state.noise.mode,
    epoch: state.epoch,
    epochs: history.epochs.map(({ epoch, at, why }) => ({ epoch, at, why: said(why, LINE) })),
    baseline,
    baseline_band: calibrated?.epoch === state.epoch ? bandOf(state) : null,
    best: status.best && {
      ...status.best,
      confirmed: best !== null && isConfirmed(best),
      samples: judged?.samples ?? null,
    },
    gain: gainOf(baseline.value, status.best?.value ?? null, metric.direction),
    interval: best?.id === BASELINE ? null : (judged?.interval ?? null),
    against: judged?.against ?? null,
    counts: status.counts,
    inconclusive: inconclusive(state),
    budget: status.budget,
    stop: status.stop,
    stop_cause: status.stop_cause === null ? null : said(status.stop_cause, LINE),
    paused: status.paused === null ? null : said(status.paused, LINE),
    driver: status.driver,
    stall: { now: stallOf(state), limit: state.knobs?.stall ?? null },
    buys: experimentsLeft(state),
    bests: bestsInOrder(state).map(({ id }) => id),
    path: bestPath(state).map(({ experiment, value, hypothesis }) => ({
      experiment,
      value,
      hypothesis: said(hypothesis, LINE),
    })),
    doubts: status.doubts.map(({ experiment, doubt, hint }) => ({
      experiment,
      doubt: said(doubt),
      hint: said(String(hint)),
    })),
    stuck: status.stuck.map(({ experiment, message, hint }) => ({
      experiment,
      message: said(message),
      hint: said(String(hint)),
    })),
    ...(status.pins && { pins: status.pins.map((pin) => ({ ...pin, why: said(pin.why, LINE) })) }),
    duration: durationOfRun(run),
    spend: spendOf(run),
    costs: costsOf(run, history),
    arms: armsOf(state),
    left: {
      repairable: repairable(state).map(({ id }) => id),
      retests: retestable(state).map(({ id }) => id),
    },
    ...(backlog && { backlog }),
    ...(status.judging && { judging: status.judging, judged_items: judgedItems(run) }),
    ...pullRequestOf(run),
    rounds: Array.from(state.rounds, roundOf),
    edits: state.meta.edits.map(({ id, edit, from, undone }) => ({
      id,
      what: said(whatOf(edit), LINE),
      why: said(edit.rationale, LINE),
      from,
      undone,
    })),
    texts: textsOf(run, history),
    tasks: tasksOf(state),
    metrics: metricsOf(state, metric.name),
    environment: {
      isolation: state.isolation?.method ?? 'none',
      without: state.isolation?.without ?? [],
      host: judgedOn(state),
      ...machinesOf(state),
      git_rules: started.git_rules ?? null,
      seed: started.seed,
      base: started.base.commit,
    },
  }
}

/** Characters: more is no text that a person reads. */
const LONGEST_TEXT = 60_000

function pullRequestOf({ paths }: OpenRun): Pick<PageHead, 'pull_request'> {
  const text = fileText(pullRequestFile(paths))
  if (text === null) return {}
  return { pull_request: text.slice(0, LONGEST_TEXT).split('\n').map(verbatim).join('\n') }
}

function durationOfRun(run: OpenRun) {
  const { ms, active_ms } = runDuration(run)
  return { ms, active_ms }
}

function bandOf({ noise: { values } }: State): [number, number] | null {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return values.length > 1 && low < high ? [low, high] : null
}

function inconclusive(state: State): number {
  let count = 0
  for (const node of state.experiments.values())
    if (node.status === 'rejected' && lastJudged(node)?.reason === 'inconclusive') count++
  return count
}

function machinesOf(state: State): Pick<PageHead['environment'], 'machine' | 'other_machines'> {
  const first = machineAt(state, state.experiments.get(BASELINE)?.judgedSeq ?? null)
  if (first === null) return { machine: null, other_machines: [] }
  const others = state.machines.flatMap(({ machine }) => differencesOf(first, machine) ?? [])
  return {
    machine: Object.fromEntries(
      Object.entries(machineFacts(first)).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
    ),
    other_machines: [...new Set(others)].slice(-OTHER_MACHINES).map((text) => said(text, LINE)),
  }
}

/** The newest; a cluster may have many. */
const OTHER_MACHINES = 10

/** Where the baseline was judged. */
function judgedOn(state: State): string | null {
  const claim = state.experiments.get(BASELINE)?.attempts.findLast((attempt) => attempt.claim)?.claim
  return claim ? said(claim.owner.host, LINE) : null
}

// ---------------------------------------------------------------- cost

function costsOf({ started, ledger: { state } }: OpenRun, history: History): PageHead['costs'] {
  const calls = new Map<string, PageCall>()
  let dearest: PageHead['costs']['dearest'] = null
  const timeline: [number, number, number][] = []
  const spent = { usd: 0, tokens: 0, ms: 0 }
  for (const { role, host, experiment, ms, outcome, usage, at } of history.calls) {
    const key = `${role}\0${host}`
    const known = calls.get(key) ?? {
      role: said(role, 60),
      host: said(host, 60),
      calls: 0,
      ms: 0,
      tokens: 0,
      usd: 0,
      unknown: 0,
      failed: 0,
    }
    const tokens =
      usage.tokens_in === null && usage.tokens_out === null
        ? null
        : (usage.tokens_in ?? 0) + (usage.tokens_out ?? 0)
    calls.set(key, {
      ...known,
      calls: known.calls + 1,
      ms: known.ms + ms,
      tokens: known.tokens + (tokens ?? 0),
      usd: known.usd + (usage.usd ?? 0),
      unknown: known.unknown + (usage.usd === null && tokens === null ? 1 : 0),
      failed: known.failed + (outcome === 'ok' ? 0 : 1),
    })
    spent.ms += ms
    spent.usd += usage.usd ?? 0
    spent.tokens += tokens ?? 0
    timeline.push([Date.parse(at) - Date.parse(started.at), spent.usd, spent.tokens])
    const dear =
      (usage.usd ?? 0) - (dearest?.usd ?? 0) ||
      (tokens ?? 0) - (dearest?.tokens ?? 0) ||
      ms - (dearest?.ms ?? 0)
    if (dearest === null || dear > 0)
      dearest = { role: said(role, 60), experiment, ms, usd: usage.usd, tokens }
  }
  let measuring = 0
  for (const { attempts } of state.experiments.values())
    for (const { judged } of attempts) measuring += judged?.wall_ms ?? 0
  return {
    agents_ms: spent.ms,
    measuring_ms: measuring,
    calls: [...calls.values()].sort((a, b) => b.usd - a.usd || b.tokens - a.tokens || b.ms - a.ms),
    dearest,
    timeline,
  }
}

// ---------------------------------------------------------------- rounds, and the edits of the meta controller

function roundOf({ round, opened, briefed, closed }: Round): PageRound {
  return {
    round,
    opened: opened.at,
    closed: closed?.at ?? null,
    policy: opened.policy,
    parents: opened.parents.map(({ experiment, value, why }) => ({
      experiment,
      value,
      why: said(why, LINE),
    })),
    ideate: opened.ideate === null ? null : said(opened.ideate.why, LINE),
    direction: opened.direction ? said(opened.direction.why, LINE) : null,
    lanes: (briefed?.lanes ?? []).map(({ lane, brief, parent, experiment, arm }) => ({
      lane,
      experiment,
      parent,
      arm: arm !== undefined,
      kind: said(brief.kind, 60),
      objective: said(brief.objective, 600),
    })),
    refused: (briefed?.refused ?? []).map(({ message }) => said(message, LINE)),
    improved: closed?.improved ?? null,
    best: closed?.best ?? null,
    stall: closed?.stall ?? null,
    learnings: [...(closed?.learnings ?? []), ...(closed?.suggestions ?? [])].map((text) => said(text)),
  }
}

function whatOf(edit: Edit): string {
  switch (edit.kind) {
    case 'knob':
      return `${edit.knob} = ${edit.value}`
    case 'phase':
      return `${edit.phase} ${edit.on ? 'on' : 'off'}`
    case 'prompt':
      return `prompt of ${edit.prompt}: ${edit.mode} “${edit.text}”`
    case 'step':
      return `step ${edit.seam} for ${edit.rounds} rounds: “${edit.text}”`
    case 'undo':
      return `takes ${edit.edit} back`
  }
}

// ---------------------------------------------------------------- words

function textsOf({ ledger: { state } }: OpenRun, history: History): PageText[] {
  const noted = [...state.notes].filter(({ kind }) => kind !== 'learning' && kind !== 'objection')
  return [
    ...history.alerts.map(({ at, experiment, text }) => ({ kind: 'alert' as const, at, experiment, text })),
    // The list of the report, which no times go with.
    ...learningsOf(state).map((text) => ({ kind: 'learning' as const, at: null, experiment: null, text })),
    ...noted.map(({ kind, at, experiment, text }) => ({ kind, at, experiment, text })),
    ...objectionsOf(state).map(({ at, experiment, text }) => ({
      kind: 'objection' as const,
      at,
      experiment,
      text,
    })),
    ...state.steers.map(({ at, experiment, text }) => ({ kind: 'steering' as const, at, experiment, text })),
    ...[...state.experiments.values()].flatMap(({ id, annotations }) =>
      annotations.map(({ at, text }) => ({ kind: 'remark' as const, at, experiment: id, text })),
    ),
  ].map((one) => ({ ...one, text: said(one.text) }))
}

// ---------------------------------------------------------------- scores by task, and the other metrics

/** More columns or rows than a person compares; the rest is in `show`. */
const MOST = { tasks: 200, nodes: 60, metrics: 12 }

const keptOf = (state: State): Experiment[] =>
  [...state.experiments.values()].filter(
    ({ status, epoch }) => (status === 'kept' || status === 'pruned') && epoch === state.epoch,
  )

function tasksOf(state: State): PageHead['tasks'] {
  const nodes = keptOf(state).filter((node) => lastJudged(node)?.tasks)
  if (nodes.length === 0) return null
  const names = [...new Set(nodes.flatMap((node) => Object.keys(lastJudged(node)?.tasks ?? {})))].slice(
    0,
    MOST.tasks,
  )
  const shown = nodes.length <= MOST.nodes ? nodes : [nodes[0], ...nodes.slice(1 - MOST.nodes)]
  return {
    names: names.map((name) => said(name, 80)),
    rows: shown.flatMap((node) =>
      node === undefined
        ? []
        : [{ experiment: node.id, scores: names.map((name) => lastJudged(node)?.tasks?.[name] ?? null) }],
    ),
  }
}

function metricsOf(state: State, primary: string): PageHead['metrics'] {
  const nodes = keptOf(state).slice(-500)
  const names = new Set(nodes.flatMap((node) => Object.keys(lastJudged(node)?.metrics ?? {})))
  names.delete(primary)
  return [...names]
    .map((name) => ({
      name: said(name, 60),
      points: nodes.flatMap((node) => {
        const value = lastJudged(node)?.metrics[name]
        return typeof value === 'number' ? [{ experiment: node.id, value }] : []
      }),
    }))
    .filter(({ points }) => points.length > 0)
    .slice(0, MOST.metrics)
}

// ---------------------------------------------------------------- now

export function nowOf(run: OpenRun, disk: number | null): PageNow {
  const { state } = run.ledger
  const busy = [...state.experiments.values()].filter(
    ({ status }) => status === 'open' || status === 'running',
  )
  const lanes = busy.slice(-50).map((node) => laneOf(run, node))
  return {
    lanes,
    slots: seeLeases(leaseFolder(run.env))
      .filter(({ state: seen, path }) => seen === 'alive' && !path.endsWith('line'))
      .map(({ owner, path }) => {
        const holder = owner ? nameOfProcess(owner) : 'unknown'
        return {
          holder,
          waiting: /q-\d+$/.test(path),
          experiment: lanes.find((lane) => lane.owner === holder)?.experiment ?? null,
        }
      }),
    disk,
    driver: statusOf(run).driver,
    runs: listRuns(run.site).length,
  }
}

function laneOf(run: OpenRun, node: Experiment): PageLane {
  const last = node.attempts.at(-1)
  const { round, lane } = node.created
  const base = { experiment: node.id, round, lane, hypothesis: said(node.hypothesis, LINE) }
  if (!last?.claim || last.judged) {
    const since = last?.judged?.at ?? last?.sealed.at ?? node.created.at
    const { agent, ...call } = agentOf(run, node) ?? { agent: null, since: null, limit_ms: null }
    const began = { since: call.since ?? since, limit_ms: call.limit_ms }
    return { ...base, phase: 'agent', ...began, samples: 0, pairs: null, agent, owner: null }
  }
  const steps = stepsToShow(attemptFolder(run.paths, node.id, last.attempt))
  const began = steps.findLast((line) => 'state' in line && line.state === 'began')
  const samples = samplesOf(steps)
  const progress = progressOf(run, node.id, last.attempt)
  return {
    ...base,
    phase: last.job && !last.job.placed ? 'queued' : (began?.step ?? 'waiting'),
    ...(last.job?.placed ? { node: said(last.job.placed.node, 60) } : {}),
    since: steps.at(-1)?.at ?? last.claim.at,
    limit_ms: began ? run.spec.measure.timeoutMs : null,
    samples: samples.length,
    agent: null,
    pairs:
      progress === null || progress.most === null
        ? null
        : { done: progress.done, most: progress.most, seconds_left: progress.seconds_left },
    owner: nameOfProcess(last.claim.owner),
  }
}

/** Bytes of what its program printed: enough for the last message. */
const AGENT_TAIL = 64 * 1024

/** The call at work: what it says, since when, and how long it may take. */
interface SeenCall {
  agent: NonNullable<PageLane['agent']>
  /** null in a record of an earlier version. */
  since: string | null
  limit_ms: number | null
}

function agentOf(run: OpenRun, node: Experiment): SeenCall | null {
  const record = fileJson(agentRecord(run.paths, node.id))
  const [host, role, file] = ['host', 'role', 'file'].map((key) => textAt(record, key))
  if (!host || !role || !file || !isAgentOutput(file)) return null
  const { words, tool } = heardIn(tailOf(file, AGENT_TAIL))
  if (words === null && tool === null) return null
  return {
    agent: {
      host: said(host, 40),
      role: said(role, 40),
      words: words === null ? null : said(words.slice(-WORDS), WORDS),
      tool: tool === null ? null : said(tool, LINE),
    },
    since: textAt(record, 'since'),
    limit_ms: numberAt(record, 'limit_ms'),
  }
}

const WORDS = 600

// ---------------------------------------------------------------- all runs of a repository

export function runLineOf(run: OpenRun): PageRunLine {
  const { state } = run.ledger
  const { metric, baseline, best, counts, stop, driver, paused } = statusOf(run)
  const kept = Math.max(0, counts.kept + counts.pruned - 1)
  const suite = suiteView(run)
  const epoch = suite?.epochs.at(-1)
  return {
    run: run.run,
    name: said(run.started.name, LINE),
    goal: said(liveSpec(run).goal, LINE),
    metric: { name: metric.name, direction: metric.direction },
    baseline: baseline.value,
    best,
    gain: gainOf(baseline.value, best?.value ?? null, metric.direction),
    experiments: Math.max(0, state.experiments.size - 1),
    kept,
    state: paused !== null ? 'paused' : driver !== null ? 'running' : stop !== null ? 'stopped' : 'idle',
    stop,
    ...(suite && { suite: { name: suite.suite, epochs: suite.epochs.length, loss: epoch?.loss ?? null } }),
    last: state.lastAt ?? run.started.at,
  }
}
