/**
 * The search of the `tune` host: which constants to try next. A pure function of what it is given, so equal
 * questions get equal answers.
 */
import { fromUnit, type Range, sizeOf, toUnit } from './space.ts'
import { type Observation, surrogate } from './surrogate.ts'

// ---------------------------------------------------------------- how candidates are drawn: points of the unit cube near a parent, shaped by what was kept

export interface StartingPoint {
  /** The parent. */
  origin: number[]
  /** Usual size of a step, in the unit of the cube. */
  step: number
  /** From the lane's previous experiment to its improved child; null at the lane's start. */
  lastMove: number[] | null
  /** Points of kept experiments, best first. */
  kept: number[][]
  /** Coordinates that this lane looks at more than its siblings do. */
  focus: number[]
}

/**
 * One candidate: a small or large step in one to three coordinates, sometimes on top of a longer move: further
 * along the lane's last improvement, towards a good kept point in some coordinates (as in crossover), or along
 * the difference of two kept points (as in differential evolution).
 */
function candidate(ground: StartingPoint, random: Random): number[] {
  const { origin, kept } = ground
  const place = [...origin]
  const kind = random.next()
  const pick = (from: number) => kept[Math.floor(from * random.next() ** 2)] ?? origin
  if (kind < 0.25 && ground.lastMove) {
    add(place, ground.lastMove, 0.5 + 1.5 * random.next())
  } else if (kind < 0.45 && kept.length > 1) {
    const share = 0.3 + 0.7 * random.next()
    const towards = difference(pick(kept.length), origin)
    add(
      place,
      towards.map((d) => (random.next() < share ? d : 0)),
      0.5 + 0.7 * random.next(),
    )
  } else if (kind < 0.6 && kept.length > 1) {
    add(place, difference(pick(kept.length), pick(kept.length)), 0.3 + 0.7 * random.next())
  }
  const count = 1 + random.index(Math.min(3, origin.length))
  for (let n = 0; n < count; n++) {
    const focused = n === 0 && ground.focus.length > 0 && random.next() < 0.5
    const i = focused ? (ground.focus[random.index(ground.focus.length)] ?? 0) : random.index(origin.length)
    // A normal over a uniform has a heavy tail: most steps are near the usual size, some far beyond.
    place[i] = (place[i] ?? 0) + (ground.step * random.normal()) / (0.3 + random.next())
  }
  return place.map(reflect)
}

/** Back into [0, 1] by mirrors at both ends, so that bounds do not collect candidates. */
function reflect(value: number): number {
  const turn = ((value % 2) + 2) % 2
  return turn > 1 ? 2 - turn : turn
}

function difference(to: number[], from: number[]): number[] {
  return to.map((v, i) => v - (from[i] ?? v))
}

function add(place: number[], move: number[], factor: number): void {
  for (const [i, m] of move.entries()) place[i] = (place[i] ?? 0) + factor * m
}

/** One experiment, as the search sees it. */
export interface TuneTrial {
  experiment: string
  parent: string | null
  round: number | null
  lane: number | null
  /** In its lane, from 1. */
  depth: number | null
  /** In the order of the declared parameters; null when they could not be read. */
  values: number[] | null
  /** Higher is better; null when there is none, or none to learn from. */
  score: number | null
  status: string
}

export interface TuneQuestion {
  parameters: Range[]
  /** Values of the experiment that the new one is a child of. */
  parent: number[]
  /** Values that stand in the worktree now; they differ from the parent's when an attempt is repaired. */
  current: number[]
  /** Experiments as of the round's opening, in any order. */
  history: TuneTrial[]
  /** What this lane did in this round so far. */
  lane: TuneTrial[]
  seed: number
  round: number
  laneNumber: number
  depth: number
}

const CANDIDATES = 200
/** Only the trials nearest to the parent are fitted: the cost grows with the cube of their number. */
const FITTED = 150
/** Spread of the weight that deviation has against mean; each call draws its own, so lanes differ. */
const BOLDNESS = 2
const STEP = { first: 0.4, least: 0.01, most: 0.5, kept: 1.25, notKept: 0.95 }

/**
 * New values within the bounds, different from all that the question shows; null when there are none left, which
 * only whole-number ranges can come to.
 *
 * Candidates around the parent (`moves.ts`) are ranked by a surrogate of all trials (`surrogate.ts`); the one with
 * the greatest upper confidence bound is the answer (Srinivas et al., 2010, with a random weight).
 */
