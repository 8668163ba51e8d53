/** Which other parts of a diff stand in the way when some are left out and the rest does not build. Pure. */
import type { DiffUnit } from './units.ts'

/** In messages and sources alike: they link no two units. */
const COMMON = new Set(
  'and are bool break case char class const continue default def double else enum error export extern false file float for from function import int into let line long module new not null private public return static string struct switch the this throw true type undefined unsigned var void warning while with'.split(
    ' ',
  ),
)

const QUOTED = /'([^'\n]{2,200})'|`([^`'\n]{2,200})[`']|"([^"\n]{2,200})"|‘([^’\n]{2,200})’/g

/**
 * The units, apart from those that were left out, that hold a name which the message says and which the parts left out
 * hold as well. Names in quotes count before all others, since compilers quote what they miss.
 */
export function unitsNamed(
  message: string,
  units: readonly DiffUnit[],
  without: readonly string[],
): string[] {
  const held = new Map(units.map((unit) => [unit.id, namesOf(unit)]))
  const gone = new Set(without.flatMap((id) => [...(held.get(id) ?? [])]))
  const quoted = [...message.matchAll(QUOTED)].map((found) => found.slice(1).join(' ')).join(' ')
  for (const text of [quoted, message]) {
    const said = names(text).filter((name) => gone.has(name))
    const found = units.filter(
      ({ id }) => !without.includes(id) && said.some((name) => held.get(id)?.has(name)),
    )
    if (found.length > 0) return found.map(({ id }) => id)
  }
  return []
}

/** Of its lines; of a file as a whole, whose lines are not known here, the name. */
const namesOf = ({ edits }: DiffUnit): Set<string> =>
  new Set(
    edits.flatMap((edit) =>
      edit.kind === 'hunk' ? names(edit.hunk.changed.join('\n')) : names(edit.path.split('/').at(-1) ?? ''),
    ),
  )

const names = (text: string): string[] =>
  (text.match(/[\p{L}_$][\p{L}\p{N}_$]{2,}/gu) ?? []).filter((name) => !COMMON.has(name))
