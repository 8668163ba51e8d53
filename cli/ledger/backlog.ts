/** The backlog: where each idea stands, and which of them a round tries next. Pure, from the state alone. */
import { sameWords, wordsOf } from '../text.ts'
import { type Idea, PRIORITIES } from './events.ts'
import { type BacklogIdea, type Experiment, lastJudged, type State } from './state.ts'

/**
 * `parked`: it needs a package that nobody approved. `approved`: a person approved it. `added`: it needs no approval.
 * `done`: an experiment answered it, or an old log says that it was tried.
 */
export type IdeaStatus = 'added' | 'approved' | 'parked' | 'taken' | 'done' | 'dropped'

export interface IdeaStanding {
  idea: BacklogIdea
  status: IdeaStatus
  /** Packages that it needs and that nobody approved; empty unless it is parked. */
  missing: string[]
  /** That carries it out, or that said the same without naming it; null = none. */
  experiment: string | null
  /** Of an idea that is done or dropped: what became of it. */
  outcome: string | null
}

export const backlogOf = (state: State): IdeaStanding[] => state.ideas.map(standingsIn(state))

/** Where one idea stands. What experiments said is read only if it is needed: there may be many. */
function standingsIn(state: State): (idea: BacklogIdea) => IdeaStanding {
  const approved = approvedPackages(state)
  let tried: { node: Experiment; words: ReadonlySet<string> }[] | null = null
  const triedAs = (hypothesis: string) => {
    tried ??= [...state.experiments.values()].map((node) => ({ node, words: wordsOf(node.hypothesis) }))
    const words = wordsOf(hypothesis)
    return tried.find((one) => sameWords(words, one.words))?.node
  }
  return (idea) => {
    const standing = (status: IdeaStatus, more: Partial<IdeaStanding> = {}): IdeaStanding => ({
      ...{ idea, status, missing: [], experiment: null, outcome: null },
      ...more,
    })
    const { taken, dropped, hypothesis } = idea
    if (dropped !== null) return standing('dropped', { outcome: dropped })
    if (idea.tried !== undefined) return standing('done', { outcome: idea.tried })
    const node = taken ? state.experiments.get(taken.experiment ?? '') : triedAs(hypothesis)
    if (node) {
      const outcome = outcomeOf(node)
      return standing(outcome === null ? 'taken' : 'done', { experiment: node.id, outcome })
    }
    if (taken) return standing('taken')
    if (idea.approved) return standing('approved')
    const missing = missingPackages(idea, approved)
    return missing.length > 0 ? standing('parked', { missing }) : standing('added')
  }
}

const missingPackages = ({ dependencies = [] }: Idea, approved: ReadonlySet<string> | null): string[] =>
  dependencies.filter((name) => approved?.has(name.toLowerCase()) === false)

/** null while it is not known. */
function outcomeOf(node: Experiment): string | null {
  if (node.status === 'open' || node.status === 'running') return null
  const reason = lastJudged(node)?.reason ?? null
  return reason === null || node.status === 'kept' ? node.status : `${node.status} (${reason})`
}

/**
 * Names, in small letters, of the packages that a candidate may add: those of the spec, and those that approved ideas need.
 * null = the spec does not restrict them.
 */
export function approvedPackages({ knobs, ideas }: State): Set<string> | null {
  const named = knobs?.dependencies ?? null
  if (named === null) return null
  const ofIdeas = ideas.filter(({ approved }) => approved).flatMap(({ dependencies = [] }) => dependencies)
  return new Set([...named, ...ofIdeas].map((name) => name.toLowerCase()))
}

/** Ideas that wait for an approval. */
export function parkedIdeas(state: State): IdeaStanding[] {
  const approved = approvedPackages(state)
  return state.ideas
    .filter((idea) => missingPackages(idea, approved).length > 0)
    .map(standingsIn(state))
    .filter(({ status }) => status === 'parked')
}

const isRunnable = ({ status }: IdeaStanding): boolean => status === 'added' || status === 'approved'

/** Ideas that may be tried now, in their order. */
export const runnableIdeas = (state: State): BacklogIdea[] =>
  backlogOf(state)
    .filter(isRunnable)
    .map(({ idea }) => idea)

export function hasRunnableIdea(state: State): boolean {
  const standingOf = standingsIn(state)
  return state.ideas.some((idea) => isRunnable(standingOf(idea)))
}

// ---------------------------------------------------------------- which comes first

/** What an idea promises: its uplift by how sure its author is; null when one of the two is not said. */
function promise({ uplift, confidence }: Idea): number | null {
  if (uplift === undefined || confidence === undefined) return null
  return uplift * Math.min(1, Math.max(0, confidence))
}

/** An idea without a priority has the middle one. */
const rankOf = ({ priority = 'medium' }: Idea): number => PRIORITIES.indexOf(priority)

/** The highest priority first, then the most promising; those that promise nothing last, in their order. */
export const byPromise = (a: Idea, b: Idea): number =>
  rankOf(a) - rankOf(b) || (promise(b) ?? -Infinity) - (promise(a) ?? -Infinity) || 0

/**
 * At most `most` ideas for the lanes of one round: of as many kinds as there are, each time the first by `byPromise`. The
 * same ledger gives the same ones.
 */
export function nextBatch(state: State, most: number): BacklogIdea[] {
  const left = runnableIdeas(state).sort(byPromise)
  const batch: BacklogIdea[] = []
  while (batch.length < most && left.length > 0) {
    const among = (idea: BacklogIdea) => batch.filter(({ kind }) => kind === idea.kind).length
    const fewest = Math.min(...left.map(among))
    const at = left.findIndex((idea) => among(idea) === fewest)
    batch.push(...left.splice(at, 1))
  }
  return batch
}

/** The part of an idea that its author wrote, with its id. */
export function writtenIdea(idea: BacklogIdea): Idea & { id: string } {
  const {
    added: _added,
    approved: _approved,
    told: _told,
    taken: _taken,
    dropped: _dropped,
    ...written
  } = idea
  return written
}