export function proposeStep(question: TuneQuestion): number[] | null {
  const { parameters, parent, current } = question
  const random = randomFrom(
    question.seed,
    question.round,
    question.laneNumber,
    question.depth,
    keyOf(current),
  )
  const unit = (values: number[]) => parameters.map((p, i) => toUnit(p, values[i] ?? p.min))
  const trials = pointsOf([...question.history, ...question.lane], unit, parameters.length)
  const tried = new Set([keyOf(parent), keyOf(current), ...trials.map((t) => keyOf(t.values))])
  const ground = {
    origin: unit(parent),
    step: stepSize(trials),
    lastMove: lastMove(trials, question.lane),
    kept: trials
      .filter((t) => t.status === 'kept' && t.score !== null)
      .sort((a, b) => (b.score ?? 0) - (a.score ?? 0))
      .map((t) => t.point),
    focus: focusOf(parameters.length, question.seed, question.round, question.laneNumber),
  }
  const fresh = new Map<string, number[]>()
  for (let i = 0; i < CANDIDATES; i++) {
    const place = candidate(ground, random)
    const values = parameters.map((p, j) => fromUnit(p, place[j] ?? 0))
    const key = keyOf(values)
    if (!tried.has(key)) fresh.set(key, values)
  }
  const list = [...fresh.values()]
  if (list.length === 0) return firstUntried(parameters, tried)
  const seen = nearest(observed(trials), ground.origin)
  if (seen.length < 2) return list[0] ?? null
  const model = surrogate(seen)
  const boldness = BOLDNESS * Math.abs(random.normal())
  let best: { values: number[]; bound: number } | null = null
  for (const values of list) {
    const { mean, deviation } = model.predict(unit(values))
    const bound = mean + boldness * deviation
    if (!best || bound > best.bound) best = { values, bound }
  }
  return best?.values ?? null
}

/** Two parameters (or the only one) that a lane favours: lanes of a round are dealt different ones while they last. */
export function focusOf(parameters: number, seed: number, round: number, lane: number): number[] {
  const random = randomFrom(seed, 'focus', round)
  const order = Array.from({ length: parameters }, (_, i) => i)
  for (let i = order.length - 1; i > 0; i--) {
    const j = random.index(i + 1)
    const swapped = order[i] ?? i
    order[i] = order[j] ?? j
    order[j] = swapped
  }
  const first = (2 * Math.max(0, lane - 1)) % Math.max(1, parameters)
  const second = (first + 1) % Math.max(1, parameters)
  return [...new Set([first, second])].flatMap((at) => order[at] ?? [])
}

interface Point extends TuneTrial {
  values: number[]
  point: number[]
}

/** In the order of round, lane and depth, whatever order they came in. */
function pointsOf(trials: TuneTrial[], unit: (values: number[]) => number[], length: number): Point[] {
  const points = trials.flatMap((t) =>
    t.values?.length === length ? [{ ...t, values: t.values, point: unit(t.values) }] : [],
  )
  const order = (t: Point) => [t.round ?? 0, t.lane ?? 0, t.depth ?? 0]
  return points.sort((a, b) => {
    const [left, right] = [order(a), order(b)]
    const at = left.findIndex((v, i) => v !== right[i])
    if (at >= 0) return (left[at] ?? 0) - (right[at] ?? 0)
    return a.experiment < b.experiment ? -1 : 1
  })
}

/** Grows with each kept trial and shrinks with each other one (Rechenberg's success rule, at one in five). */
function stepSize(trials: Point[]): number {
  return trials
    .filter((t) => t.parent !== null)
    .reduce((step, t) => {
      const next = step * (t.status === 'kept' ? STEP.kept : STEP.notKept)
      return Math.min(STEP.most, Math.max(STEP.least, next))
    }, STEP.first)
}

function lastMove(trials: Point[], lane: TuneTrial[]): number[] | null {
  const own = new Set(lane.map((t) => t.experiment))
  const last = trials.findLast((t) => t.status === 'kept' && own.has(t.experiment))
  const from = trials.find((t) => t.experiment === last?.parent)
  return last && from ? difference(last.point, from.point) : null
}

/** A trial without a score counts as the worst one: it says "not here". */
function observed(trials: Point[]): Observation[] {
  const scores = trials.flatMap((t) => t.score ?? [])
  if (scores.length === 0) return []
  const worst = scores.reduce((a, b) => Math.min(a, b))
  return trials.map((t) => ({ point: t.point, score: t.score ?? worst }))
}

function nearest(seen: Observation[], origin: number[]): Observation[] {
  const far = (o: Observation) => difference(o.point, origin).reduce((sum, d) => sum + d * d, 0)
  return seen.length <= FITTED ? seen : [...seen].sort((a, b) => far(a) - far(b)).slice(0, FITTED)
}

/** Counts through a grid of whole numbers; null when all is tried or the grid is not finite. */
function firstUntried(parameters: Range[], tried: Set<string>): number[] | null {
  const total = parameters.reduce((product, p) => product * sizeOf(p), 1)
  if (!Number.isFinite(total)) return null
  for (let n = 0; n < total; n++) {
    let rest = n
    const values = parameters.map((p) => {
      const size = sizeOf(p)
      const value = Math.ceil(p.min) + (rest % size)
      rest = Math.floor(rest / size)
      return value
    })
    if (!tried.has(keyOf(values))) return values
  }
  return null
}

const keyOf = (values: number[]) => values.join(' ')

// ---------------------------------------------------------------- random numbers
// Random numbers that are a function of their seed alone.

export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** Standard normal. */
  normal(): number
  /** A whole number from 0 to `below` − 1. */
  index(below: number): number
}

/** A generator for exactly this seed and these words: the same ones give the same numbers. */
export function randomFrom(seed: number, ...words: (number | string)[]): Random {
  let state = hash([seed, ...words].join('/'))
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    // Box and Muller, 1958.
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    index: (below) => Math.floor(next() * below),
  }
}

/** FNV-1a, 32 bits, with a final mix: words that differ in one digit start far apart. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
