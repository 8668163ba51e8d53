/**
 * Which experiments to put together next: all at once, then halves, each on top of what was kept so far. Pure: it follows from
 * what is there and what was tried, so a search that was killed continues, and no set is tried twice.
 */

/** An experiment that may be merged with others. */
export interface Mergeable {
  id: string
  /** The experiments that it is made of: of a merge, those that were merged; else itself. */
  parts: readonly string[]
  /** Itself, and all that it is built on. */
  contains: ReadonlySet<string>
}

export interface MergePlan {
  /** The best first: the others are merged into it. */
  ranked: readonly Mergeable[]
  /** The parts of each set that was tried, whatever came of it. */
  tried: readonly (readonly string[])[]
  /** Sets that conflict as text, and pairs that were refused together: no superset is tried. */
  clashes: readonly (readonly string[])[]
}

/** The set to try next, the best first; null when nothing is left to try. */
export function nextMerge({ ranked, tried, clashes }: MergePlan): string[] | null {
  const [best, ...others] = ranked
  const known = new Set(tried.map(keyOf))
  return best ? divide(others, best) : null

  function divide(members: readonly Mergeable[], on: Mergeable): string[] | null {
    const set = fitting(members, on)
    if (set.length > 1 && !known.has(keyOf(set.flatMap(({ parts }) => parts)))) return set.map(({ id }) => id)
    if (members.length < 2) return null
    const half = Math.ceil(members.length / 2)
    return divide(members.slice(0, half), on) ?? divide(members.slice(half), on)
  }

  /** `on` and, best first, each member that clashes with nothing before it. */
  function fitting(members: readonly Mergeable[], on: Mergeable): Mergeable[] {
    const set = [on]
    const contained = new Set(on.contains)
    for (const member of members) {
      const both = new Set([...contained, ...member.contains])
      // Not one that the set or the member holds already: an agent may have combined the two.
      const isNew = (clash: readonly string[]) =>
        clash.some((id) => !contained.has(id)) && clash.some((id) => !member.contains.has(id))
      if (clashes.some((clash) => isNew(clash) && clash.every((id) => both.has(id)))) continue
      set.push(member)
      for (const id of member.contains) contained.add(id)
    }
    return set
  }
}

/**
 * The experiments whose merge conflicts with `last` as text, when none of their parts does so alone: `nextMerge` asks for no set
 * that holds all of them and `last`. Their parts, so that a later merge of these is left out as well; but if `last` is built on
 * all parts, these say nothing of the two, and the merge itself is named.
 */
export function clashing(before: readonly Mergeable[], last: Mergeable): string[] {
  const parts = [...new Set(before.flatMap((one) => one.parts))]
  const says = parts.some((part) => !last.contains.has(part))
  return [...(says ? parts : before.map(({ id }) => id)), last.id]
}

const keyOf = (parts: readonly string[]): string => JSON.stringify([...new Set(parts)].sort())
