import picomatch from 'picomatch/posix.js'
import { type Issue, problemOf, type SourceText } from '../result/issues.ts'
import { fail, ok, type Result } from '../result.ts'
import { locateSpec } from './read.ts'
import { type GlobMatch, matchGlobs, scopeOf } from './rules.ts'
import { editDistance } from './words.ts'

/** What the globs of a spec mean in a repository, for `init` to show. */
export interface GlobReport {
  mutable: GlobMatch[]
  immutable: GlobMatch[]
  /** What a candidate may change today: matched by `mutable` and not immutable. */
  files: string[]
  warnings: string[]
}

/**
 * Matches the globs of a spec with the files of the repository (`paths`, from its root). A glob that matches nothing may be
 * for files still to be made, and is a warning; when no glob under `mutable` matches anything, all of them are refused with
 * their places (`glob_matches_nothing`), and so is a scope in which everything is immutable (`nothing_mutable`).
 * Texts of a suite that are not there are refused too (`text_missing`). Fails like `readSpec` on a spec that does not hold.
 */
export function checkGlobs(source: SourceText, prefix: string, paths: readonly string[]): Result<GlobReport> {
  const located = locateSpec(source)
  if (!located.ok) return located
  const { spec, placeOf } = located.value
  const missing = (spec.measure.suite?.artifacts ?? []).flatMap(({ name, file }, index): Issue[] =>
    paths.includes(prefix === '' ? file : `${prefix}/${file}`)
      ? []
      : [
          {
            ...placeOf(['suite', 'artifacts', index, 'file']),
            message: `there is no file ${file} with the text ${name}`,
            hint: 'write its text there, then commit it',
          },
        ],
  )
  if (missing.length > 0) return fail(problemOf(source, missing, 'text_missing'))
  const mutable = matchGlobs(spec.scope.mutable, prefix, paths)
  const immutable = matchGlobs(spec.scope.immutable, prefix, paths)
  const dead = mutable.flatMap(({ glob, matched }, index): Issue[] =>
    matched.length > 0
      ? []
      : [
          {
            ...placeOf(['scope', 'mutable', index]),
            message: `\`${glob}\` matches no file`,
            hint: meant(glob, prefix, paths),
          },
        ],
  )
  if (dead.length === mutable.length) return fail(problemOf(source, dead, 'glob_matches_nothing'))
  const areaOf = scopeOf(spec.scope, prefix, source.file)
  const files = paths.filter((path) => areaOf(path) === 'mutable')
  if (files.length === 0) {
    const message = 'every file that `mutable` matches is immutable, so no candidate could change anything'
    const issue = { ...placeOf(['scope', 'immutable']), message, hint: 'narrow `immutable`' }
    return fail(problemOf(source, [issue], 'nothing_mutable'))
  }
  const inputs = matchGlobs(spec.worktree.setup?.inputs ?? [], prefix, paths)
  const warnings = [
    ...without(mutable, (glob) => `${glob} under mutable matches no file yet`),
    ...without(immutable, (glob) => `${glob} under immutable matches no file yet`),
    ...without(inputs, (glob) => `${glob} under worktree.setup.inputs matches no file yet`),
  ].map(({ glob, text }) => `${text}: ${meant(glob, prefix, paths)}`)
  return ok({ mutable, immutable, files, warnings })
}

const without = (globs: readonly GlobMatch[], tell: (glob: string) => string) =>
  globs.filter(({ matched }) => matched.length === 0).map(({ glob }) => ({ glob, text: tell(glob) }))

/** The nearest thing that exists. */
function meant(glob: string, prefix: string, paths: readonly string[]): string {
  const below = prefix === '' ? '' : `${prefix}/`
  const files = new Set<string>()
  const folders = new Set<string>()
  for (const path of paths) {
    if (!path.startsWith(below)) continue
    const relative = path.slice(below.length)
    files.add(relative)
    for (let end = relative.indexOf('/'); end >= 0; end = relative.indexOf('/', end + 1)) {
      folders.add(relative.slice(0, end))
    }
  }
  const base = picomatch.scan(glob).base.replace(/\/$/, '')
  const rest = glob.slice(base.length)
  if (folders.has(base)) {
    if (rest === '' || rest === '/') return `\`${base}\` is a folder: did you mean \`${base}/**\`?`
    return `\`${base}\` exists, but no file in it matches: \`**\` also looks into its sub-folders`
  }
  const near = nearest(base, [...folders, ...files])
  if (near === null) return 'globs count from the folder of the spec'
  return `did you mean \`${near}${folders.has(near) ? rest || '/**' : ''}\`?`
}

function nearest(word: string, existing: readonly string[]): string | null {
  let best: string | null = null
  let least = Math.max(2, Math.ceil(word.length / 2)) + 1
  for (const candidate of existing) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const distance = editDistance(word, candidate)
    if (distance < least) {
      best = candidate
      least = distance
    }
  }
  return best
}
