/**
 * The units of a diff: the smallest parts that can be left out on their own. A unit is a hunk, a whole file, or what
 * cannot be applied apart, such as both ends of a rename. Pure.
 */
import type { Hunk } from './hunks.ts'

/** A file as a tree has it. */
export interface Entry {
  /** Six octal digits. */
  mode: string
  oid: string
}

/** What a diff does to one path. `hunks` is null when the path changes as a whole: new, deleted, binary, a link. */
export interface FileChange {
  path: string
  before: Entry | null
  after: Entry | null
  hunks: readonly Hunk[] | null
}

export type UnitEdit =
  | { path: string; kind: 'hunk'; hunk: Hunk }
  | { path: string; kind: 'mode'; mode: string }
  | { path: string; kind: 'whole'; entry: Entry | null }

export interface DiffUnit {
  /** `h1`, `h2` … in the order of the diff. */
  id: string
  edits: UnitEdit[]
  /** Lines added and removed; 1 for what has no lines. */
  lines: number
}

/**
 * The units of a diff, in its order. `renames` are pairs of an old and a new path. A rename is one unit, and so is a path
 * that is in the way of another (`a` deleted, `a/b` added).
 */
export function unitsOf(
  changes: readonly FileChange[],
  renames: readonly (readonly [string, string])[] = [],
): DiffUnit[] {
  const whole = changes.filter(({ hunks }) => hunks === null)
  const group = joined(
    whole.map(({ path }) => path),
    renames,
  )
  const units: Omit<DiffUnit, 'id'>[] = []
  const ofGroup = new Map<string, Omit<DiffUnit, 'id'>>()
  for (const change of changes) {
    if (change.hunks !== null) {
      units.push(...partsOf(change, change.hunks))
      continue
    }
    const edit: UnitEdit = { path: change.path, kind: 'whole', entry: change.after }
    const key = group(change.path)
    const unit = ofGroup.get(key)
    if (unit) {
      unit.edits.push(edit)
      unit.lines += 1
    } else {
      const first = { edits: [edit], lines: 1 }
      ofGroup.set(key, first)
      units.push(first)
    }
  }
  return units.map((unit, i) => ({ id: `h${i + 1}`, ...unit }))
}

function partsOf({ path, before, after }: FileChange, hunks: readonly Hunk[]): Omit<DiffUnit, 'id'>[] {
  const parts: Omit<DiffUnit, 'id'>[] = hunks.map((hunk) => ({
    edits: [{ path, kind: 'hunk', hunk }],
    lines: hunk.added + hunk.removed,
  }))
  if (before && after && before.mode !== after.mode) {
    parts.push({ edits: [{ path, kind: 'mode', mode: after.mode }], lines: 1 })
  }
  return parts
}

/** Which paths belong together: a function from a path to a name of its group. */
function joined(
  paths: readonly string[],
  renames: readonly (readonly [string, string])[],
): (path: string) => string {
  const parent = new Map(paths.map((path) => [path, path]))
  const find = (path: string): string => {
    const up = parent.get(path)
    return up === undefined || up === path ? path : find(up)
  }
  const join = (a: string, b: string): void => {
    if (parent.has(a) && parent.has(b)) parent.set(find(a), find(b))
  }
  for (const [from, to] of renames) join(from, to)
  for (const path of paths) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      join(path, path.slice(0, at))
  }
  return find
}

/**
 * The order in which units are tried: what promises least comes first. Comments, then tests, then configuration, then the
 * rest; what the author's words name comes later; smaller before larger; then the order of the diff.
 */
export function leastPromisingFirst(units: readonly DiffUnit[], words = ''): DiffUnit[] {
  const said = new Set(namesIn(words))
  const keyed = units.map((unit, i) => ({ unit, key: [kindOf(unit), named(unit, said), unit.lines, i] }))
  keyed.sort((a, b) => {
    const at = a.key.findIndex((value, i) => value !== b.key[i])
    return at < 0 ? 0 : (a.key[at] ?? 0) - (b.key[at] ?? 0)
  })
  return keyed.map(({ unit }) => unit)
}

const COMMENT =
  /^\s*(?:\/\/|\/\*|\*|#(?!\s*(?:include|define|if|ifdef|ifndef|else|elif|endif|undef|pragma|\[|!))|--\s|;|<!--|$)/
const TEST = /(?:^|\/)(?:tests?|specs?|__tests__|testdata)\/|[._-](?:test|spec)\.[^/]+$|(?:^|\/)test_[^/]+$/
const CONFIG = /\.(?:ya?ml|toml|ini|cfg|json|md|rst|txt)$|(?:^|\/)\.[^/]+$/

function kindOf({ edits }: DiffUnit): number {
  if (edits.every((edit) => edit.kind === 'hunk' && edit.hunk.changed.every((line) => COMMENT.test(line))))
    return 0
  if (edits.every(({ path }) => TEST.test(path))) return 1
  return edits.every(({ path }) => CONFIG.test(path)) ? 2 : 3
}

/** 1 when the words name something that the unit has. */
function named({ edits }: DiffUnit, said: ReadonlySet<string>): number {
  if (said.size === 0) return 0
  const has = edits.some(({ path, ...edit }) => {
    const text = edit.kind === 'hunk' ? [edit.hunk.around, ...edit.hunk.changed].join('\n') : ''
    return namesIn(`${path}\n${text}`).some((name) => said.has(name))
  })
  return has ? 1 : 0
}

/** Words of four letters or more: shorter ones stand in any text. */
const namesIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_]{3,}/gu) ?? []

/** What a path becomes in the composed tree: gone, an entry that exists, or new content under a mode. */
export type Composed = { entry: Entry | null } | { mode: string; base: Entry; hunks: Hunk[] }

/** The paths that differ from the parent when only `chosen` is applied. */
export function composed(changes: readonly FileChange[], chosen: readonly DiffUnit[]): Map<string, Composed> {
  const before = new Map(changes.map((change) => [change.path, change.before]))
  const paths = new Map<string, Composed>()
  for (const edit of chosen.flatMap(({ edits }) => edits)) {
    if (edit.kind === 'whole') {
      paths.set(edit.path, { entry: edit.entry })
      continue
    }
    const base = before.get(edit.path)
    if (!base) throw new Error(`there is no old file for a part of ${edit.path}`)
    const earlier = paths.get(edit.path)
    const file = earlier && 'hunks' in earlier ? earlier : { mode: base.mode, base, hunks: [] }
    if (edit.kind === 'mode') file.mode = edit.mode
    else file.hunks.push(edit.hunk)
    paths.set(edit.path, file)
  }
  return paths
}

// ---------------------------------------------------------------- which other parts of a diff stand in the way when some are left out and the rest does not build

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
