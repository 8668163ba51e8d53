/**
 * Which of the briefs that an author wrote become lanes of the round, and why each other one does not; rules decide it. The verb
 * `round briefs` asks, and the loop, which also makes briefs of ideas of the backlog.
 */

import { claimId } from '../experiment/create.ts'
import { backlogOf, nextBatch } from '../ledger/backlog.ts'
import type { Brief, Lane, RoundBriefed } from '../ledger/events.ts'
import {
  BASELINE,
  type BacklogIdea,
  type Experiment,
  lastAttempt,
  type Round,
  type State,
} from '../ledger/state.ts'
import { findArtifact } from '../measure/artifacts.ts'
import { ok, type Result } from '../result.ts'
import { mayGoOn, saidBy } from '../run/driver.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { likeness, SAME_SHAPE, shapeOf } from '../search/similar.ts'
import { combinable } from '../search/unmerged.ts'
import { alike } from '../text.ts'
import { candidatesOf } from './frontier.ts'
import { patternsIn } from './open.ts'
import { firstRefused, fitted } from './record-answer.ts'
import { type RoundRef, roundOf, roundRefusal, searchLanes, staleToken } from './round.ts'

export interface BriefsAnswer {
  round: number
  token: string
  lanes: Lane[]
  refused: RoundBriefed['refused']
  repeated?: true
}

/**
 * In place of a brief that could not be read, `written` has a text that says why. Such a brief costs its own lane only. If no brief
 * became a lane, the round takes briefs once more.
 */
