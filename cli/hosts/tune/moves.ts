/** How candidates are drawn: points of the unit cube near a parent, shaped by what was kept. Pure. */
import type { Random } from './random.ts'

export interface Ground {
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
export function candidate(ground: Ground, random: Random): number[] {
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

export function difference(to: number[], from: number[]): number[] {
  return to.map((v, i) => v - (from[i] ?? v))
}

function add(place: number[], move: number[], factor: number): void {
  for (const [i, m] of move.entries()) place[i] = (place[i] ?? 0) + factor * m
}
