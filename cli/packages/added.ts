/** Which packages a candidate adds, by what its manifests and lock files name and those of the baseline do not. Pure. */
import { readCargoConfig, readCargoLock, readCargoToml } from './cargo.ts'
import type { NamedPackage, PackageFile, ReadPackages } from './file.ts'
import { readGoMod, readGoSum } from './go.ts'
import { readGradle, readGradleCatalogue, readGradleLock, readPom } from './jvm.ts'
import { readPackageJson, readPackageLock } from './npm.ts'
import { readPnpmLock, readPnpmWorkspace } from './pnpm.ts'
import {
  isConstraints,
  isRequirements,
  readConstraints,
  readPyproject,
  readPythonLock,
  readRequirements,
  readUvToml,
} from './python.ts'
import {
  readConda,
  readPipConf,
  readPipfile,
  readPipfileLock,
  readSetupCfg,
  readSetupPy,
} from './setuptools.ts'
import { readBinaryLock, readBunfig, readBunLock, readOlderYarnrc, readYarnLock, readYarnrc } from './yarn.ts'

type Language = 'npm' | 'python' | 'cargo' | 'go' | 'jvm'

const FILES: Readonly<Record<string, { language: Language; read: ReadPackages }>> = {
  'package.json': { language: 'npm', read: readPackageJson },
  'package-lock.json': { language: 'npm', read: readPackageLock },
  'npm-shrinkwrap.json': { language: 'npm', read: readPackageLock },
  'pnpm-lock.yaml': { language: 'npm', read: readPnpmLock },
  'pnpm-workspace.yaml': { language: 'npm', read: readPnpmWorkspace },
  'yarn.lock': { language: 'npm', read: readYarnLock },
  '.yarnrc.yml': { language: 'npm', read: readYarnrc },
  '.yarnrc': { language: 'npm', read: readOlderYarnrc },
  'bun.lock': { language: 'npm', read: readBunLock },
  'bun.lockb': { language: 'npm', read: readBinaryLock },
  'bunfig.toml': { language: 'npm', read: readBunfig },
  'pyproject.toml': { language: 'python', read: readPyproject },
  'uv.lock': { language: 'python', read: readPythonLock },
  'poetry.lock': { language: 'python', read: readPythonLock },
  'pdm.lock': { language: 'python', read: readPythonLock },
  'pylock.toml': { language: 'python', read: readPythonLock },
  'uv.toml': { language: 'python', read: readUvToml },
  'setup.py': { language: 'python', read: readSetupPy },
  'setup.cfg': { language: 'python', read: readSetupCfg },
  Pipfile: { language: 'python', read: readPipfile },
  'Pipfile.lock': { language: 'python', read: readPipfileLock },
  'pip.conf': { language: 'python', read: readPipConf },
  'pip.ini': { language: 'python', read: readPipConf },
  'environment.yml': { language: 'python', read: readConda },
  'environment.yaml': { language: 'python', read: readConda },
  'Cargo.toml': { language: 'cargo', read: readCargoToml },
  'Cargo.lock': { language: 'cargo', read: readCargoLock },
  'go.mod': { language: 'go', read: readGoMod },
  'go.sum': { language: 'go', read: readGoSum },
  'go.work': { language: 'go', read: readGoMod },
  'go.work.sum': { language: 'go', read: readGoSum },
  'pom.xml': { language: 'jvm', read: readPom },
  'build.gradle': { language: 'jvm', read: readGradle },
  'build.gradle.kts': { language: 'jvm', read: readGradle },
  'settings.gradle': { language: 'jvm', read: readGradle },
  'settings.gradle.kts': { language: 'jvm', read: readGradle },
  'libs.versions.toml': { language: 'jvm', read: readGradleCatalogue },
  'gradle.lockfile': { language: 'jvm', read: readGradleLock },
}

/** Copies of packages, with manifests of their own. */
const isCopied = (path: string): boolean => /(^|\/)node_modules\//.test(path)
const isVendored = (path: string): boolean => /(^|\/)vendor\//.test(path)

const kindOf = (path: string) => {
  if (isCopied(path)) return undefined
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (Object.hasOwn(FILES, name)) {
    const found = FILES[name]
    // Where `cargo vendor` and `go mod vendor` put them. For other tools this is a folder like any other.
    return isVendored(path) && (found?.language === 'cargo' || found?.language === 'go') ? undefined : found
  }
  if (/(^|\/)\.cargo\/config(\.toml)?$/.test(path))
    return { language: 'cargo' as const, read: readCargoConfig }
  if (isConstraints(path)) return { language: 'python' as const, read: readConstraints }
  return isRequirements(path) ? { language: 'python' as const, read: readRequirements } : undefined
}

