import { nextMerge } from '../../cli/search/merge.ts'
import { TRIES_ALONE } from '../../cli/search/unmerged.ts'

/** What earlier merges of a simulated run showed. */
export const nothingKnown = () => ({ tried: [], clashes: [], alone: new Map() })

/**
 * Merges what is there, as `assay merge` does, and answers the best at the end. `ranked`: as `nextMerge` takes it. `attempt` of the
 * chosen ones answers `{ kept }` (the id of what was made, or null), `{ conflict }` (the ids that do not merge as text), or null
 * when nothing more can be measured. `known` learns from it.
 */
export function mergeAll(ranked, known, attempt) {
  let now = ranked
  for (;;) {
    const left = now.filter(({ id }, at) => at === 0 || (known.alone.get(id) ?? 0) < TRIES_ALONE)
    const set = nextMerge({ ranked: left, tried: known.tried, clashes: known.clashes })
    const chosen = set?.map((id) => now.find((one) => one.id === id))
    const answer = chosen ? attempt(chosen) : null
    if (answer === null) return now[0]
    if (answer.conflict) {
      known.clashes.push(answer.conflict)
      continue
    }
    const parts = [...new Set(chosen.flatMap((one) => one.parts))]
    known.tried.push(parts)
    if (answer.kept !== null) {
      const contains = new Set([answer.kept, ...chosen.flatMap((one) => [...one.contains])])
      now = [{ id: answer.kept, parts, contains }, ...now.filter(({ id }) => !contains.has(id))]
    } else {
      if (parts.length === 2) known.clashes.push(parts)
      if (set.length === 2) known.alone.set(set[1], (known.alone.get(set[1]) ?? 0) + 1)
    }
  }
}
