/** The facts about which the meta controller is asked, from the record and the machine. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { tailOf } from '../../evaluate/command.ts'
import {
  BASELINE,
  currentRound,
  type Experiment,
  lastAttempt,
  remarksIn,
  type State,
  stallOf,
} from '../../ledger/state.ts'
import { readSteps, samplesOf } from '../../ledger/steps.ts'
import { runningOutput } from '../../measure/output.ts'
import { attemptFolder, stepsFile } from '../../paths.ts'
import { acceleratorHolders, findOrphans } from '../../process.ts'
import { redact } from '../../redact.ts'
import type { OpenRun } from '../../run/open.ts'
import { deadEnds, plateau } from '../../search/patterns.ts'
import { observedIn } from '../open.ts'

export interface MetaFact {
  /** What evidence calls it; a different name is a different fact, and each is reported once. */
  name: string
  message: string
  /** Whom it is about. */
  experiments: string[]
}

// ----------------------------------------------------------------
// Processes of dead measurements that still hold an accelerator. Best effort: without nvidia-smi there are
// none.

export async function acceleratorFacts(run: OpenRun): Promise<MetaFact[]> {
  const orphans = findOrphans()
  if (orphans.length === 0) return []
  const held = new Map((await acceleratorHolders(run)).map(({ pid, mib }) => [pid, mib]))
  return orphans.flatMap(({ process: { pid, started }, command }) =>
    held.has(pid)
      ? [
          {
            name: `orphan_accelerator:${pid}:${started.replaceAll(' ', '_')}`,
            message: `process ${pid} (${command}) outlived its measurement and holds ${held.get(pid)} MiB of an accelerator: assay doctor --fix ends it`,
            experiments: [],
          },
        ]
      : [],
  )
}

// ---------------------------------------------------------------- warnings that the newest samples printed to standard error, and that may not have been read

const NEWEST = { experiments: 4, bytes: 16_384, lines: 3, characters: 200 }
const WARNING =
  /\bwarn(?:ing)?s?\b|\bdeprecat|\berror\b|\bout of memory\b|\boverflow|\bnan\b|\bfall(?:ing)? back\b/i

/** What the baseline prints too is a habit of the benchmark. */
function warningFacts(run: OpenRun): MetaFact[] {
  const nodes = [...run.ledger.state.experiments.values()]
  const recent = nodes
    .filter((node) => node.id !== BASELINE && lastAttempt(node)?.claim)
    .slice(-NEWEST.experiments)
  if (recent.length === 0) return []
  const baseline = run.ledger.state.experiments.get(BASELINE)
  const habits = new Set(baseline ? warningsOf(run, baseline).map(shape) : [])
  return recent.flatMap((node) => {
    const lines = [...new Set(warningsOf(run, node))].filter((line) => !habits.has(shape(line)))
    if (lines.length === 0) return []
    const shown = lines.slice(-NEWEST.lines).map((line) => line.slice(0, NEWEST.characters))
    return [
      {
        name: `warning:${node.id}:${lastAttempt(node)?.attempt}`,
        message: `${node.id} printed to standard error: ${shown.join(' | ')}`,
        experiments: [node.id],
      },
    ]
  })
}

const warningsOf = (run: OpenRun, node: Experiment): string[] =>
  linesOf(run, node).filter((line) => WARNING.test(line))

/** What the newest sample of the newest attempt printed to standard error. */
function linesOf(run: OpenRun, node: Experiment): string[] {
  const attempt = lastAttempt(node)
  if (!attempt) return []
  const folder = attemptFolder(run.paths, node.id, attempt.attempt)
  const sample = samplesOf(readSteps(stepsFile(folder))).findLast(({ side }) => side === 'candidate')
  if (!sample) return []
  return linesIn(join(folder, sample.stderr))
}

/** Times, counts and addresses differ from run to run. */
const shape = (line: string): string => line.replace(/0x[0-9a-f]+|\d+/gi, '0')

