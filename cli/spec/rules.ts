/** The rules of the scope: what a candidate may change, decided from data alone. */
import picomatch from 'picomatch/posix.js'

export interface ScopeConfig {
  /** Globs relative to the folder of the spec. */
  mutable: string[]
  /** Wins over `mutable`. */
  immutable: string[]
  limits: { files: number | null; lines: number | null; types: string[] | null }
}

export type Area = 'mutable' | 'immutable' | 'outside'

/** One path that differs between two trees, as git tells it without rename detection. */
export interface PathChange {
  /** From the root of the repository, with `/`. */
  path: string
  status: string
  /** Six octal digits; all zero = there is none. */
  oldMode: string
  newMode: string
  /** Lines; null = binary, which counts as none. */
  added: number | null
  removed: number | null
}

export interface OutOfScope {
  path: string
  why: string
}

export interface OverLimit {
  limit: 'files' | 'lines' | 'types'
  /** How many; with `types`, the path. */
  value: number | string
  max: number | string[]
}

export interface Judgement {
  out_of_scope: OutOfScope[]
  over_limit: OverLimit[]
}

const SYMLINK = '120000'
const GITLINK = '160000'
const STATE = '.assay'

/**
 * Where a path belongs. `prefix` is the folder of the spec from the root of the repository (`''` is the root
 * itself); globs count from there and paths from the root. What `immutable` matches is never mutable. The spec (`specFile`
 * from the root, when it has another name), `assay.yaml` and every `.assay` folder are immutable whatever the globs say. A `.gitattributes` is mutable only by a glob that ends with
 * that name: it changes how git writes other files, immutable ones among them.
 */
export function scopeOf(
  scope: ScopeConfig,
  prefix: string,
  specFile: string | null = null,
): (path: string) => Area {
  const mutable = scope.mutable.map(matcher)
  const immutable = scope.immutable.map(matcher)
  const naming = scope.mutable.filter(isAttributes).map(matcher)
  const inside = relativeTo(prefix)
  return (path) => {
    if (path === specFile || path.split('/').includes(STATE)) return 'immutable'
    const relative = inside(path)
    if (relative === null) return 'outside'
    if (relative === 'assay.yaml') return 'immutable'
    if (immutable.some((matches) => matches(relative))) return 'immutable'
    if (isAttributes(path)) return naming.some((matches) => matches(relative)) ? 'mutable' : 'outside'
    return mutable.some((matches) => matches(relative)) ? 'mutable' : 'outside'
  }
}

/**
 * Files and folders from the root of the repository: whatever `scopeOf` calls mutable is one of them or lies below one. Empty
 * when it may lie anywhere.
 */
export function placesOfMutable(scope: ScopeConfig, prefix: string): string[] {
  const places = scope.mutable.map((glob) => {
    const parts = glob.replace(/^(\.\/)+/, '').split('/')
    const special = parts.findIndex((part) => !/^[\w. @-]+$/.test(part) || part === '..')
    const plain = special < 0 ? parts : parts.slice(0, special)
    return [...(prefix === '' ? [] : [prefix]), ...plain].join('/')
  })
  return places.includes('') ? [] : places
}

/** Of a path, or of a glob that names the file. */
const isAttributes = (path: string): boolean => /(^|\/)\.gitattributes$/.test(path)

/** Everything about a candidate's changes that its spec does not allow; both lists empty = it is in scope. */
export function breachesOfScope(
  changes: readonly PathChange[],
  scope: ScopeConfig,
  areaOf: (path: string) => Area,
): Judgement {
  const out_of_scope: OutOfScope[] = []
  for (const change of changes) {
    const why = trespass(change, areaOf(change.path))
    if (why !== null) out_of_scope.push({ path: change.path, why })
  }
  return { out_of_scope, over_limit: excess(changes, scope.limits) }
}

function trespass({ path, oldMode, newMode }: PathChange, area: Area): string | null {
  if (area === 'immutable') return 'immutable'
  if (area === 'outside' && isAttributes(path))
    return 'it decides how git writes other files; name it in scope.mutable if candidates may change it'
  if (area === 'outside') return 'outside of mutable'
  // Either can lead out of the scope: a link to what it points at, a submodule to another repository.
  if (oldMode === GITLINK || newMode === GITLINK) return 'a submodule'
  if (newMode === SYMLINK) return 'a symbolic link'
  return null
}

function excess(changes: readonly PathChange[], { files, lines, types }: ScopeConfig['limits']): OverLimit[] {
  const over: OverLimit[] = []
  if (files !== null && changes.length > files)
    over.push({ limit: 'files', value: changes.length, max: files })
  const touched = changes.reduce((sum, change) => sum + (change.added ?? 0) + (change.removed ?? 0), 0)
  if (lines !== null && touched > lines) over.push({ limit: 'lines', value: touched, max: lines })
  if (types !== null) {
    for (const { path } of changes) {
      if (!types.some((type) => path.endsWith(type))) over.push({ limit: 'types', value: path, max: types })
    }
  }
  return over
}

export interface GlobMatch {
  glob: string
  /** From the root of the repository. */
  matched: string[]
}

/** What each glob matches, in the order of the globs and of the paths. */
export function matchGlobs(globs: readonly string[], prefix: string, paths: readonly string[]): GlobMatch[] {
  const inside = relativeTo(prefix)
  return globs.map((glob) => {
    const matches = matcher(glob)
    const matched = paths.filter((path) => {
      const relative = inside(path)
      return relative !== null && matches(relative)
    })
    return { glob, matched }
  })
}

/**
 * Names of files may have brackets (`app/[id]/page.ts`, `app/(group)/page.ts`), so these stand for themselves as well: a
 * glob that was meant for such a folder must not protect nothing.
 */
function matcher(glob: string): (path: string) => boolean {
  const plain = glob.replace(/^(\.\/)+/, '')
  if (plain === '') return () => false
  const options = { dot: true, nonegate: true, flags: 's' }
  const literal = plain.replace(/(?<!\\)[[\]]|(?<![!?*+@\\])\([^()|]*\)/g, (found) =>
    found.replace(/[[\]()]/g, '\\$&'),
  )
  return picomatch(literal === plain ? plain : [plain, literal], options)
}

/** null for a path that is not below the prefix. */
function relativeTo(prefix: string): (path: string) => string | null {
  const folder = prefix.replace(/^\.\/|\/+$/g, '')
  if (folder === '' || folder === '.') return (path) => path
  return (path) => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null)
}