/** Files of package managers that nobody reads here: by name, or by how a name ends. */
const UNREAD = new RegExp(
  `(?:^|/)(?:${[
    'Gemfile|Gemfile\\.lock|gems\\.rb|gems\\.locked|composer\\.json|composer\\.lock|deno\\.jsonc?|deno\\.lock|import_map\\.json',
    'mix\\.exs|mix\\.lock|rebar\\.config|pubspec\\.(?:yaml|lock)|Package\\.(?:swift|resolved)|Podfile|Podfile\\.lock|Cartfile',
    'packages\\.config|packages\\.lock\\.json|Directory\\.Packages\\.props|nuget\\.config|paket\\.\\w+',
    'vcpkg\\.json|conanfile\\.\\w+|conan\\.lock|MODULE\\.bazel|WORKSPACE|flake\\.(?:nix|lock)|pixi\\.(?:toml|lock)|renv\\.lock|cpanfile',
    'build\\.sbt|deps\\.edn|project\\.clj|stack\\.yaml|cabal\\.project|dune-project|(?:Project|Manifest)\\.toml|package\\.yaml|\\.pnpmfile\\.c?js',
  ].join('|')})$|\\.(?:gemspec|podspec|csproj|fsproj|vbproj|cabal|opam|nimble|rockspec)$`,
)

/** Whether the file at a path names packages. */
export const namesPackages = (path: string): boolean => kindOf(path) !== undefined || isUnread(path)

const isUnread = (path: string): boolean => UNREAD.test(path) && !isCopied(path) && !isVendored(path)

export interface AddedPackage {
  path: string
  /** null: the file cannot be read, so nobody knows what it adds. */
  name: string | null
  message: string
}

type Texts = ReadonlyMap<string, string>

/**
 * `before`: all files of the baseline that name packages; `after`: those of the candidate that differ. `approved`: names in
 * small letters. What an approved package needs itself is approved with it, as far as a lock file says who needs what; where
 * it does not say so, everything that it names in addition is, as soon as an approved package is new. In a lock file that the
 * baseline did not have, what packages of the baseline need is no addition.
 */
export function addedPackages(before: Texts, after: Texts, approved: ReadonlySet<string>): AddedPackage[] {
  const found: AddedPackage[] = []
  const { known, unreadable } = knownBefore(before)
  // As several languages compare names.
  const allowed = new Set([...approved].flatMap((name) => [name, name.replace(/[-_.]+/g, '-')]))
  const changed = [...after].flatMap(([path, text]) => {
    const kind = kindOf(path)
    const read = kind && reading(kind.read, text)
    if (kind === undefined || read === undefined) {
      const name = path.toLowerCase()
      const message = `${path} may add packages, which the CLI cannot read there: look at it, and approve it by this path`
      if (isUnread(path) && before.get(path) !== text && !allowed.has(name))
        found.push({ path, name, message })
      return []
    }
    if (typeof read !== 'string') return [{ path, language: kind.language, ...read }]
    // A template, or what a test reads.
    if (unreadable.has(path)) return []
    found.push({
      path,
      name: null,
      message: `${path} cannot be read, so its packages are not known: ${read}`,
    })
    return []
  })
  for (const { path, language, named, needs } of changed) {
    const old = known.get(language) ?? NO_PACKAGES
    const isNew = (one: NamedPackage) => !old.keys.has(keyOf(one))
    const addsApproved = changed.some(
      (file) =>
        file.language === language &&
        file.named.some((one) => isNew(one) && !one.locked && allowed.has(one.name)),
    )
    const below = needs && reachable(needs, old.isLocked ? allowed : [...allowed, ...old.names])
    const seen = new Set<string>()
    for (const one of named) {
      if (!isNew(one) || allowed.has(one.name) || seen.has(keyOf(one))) continue
      seen.add(keyOf(one))
      // From another place it is another package.
      const comesAlong = below ? below.has(one.name) && !old.names.has(one.name) : addsApproved
      if (one.locked && comesAlong) continue
      const from = one.from === null ? '' : ` from ${one.from}`
      found.push({ path, name: one.name, message: `${path} adds ${one.name}${from}, which nobody approved` })
    }
  }
  return found
}

interface Known {
  keys: Set<string>
  names: Set<string>
  /** A lock file names some of them. */
  isLocked: boolean
}

const NO_PACKAGES: Known = { keys: new Set(), names: new Set(), isLocked: false }

function knownBefore(before: Texts): { known: Map<Language, Known>; unreadable: Set<string> } {
  const known = new Map<Language, Known>()
  const unreadable = new Set<string>()
  for (const [path, text] of before) {
    const kind = kindOf(path)
    const read = kind && reading(kind.read, text)
    if (kind === undefined || read === undefined) continue
    if (typeof read === 'string') {
      unreadable.add(path)
      continue
    }
    const all = known.get(kind.language) ?? { keys: new Set(), names: new Set(), isLocked: false }
    for (const one of read.named) {
      all.keys.add(keyOf(one))
      all.names.add(one.name)
      if (one.locked) all.isLocked = true
    }
    known.set(kind.language, all)
  }
  return { known, unreadable }
}

const keyOf = ({ name, from }: NamedPackage): string => `${name} ${from ?? ''}`

/** A text says why it cannot be read. */
function reading(read: ReadPackages, text: string): PackageFile | string {
  try {
    // Tools skip a byte order mark.
    return read(text.replace(/^\ufeff/, ''))
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? ''
  }
}

function reachable(needs: ReadonlyMap<string, string[]>, from: Iterable<string>): Set<string> {
  const found = new Set<string>()
  const queue = [...from]
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (found.has(name)) continue
    found.add(name)
    queue.push(...(needs.get(name) ?? []))
  }
  return found
}