// ---------------------------------------------------------------- samples that run now and may come to nothing: what they print, and their time

/** What a run says that will not come to a result. */
const DOOM =
  /\btraceback\b|\bexception\b|\b(?:nan|inf)\b|\bdiverg|\bfatal\b|\bsegmentation fault\b|\bdead ?lock/i
/** Share of a sample's time limit. */
const LATE = 0.75

/** Each with the end of what its sample prints, so that the controller can tell a slow one from one that is lost. */
function runningFacts(run: OpenRun): MetaFact[] {
  const baseline = run.ledger.state.experiments.get(BASELINE)
  const habits = new Set(baseline ? linesOf(run, baseline).map(shape) : [])
  return [...run.ledger.state.experiments.values()].flatMap((node) => {
    const attempt = node.status === 'running' ? lastAttempt(node) : null
    const files = attempt && node.id !== BASELINE ? runningOutput(run.site, attempt) : null
    if (!attempt || !files) return []
    const lines = [files.stdout, files.stderr].flatMap((file) => linesIn(file))
    const signs = lines.filter((line) => (DOOM.test(line) || WARNING.test(line)) && !habits.has(shape(line)))
    const since = statSync(files.stdout, { throwIfNoEntry: false })?.birthtimeMs
    const ms = since === undefined ? 0 : run.clock().getTime() - since
    const most = run.spec.measure.timeoutMs
    const late = ms > LATE * most
    if (signs.length === 0 && !late) return []
    const shown = (signs.length > 0 ? signs : lines).slice(-NEWEST.lines)
    return [
      {
        name: `${late ? 'late_sample' : 'running_sample'}:${node.id}:${attempt.attempt}`,
        message: `a sample of ${node.id} has run for ${seconds(ms)} of at most ${seconds(most)}, and prints: ${shown.map((line) => line.slice(0, NEWEST.characters)).join(' | ') || 'nothing'}`,
        experiments: [node.id],
      },
    ]
  })
}

const linesIn = (file: string): string[] =>
  tailOf(file, NEWEST.bytes)
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

// ---------------------------------------------------------------- what the ledger and the clock say of the loop as a whole

/** How often the longest of its peers, and how much beyond, something takes before it is far longer. */
const FAR = { times: 3, ms: 30_000 }
const PEERS = { least: 3, most: 50 }
/** Rounds in a row whose lanes stayed empty. */
const IDLE_ROUNDS = 3

export function recordFacts(state: State, now: Date): MetaFact[] {
  return [
    ...slowExperiments(state, now),
    ...slowRound(state, now),
    ...worn(state),
    ...nearStall(state),
    ...idleLanes(state),
    ...sameTags(state),
  ]
}

function slowExperiments(state: State, now: Date): MetaFact[] {
  const peers = [...state.experiments.values()].flatMap(({ attempts }) =>
    attempts.flatMap(({ judged }) => (judged && judged.samples > 0 ? [judged.wall_ms] : [])),
  )
  const found: MetaFact[] = []
  for (const node of state.experiments.values()) {
    const attempt = node.status === 'running' ? lastAttempt(node) : null
    if (!attempt?.claim) continue
    const ms = now.getTime() - Date.parse(attempt.claim.at)
    const times = farLonger(ms, peers)
    if (times === null) continue
    found.push({
      name: `slow_experiment:${node.id}:x${times}`,
      message: `${node.id} has been judged for ${seconds(ms)}, more than ${times} times as long as the longest of its peers`,
      experiments: [node.id],
    })
  }
  return found
}

function slowRound(state: State, now: Date): MetaFact[] {
  const open = currentRound(state)
  if (!open) return []
  const peers = [...state.rounds].flatMap(({ opened, closed }) =>
    closed ? [Date.parse(closed.at) - Date.parse(opened.at)] : [],
  )
  const ms = now.getTime() - Date.parse(open.opened.at)
  const times = farLonger(ms, peers)
  if (times === null) return []
  return [
    {
      name: `slow_round:${open.round}:x${times}`,
      message: `round ${open.round} has been open for ${seconds(ms)}, more than ${times} times as long as the longest of its peers`,
      experiments: [],
    },
  ]
}

