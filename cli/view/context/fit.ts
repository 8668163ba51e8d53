/** Text of bounded length from sections that each have a share of it. Pure. */

export interface Section {
  title: string
  /** Most important first. */
  lines: readonly string[]
  /** Entries that are not even among the lines. */
  more: number
  /** Shows all of them. */
  command: string
  /** Characters that it may always use, its title included. */
  share: number
}

/**
 * The sections that have lines, at most `max` characters in all: each up to its share, then, line by line in order,
 * what the others left. What does not fit is told as `… N more: COMMAND`. The shares must not sum up to more than
 * `max`, and each must have room for its title and that last line.
 */
export function fitSections(sections: readonly Section[], max: number): string {
  const open = sections
    .filter(({ lines }) => lines.length > 0)
    .map((section) => ({ section, shown: 0, done: false }))
  const costs = open.map(({ section }) => costOf(section, 0))
  for (const [at, place] of open.entries()) {
    while (place.shown < place.section.lines.length) {
      const next = costOf(place.section, place.shown + 1)
      if (next > place.section.share) break
      costs[at] = next
      place.shown++
    }
  }
  let left = max - costs.reduce((sum, cost) => sum + cost, 0)
  for (let grown = true; grown; ) {
    grown = false
    for (const [at, place] of open.entries()) {
      if (place.shown === place.section.lines.length) continue
      const added = costOf(place.section, place.shown + 1) - (costs[at] ?? 0)
      if (added > left) continue
      left -= added
      costs[at] = (costs[at] ?? 0) + added
      place.shown++
      grown = true
    }
  }
  return open.map(({ section, shown }) => render(section, shown)).join('\n')
}

const costOf = (section: Section, shown: number): number => render(section, shown).length + 1

function render({ title, lines, more, command }: Section, shown: number): string {
  const hidden = lines.length - shown + more
  return [
    `## ${title}`,
    ...lines.slice(0, shown),
    ...(hidden > 0 ? [`… ${hidden} more: ${command}`] : []),
    '',
  ].join('\n')
}
