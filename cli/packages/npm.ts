/** package.json, and the lock files of npm. */
import { type JsonObject, recordOf } from '../json.ts'
import { type NamedPackage, type PackageFile, type ReadPackages, textOf } from './file.ts'

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
/** In these, a package is only replaced by one that is named here. */
const OVERRIDES = ['overrides', 'resolutions']

export const readPackageJson: ReadPackages = (text) => {
  const json = recordOf(JSON.parse(text))
  const pnpm = recordOf(json.pnpm)
  const replaced = [...OVERRIDES.map((section) => json[section]), pnpm.overrides].flatMap((section) =>
    overrides(recordOf(section)),
  )
  // What a package needs in the eyes of pnpm, whatever its own manifest says.
  const extended = Object.values(recordOf(pnpm.packageExtensions)).flatMap((one) => inSections(recordOf(one)))
  return { named: [...inSections(json), ...replaced, ...extended] }
}

export const inSections = (manifest: JsonObject): NamedPackage[] =>
  SECTIONS.flatMap((section) => packagesWantedIn(recordOf(manifest[section])))

export const packagesWantedIn = (section: JsonObject): NamedPackage[] =>
  Object.entries(section).flatMap(([name, wanted]) => wantedPackage(name, textOf(wanted) ?? ''))

export function overrides(section: JsonObject): NamedPackage[] {
  return Object.entries(section).flatMap(([name, wanted]) => {
    if (typeof wanted !== 'string') return overrides(recordOf(wanted))
    // A version alone adds nothing.
    return wantedPackage(name, wanted).filter((one) => one.from !== null || wanted.startsWith('npm:'))
  })
}

/** Files of the repository itself are no packages. */
export const LOCAL = /^(workspace|file|link|portal):|^\.{0,2}\//

function wantedPackage(name: string, wanted: string): NamedPackage[] {
  if (LOCAL.test(wanted)) return []
  // A catalogue of pnpm-workspace.yaml says the version.
  if (wanted.startsWith('catalog:')) return [{ name: name.toLowerCase(), from: null }]
  const alias = /^npm:(@?[^@]+)/.exec(wanted)?.[1]
  if (alias !== undefined) return [{ name: alias.toLowerCase(), from: null }]
  // No version has one of these: it is an address, as `git@github.com:owner/name`, or `owner/name`.
  const isElsewhere = /[:/]/.test(wanted)
  return [{ name: name.toLowerCase(), from: isElsewhere ? withoutVersion(wanted) : null }]
}

/** package-lock.json and npm-shrinkwrap.json, of every version of the format. */
export const readPackageLock: ReadPackages = (text) => {
  const json = recordOf(JSON.parse(text))
  const found: Required<PackageFile> = { named: [], needs: new Map() }
  for (const [path, entry] of Object.entries(recordOf(json.packages))) {
    const at = path.lastIndexOf('node_modules/')
    if (at >= 0) lockedPackage(path.slice(at + 'node_modules/'.length), recordOf(entry), found)
  }
  if (json.packages === undefined) olderLock(recordOf(json.dependencies), found)
  return found
}

function olderLock(dependencies: JsonObject, found: Required<PackageFile>): void {
  for (const [name, one] of Object.entries(dependencies)) {
    const entry = recordOf(one)
    lockedPackage(name, { ...entry, dependencies: entry.requires }, found)
    olderLock(recordOf(entry.dependencies), found)
  }
}

function lockedPackage(path: string, entry: JsonObject, found: Required<PackageFile>): void {
  if (entry.link === true) return
  const name = (textOf(entry.name) ?? path).toLowerCase()
  found.named.push({ name, from: sourceOf(textOf(entry.resolved)), locked: true })
  const needed = SECTIONS.flatMap((section) => Object.keys(recordOf(entry[section])))
  found.needs.set(name, [...(found.needs.get(name) ?? []), ...needed.map((one) => one.toLowerCase())])
}

const PUBLIC = /^https:\/\/registry\.(npmjs\.org|yarnpkg\.com)\//

/** A registry is named by its host: its address has the version of the package. */
export function sourceOf(resolved: string | null): string | null {
  if (resolved === null || PUBLIC.test(resolved) || LOCAL.test(resolved)) return null
  const registry = /^(https?:\/\/[^/]+)\/.*\/-\/[^/]+\.tgz/.exec(resolved)?.[1]
  return registry ?? withoutVersion(resolved)
}

const withoutVersion = (address: string): string => address.replace(/#.*$/, '')
