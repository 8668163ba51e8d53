/** The lock file and the workspace file of pnpm. */
import { parse } from 'yaml'
import { type JsonObject, recordOf } from '../json.ts'
import { type PackageFile, type ReadPackages, textOf } from './file.ts'
import { inSections, overrides, packagesWantedIn, sourceOf } from './npm.ts'

/** Keys are `a@1.0.0` and `@scope/a@1.0.0(peer@2)`, in older versions `/a@1.0.0` or `/a/1.0.0`. */
const KEY = /^\/?((?:@[^/@]+\/)?[^/@]+)[@/]/

export const readPnpmLock: ReadPackages = (text) => {
  const lock = recordOf(parse(text))
  const found: Required<PackageFile> = { named: [], needs: new Map() }
  for (const [key, one] of Object.entries(recordOf(lock.packages))) {
    const entry = recordOf(one)
    const name = (textOf(entry.name) ?? KEY.exec(key)?.[1] ?? key).toLowerCase()
    const { tarball, repo, directory } = recordOf(entry.resolution)
    if (directory !== undefined) continue
    found.named.push({ name, from: textOf(repo) ?? sourceOf(textOf(tarball)), locked: true })
    note(found.needs, name, entry)
  }
  for (const [key, one] of Object.entries(recordOf(lock.snapshots)))
    note(found.needs, (KEY.exec(key)?.[1] ?? key).toLowerCase(), recordOf(one))
  return found
}

function note(needs: Map<string, string[]>, name: string, entry: JsonObject): void {
  const needed = [entry.dependencies, entry.optionalDependencies].flatMap((section) =>
    Object.entries(recordOf(section)).map(
      // Under another name.
      ([as, version]) => /^\/?((?:@[^/@]+\/)?[^/@\d][^/@]*)[@/]/.exec(textOf(version) ?? '')?.[1] ?? as,
    ),
  )
  needs.set(name, [...(needs.get(name) ?? []), ...needed.map((one) => one.toLowerCase())])
}

/** pnpm-workspace.yaml: catalogues, and what may stand in `pnpm` of package.json as well. */
export const readPnpmWorkspace: ReadPackages = (text) => {
  const file = recordOf(parse(text))
  const catalogues = [file.catalog, ...Object.values(recordOf(file.catalogs)), file.configDependencies]
  return {
    named: [
      ...catalogues.flatMap((section) => packagesWantedIn(recordOf(section))),
      ...overrides(recordOf(file.overrides)),
      ...Object.values(recordOf(file.packageExtensions)).flatMap((one) => inSections(recordOf(one))),
      ...Object.values(recordOf(file.registries)).flatMap((one) => ({
        name: `registry ${textOf(one)}`,
        from: null,
      })),
    ],
  }
}