/** 3, 6, 12, …: how often the longest peer was exceeded, so that the fact is reported again only when that doubled. */
function farLonger(ms: number, peers: readonly number[]): number | null {
  const known = peers.slice(-PEERS.most)
  if (known.length < PEERS.least) return null
  const longest = Math.max(...known, 1)
  if (ms < FAR.times * longest || ms < longest + FAR.ms) return null
  return FAR.times * 2 ** Math.floor(Math.log2(ms / longest / FAR.times))
}

/** Axes and directions that are used up, named by the newest experiment that says so. */
function worn(state: State): MetaFact[] {
  const observed = observedIn(state)
  const named = (name: string, { experiments, message }: { experiments: string[]; message: string }) => ({
    name: `${name}:${experiments.at(-1)}`,
    message,
    experiments: experiments.slice(-12),
  })
  return [
    ...plateau(observed).map((found) => named('saturated_axis', found)),
    ...deadEnds(observed).map((found) => named('dead_direction', found)),
  ]
}

function nearStall({ knobs, rounds, ...rest }: State): MetaFact[] {
  const stall = stallOf({ knobs, rounds, ...rest })
  if (!knobs || knobs.stall < 2 || stall < knobs.stall - 1 || stall >= knobs.stall) return []
  return [
    {
      name: `near_stall:${rounds.length}`,
      message: `${stall} rounds without a new best; after ${knobs.stall} the loop ends`,
      experiments: [],
    },
  ]
}

function idleLanes({ rounds }: State): MetaFact[] {
  const last = [...rounds].filter(({ closed }) => closed).slice(-IDLE_ROUNDS)
  const [first] = last
  const idle = last.every(({ opened, briefed }) => (briefed?.lanes.length ?? 0) < opened.width)
  if (first === undefined || last.length < IDLE_ROUNDS || !idle) return []
  return [
    {
      name: `idle_lanes:${last.at(-1)?.round}`,
      message: `${IDLE_ROUNDS} rounds in a row had more lanes than briefs: width is out of proportion`,
      experiments: [],
    },
  ]
}

/** Experiments whose remarks have one tag, before that is a fact. */
const SAME_TAG = 3

/** A mechanism that remarks on several experiments name by the same tag; told again when their number doubled. */
function sameTags(state: State): MetaFact[] {
  const tags = new Set(remarksIn(state).flatMap(({ tag }) => tag ?? []))
  return [...tags].flatMap((tag) => {
    const all = remarksIn(state, tag)
    const experiments = [...new Set(all.map(({ experiment }) => experiment))]
    const newest = all.at(-1)
    if (experiments.length < SAME_TAG || !newest) return []
    const times = SAME_TAG * 2 ** Math.floor(Math.log2(experiments.length / SAME_TAG))
    return [
      {
        name: `remarks:${tag.replaceAll(/\s+/g, '_')}:x${times}`,
        message: `remarks on ${experiments.length} experiments name ${tag}; the newest: ${newest.experiment}: ${newest.text.slice(0, NEWEST.characters)}`,
        experiments: experiments.slice(-12),
      },
    ]
  })
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`

const MOST = 20

/** All that hold now, told before or not. Short work: the newest outputs are read to a bound, nothing is waited for. */
export async function metaFactsOf(run: OpenRun): Promise<MetaFact[]> {
  const facts = [
    ...recordFacts(run.ledger.state, run.clock()),
    ...warningFacts(run),
    ...runningFacts(run),
    ...(await acceleratorFacts(run)),
  ]
  return facts.slice(0, MOST).map((fact) => ({ ...fact, message: redact(fact.message) }))
}