export async function takeBriefs(
  run: OpenRun,
  ref: RoundRef,
  written: readonly (WrittenBrief | string)[],
): Promise<Result<BriefsAnswer>> {
  const round = roundOf(run, ref)
  if (!round.ok) return round
  const { briefed } = round.value
  if (briefed && (briefed.lanes.length > 0 || round.value.closed))
    return ok({ ...answer(briefed), repeated: true })
  if (round.value.closed) return staleToken(run)
  const mine = mayGoOn(run)
  if (!mine.ok) return mine
  const { state } = run.ledger
  const briefs: (Brief | Unfit)[] = []
  for (const [index, one] of written.entries())
    briefs.push(typeof one === 'string' ? malformed(one) : await withParent(run, one, round.value, index))
  const { accepted, refused } = sift(briefs, round.value, state)
  const lanes: Lane[] = []
  const blank = Array.from({ length: round.value.opened.arm ?? 0 }, () => blankBrief(run))
  for (const [index, brief] of [...accepted, ...blank].entries()) {
    const experiment = claimId(run.paths, state)
    if (!experiment.ok) return experiment
    const arm = index < accepted.length ? {} : { arm: 'baseline' as const }
    lanes.push({ lane: index + 1, brief, parent: brief.parent, experiment: experiment.value, ...arm })
  }
  const proposal = run.ledger.propose<'round_briefed'>(
    {
      type: 'round_briefed',
      round: round.value.round,
      token: ref.token,
      ...saidBy(run),
      ...fitted(LONGEST, (most) => ({
        lanes: lanes.map((lane) => ({ ...lane, brief: cut(lane.brief, most) })),
        refused: firstRefused(refused),
      })),
    },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  if (proposal.value.accepted) return ok(answer(proposal.value.event))
  if (round.value.briefed) return ok({ ...answer(round.value.briefed), repeated: true })
  return roundRefusal(run, proposal.value.because)
}

/** A brief as its author writes it. */
export interface WrittenBrief extends Omit<Brief, 'parent' | 'from_artifact'> {
  /** null: that of the experiment that it repairs or retests, else one of the round's parents in turn. */
  parent: string | null
  /** `exp_0007:label`. */
  from_artifact?: string
}

/** Why a brief becomes no lane, whichever other briefs there are. */
export interface Unfit {
  reason: string
  message: string
}

const malformed = (message: string): Unfit => ({ reason: 'malformed', message })

// ---------------------------------------------------------------- the experiments that a brief repairs or retests

const SAID = {
  repair: /^\s*repair of (exp_\d+)\b/i,
  artifact: /^\s*from artifact (exp_\d+(?::\S*[^\s.,;:])?)/i,
}

/** The id that an author wrote as the first words of the objective or of a pointer ("Repair of exp_0007"), in place of the field. */
function saidIn({ objective, pointers }: WrittenBrief, words: RegExp): string | undefined {
  for (const text of [objective, ...pointers]) {
    const [, id] = words.exec(text) ?? []
    if (id !== undefined) return id
  }
  return undefined
}

/** The brief with its parent and with the artifact that it starts from; or why there can be no lane for it. */
async function withParent(
  run: OpenRun,
  written: WrittenBrief,
  { opened: { parents } }: Round,
  index: number,
): Promise<Brief | Unfit> {
  const { parent, repair: repaired, from_artifact: label, ...rest } = written
  const { experiments } = run.ledger.state
  const repair = repaired ?? saidIn(written, SAID.repair)
  const wanted = label ?? saidIn(written, SAID.artifact)
  const seed = wanted === undefined ? null : await findArtifact(run, wanted)
  if (seed?.ok === false) {
    const { message, hint } = seed.problem
    return { reason: 'artifact', message: hint ? `${message}: ${String(hint)}` : message }
  }
  const named = rest.idea === undefined ? undefined : ideaOf(run.ledger.state, rest.idea)
  if (typeof named === 'string') return { reason: 'idea', message: named }
  const broken = repair === undefined ? undefined : experiments.get(repair)
  if (repair !== undefined && !isBroken(broken))
    return { reason: 'repair', message: `${repair} cannot be repaired: ${whyWhole(broken)}` }
  const pair = rest.combine === undefined ? null : pairOf(run.ledger.state, rest.combine, parent)
  if (pair && broken)
    return {
      reason: 'combine',
      message: 'a brief repairs one experiment or combines two: leave out "repair" or "combine"',
    }
  if (typeof pair === 'string') return { reason: 'combine', message: pair }
  const from = seed && experiments.get(seed.value.experiment)
  const beside = from?.status === 'kept' ? from.id : from?.parent
  const wished =
    named?.parent !== undefined && isCandidate(run.ledger.state, named.parent) ? named.parent : undefined
  const turn = parents[index % Math.max(1, parents.length)]?.experiment
  return {
    ...rest,
    // Its files are a change of that parent, and of no other.
    parent: broken?.parent ?? pair?.[0] ?? parent ?? beside ?? wished ?? turn ?? '',
    ...(pair ? { combine: pair[1] } : {}),
    ...(repair === undefined ? {} : { repair }),
    ...(seed ? { from_artifact: seed.value } : {}),
  }
}

/** The two experiments that an agent may combine, the better one first; or a text: why it may not. `parent`: null = any partner of `combine`. */
function pairOf(state: State, combine: string, parent: string | null): readonly [string, string] | string {
  const pairs = combinable(state).filter(({ experiments }) => experiments.includes(combine))
  const found = pairs.find(
    ({ experiments }) => parent === null || (parent !== combine && experiments.includes(parent)),
  )
  if (found) return found.experiments
  const others = pairs.flatMap(({ experiments }) => experiments.filter((id) => id !== combine))
  return others.length > 0
    ? `${combine} can be combined only with ${others.join(' or ')}: name ${others.length === 1 ? 'it' : 'one of them'} as the parent`
    : `${combine} is in no pair that git cannot merge: such pairs are listed as "combine" when the round opens`
}

/** The idea of the backlog; or a text: why it may not be tried. */
function ideaOf(state: State, id: string): BacklogIdea | string {
  const found = backlogOf(state).find(({ idea }) => idea.id === id)
  if (!found) return `there is no ${id}`
  const { idea, status, missing, experiment, outcome } = found
  if (status === 'added' || status === 'approved') return idea
  if (status === 'parked') return `${id} waits for an approval of ${missing.join(', ')}`
  return `${id} is ${status}${experiment === null ? '' : ` by ${experiment}`}${outcome === null ? '' : `: ${outcome}`}`
}

const isCandidate = (state: State, id: string): boolean => candidatesOf(state).some((one) => one.id === id)

/** The ideas of the backlog that a round tries without asking an author, as briefs. */
export const briefsOfBacklog = (state: State, round: Round): WrittenBrief[] =>
  nextBatch(state, searchLanes(round)).map(({ id, hypothesis, kind = 'edit', sources = [] }) => ({
    parent: null,
    kind,
    objective: hypothesis,
    boundaries: [],
    pointers: sources,
    hard: false,
    idea: id,
  }))

const isBroken = (node: Experiment | undefined): boolean =>
  node !== undefined &&
  (node.status === 'rejected' || node.status === 'failed' || node.status === 'discarded') &&
  lastAttempt(node) !== null

function whyWhole(node: Experiment | undefined): string {
  if (!node) return 'there is no such experiment'
  if (lastAttempt(node) === null) return 'it has no seal'
  return node.status === 'kept' ? 'it was kept, so name it as the parent' : `it is ${node.status}`
}

// ---------------------------------------------------------------- which briefs become lanes

/** Characters of an objective. */
const LONGEST = 2000

/** Shortens a brief; its lists most of all, because they are most of a long brief. */
function cut(brief: Brief, most: number): Brief {
  const few = (texts: readonly string[]) =>
    texts.slice(0, Math.max(1, Math.floor(most / 100))).map((text) => text.slice(0, Math.ceil(most / 4)))
  return {
    ...brief,
    objective: brief.objective.slice(0, most),
    boundaries: few(brief.boundaries),
    pointers: few(brief.pointers),
  }
}

/** A lane of the baseline arm gets only the goal. */
const blankBrief = (run: OpenRun): Brief => ({
  parent: BASELINE,
  kind: 'edit',
  objective: liveSpec(run).goal,
  boundaries: [],
  pointers: [],
  hard: false,
})

const answer = ({ round, token, lanes, refused }: RoundBriefed): BriefsAnswer => ({
  round,
  token,
  lanes,
  refused,
})

/** Pure. Parents must be on the frontier, briefs must differ in content, and the round's width is the limit. */
export function sift(
  briefs: readonly (Brief | Unfit)[],
  round: Round,
  state: State,
): { accepted: Brief[]; refused: RoundBriefed['refused'] } {
  const parents = new Set(candidatesOf(state).map(({ id }) => id))
  const axis = wornAxis(state)
  const stronger = round.opened.direction?.change.hard === true
  const accepted: Brief[] = []
  const refused: RoundBriefed['refused'] = []
  for (const [index, brief] of briefs.entries()) {
    const refuse = (reason: string, message: string) => refused.push({ index, reason, message })
    if ('message' in brief) {
      refuse(brief.reason, brief.message)
      continue
    }
    const twin = twinOf(brief, accepted)
    if (!parents.has(brief.parent))
      refuse('parent', `${brief.parent} is not on the frontier: see assay frontier`)
    else if (twin) refuse('duplicate', `${twin.why} as the brief of lane ${twin.lane}`)
    else if (accepted.length >= searchLanes(round))
      refuse('width', `the round has ${searchLanes(round)} lanes`)
    else if (
      axis &&
      accepted.length > 0 &&
      accepted.length === searchLanes(round) - 1 &&
      [...accepted, brief].every(axis.holds)
    ) {
      refuse('axis', axis.message)
    } else accepted.push(brief)
  }
  // Unless a place was kept free already; a round without any brief would end the loop, so a single one stays.
  const freed = refused.some(({ reason }) => reason === 'axis')
  const last = accepted.at(-1)
  if (axis && last && !freed && accepted.length > 1 && accepted.every(axis.holds)) {
    accepted.pop()
    refused.push({ index: briefs.indexOf(last), reason: 'axis', message: axis.message })
  }
  return { accepted: stronger ? accepted.map((brief) => ({ ...brief, hard: true })) : accepted, refused }
}

/** The lane of an accepted brief that this one repeats, and why it is a repetition; null when there is none. */
function twinOf(brief: Brief, accepted: readonly Brief[]): { lane: number; why: string } | null {
  for (const [index, other] of accepted.entries()) {
    const why = whyTwins(brief, other)
    if (why !== null) return { lane: index + 1, why }
  }
  return null
}

/** Two briefs in different words are still one assignment if they have the same parent, and point to the same places or propose the same change. */
function whyTwins(one: Brief, other: Brief): string | null {
  if (alike(one.objective, other.objective)) return 'it says the same'
  if (one.idea !== undefined && one.idea === other.idea) return 'it carries out the same idea'
  if (one.combine !== undefined && one.combine === other.combine && one.parent === other.parent)
    return 'it combines the same experiments'
  if (one.repair !== undefined && one.repair === other.repair) return 'it repairs the same experiment'
  if (one.parent !== other.parent) return null
  const shared = sharedPlaces(one, other)
  if (shared !== null && shared >= SAME_PLACES)
    return 'it starts from the same parent and points to the same places'
  return shared !== 0 && sameContent(one.objective, other.objective)
    ? 'it starts from the same parent and proposes the same kind of change'
    : null
}

/** Two briefs point to the same places if they share at least this part of the pointers of the brief that has fewer. */
const SAME_PLACES = 0.6

/** The part of the pointers that both briefs share; null when one of them has no pointer, so that it cannot be said. */
function sharedPlaces(one: Brief, other: Brief): number | null {
  const [left, right] = [placesOf(one), placesOf(other)]
  const fewer = Math.min(left.size, right.size)
  return fewer === 0 ? null : [...left].filter((place) => right.has(place)).length / fewer
}

/** What the pointers of a brief name, without quotation marks around it. "Repair of …" and "From artifact …" name no place. */
const placesOf = ({ pointers }: Brief): Set<string> =>
  new Set(
    pointers
      .filter((text) => !SAID.repair.test(text) && !SAID.artifact.test(text))
      .map((text) => text.replace(/^[\s`'"(]*(?:\.\/)?|[\s`'"),.;:]*$/g, '').toLowerCase())
      .filter((text) => text !== ''),
  )

/** Whether two objectives propose the same change: numbers and short common words are not compared. */
const sameContent = (one: string, other: string): boolean =>
  likeness(shapeOf(one), shapeOf(other)) >= SAME_SHAPE

/**
 * The axis that a warning says is exhausted, and whether a brief stays on it: its parent is that of the warned
 * experiments, and so is its kind, its content or its places; a new word for the kind is no new axis. At least one brief
 * of a round must leave it; the last place is kept for that one.
 */
function wornAxis(state: State): { message: string; holds: (brief: Brief) => boolean } | null {
  const warning = patternsIn(state).find(({ kind }) => kind === 'axis_warning')
  if (!warning) return null
  const warned = warning.experiments.flatMap((id) => state.experiments.get(id) ?? [])
  const before = briefsOf(state, new Set(warning.experiments))
  const kinds = new Set(before.map(({ kind }) => kind))
  const parents = new Set(warned.map(({ parent }) => parent))
  const said = [...before.map(({ objective }) => objective), ...warned.map(({ hypothesis }) => hypothesis)]
  return {
    message: `${warning.message}: at least one brief must make a different change in a different place, or start from another parent`,
    holds: (brief) =>
      parents.has(brief.parent) &&
      (kinds.has(brief.kind) ||
        said.some((text) => sameContent(text, brief.objective)) ||
        before.some((other) => (sharedPlaces(brief, other) ?? 0) >= SAME_PLACES)),
  }
}

/** The briefs that led to these experiments. */
function briefsOf(state: State, experiments: ReadonlySet<string>): Brief[] {
  return [...state.rounds].flatMap(({ round, briefed }) =>
    (briefed?.lanes ?? []).flatMap((lane) => {
      const used = [...experiments].some((id) => {
        const created = state.experiments.get(id)?.created
        return created?.round === round && created.lane === lane.lane
      })
      return used ? [lane.brief] : []
    }),
  )
}
