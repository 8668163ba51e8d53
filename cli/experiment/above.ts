/** What a program finds in the folders above a measurement checkout: the user's own files, as they are at that moment. */
import { lstat, readdir, realpath } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { listTree } from '../git/files.ts'
import { STATE_FOLDER } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'

/** Names that programs look for on their way up. */
const SOUGHT =
  /^(?:node_modules|\.env(?:\..+)?|package\.json|\.npmrc|\.yarnrc.*|\.pnp\..*|pnpm-workspace\.yaml|tsconfig.*\.json|jsconfig\.json|\.(?:babel|eslint|swc|mocha|postcss|browserslist|prettier)rc.*|(?:babel|vite|vitest|jest|eslint|postcss|tailwind)\.config\..+|biome\.jsonc?|deno\.jsonc?|bunfig\.toml|\.venv|venv|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|conftest\.py|\.python-version|\.tool-versions|mise\.toml|\.envrc|\.nvmrc|\.node-version|\.ruby-version|Gemfile|\.bundle|vendor|Cargo\.toml|\.cargo|rust-toolchain.*|go\.(?:mod|work)|WORKSPACE.*|MODULE\.bazel|\.bazelrc|settings\.gradle.*|gradle\.properties|\.mvn|pom\.xml|Directory\.Build\..+|global\.json|NuGet\.config|build\.sbt|composer\.json|mix\.exs|\.clang-.+|compile_commands\.json|\.editorconfig)$/i

/**
 * Paths above the checkouts that a walk up may find and that no checkout has at its own top: what is not committed in the
 * folder of the run, and in the folders above that only what programs are known to look for.
 */
export async function foundAbove(run: OpenRun, tree: string): Promise<Result<string[]>> {
  const listed = await listTree(run.site, tree)
  if (!listed.ok) return listed
  const committed = new Set(listed.value.map(({ path }) => path.split('/')[0] ?? ''))
  const own = await readdir(run.site.root).catch(() => [])
  const found = own
    .filter((name) => name !== '.git' && name !== STATE_FOLDER && !committed.has(name))
    .map((name) => join(run.site.root, name))
  for (let at = dirname(run.site.root); ; at = dirname(at)) {
    for (const name of await readdir(at).catch(() => []))
      if (SOUGHT.test(name) && !committed.has(name)) found.push(join(at, name))
    if (at === dirname(at)) return ok(found)
  }
}

export interface Above {
  message: string
  hint: string
}

/** The one that most likely made the difference: what the failing program named, then packages, then the rest. */
export async function causeAbove(paths: readonly string[], said: string, checkout: string): Promise<Above> {
  const known = (name: RegExp) => paths.filter((path) => name.test(path))
  const [modules] = known(/\/node_modules$/)
  const setup =
    'let each checkout have its own: worktree.setup: { command: npm ci, inputs: [package-lock.json] }'
  if (modules !== undefined) {
    const link = await linkInto(modules, checkout)
    const through = link === null ? '' : `, where ${link.name} leads to ${link.target} in your own checkout`
    return {
      message: `node finds ${modules} above the measurement checkouts${through}: what you install or edit there changes what is measured`,
      hint: setup,
    }
  }
  const named = paths.find((path) => said.includes(path.slice(path.lastIndexOf('/') + 1)))
  const likely = named ?? paths.find((path) => SOUGHT.test(path.slice(path.lastIndexOf('/') + 1))) ?? paths[0]
  return {
    message:
      likely === undefined
        ? 'what it finds by walking up from the measurement checkouts is yours, and may change while it measures'
        : `${likely} lies above the measurement checkouts, where programs look for it: what you change there changes what is measured`,
    hint: 'commit what the benchmark needs, name it under worktree.data, or let worktree.setup make it in each checkout',
  }
}

/** A package that is a link to sources of the user, as npm and pnpm make them for a workspace. */
async function linkInto(modules: string, checkout: string): Promise<{ name: string; target: string } | null> {
  const real = await realpath(checkout).catch(() => checkout)
  const names = await readdir(modules).catch(() => [])
  for (const name of names.slice(0, 5000)) {
    const inner = name.startsWith('@')
      ? (await readdir(join(modules, name)).catch(() => [])).map((one) => `${name}/${one}`)
      : [name]
    for (const one of inner) {
      const entry = await lstat(join(modules, one)).catch(() => null)
      if (!entry?.isSymbolicLink()) continue
      const target = relative(real, await realpath(join(modules, one)).catch(() => '/'))
      if (!target.startsWith('..') && !target.split('/').includes('node_modules'))
        return { name: one, target }
    }
  }
  return null
}
