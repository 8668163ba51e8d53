/** Folders of the home folder in which package managers keep what they fetched, beside `~/.cache`. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** Each with the text by which the output of a package manager that could not write there names it. */
const STORES: readonly { store: string; named: string }[] = [
  '.bun/install/cache',
  '.bundle',
  '.cabal',
  '.cargo/git',
  '.cargo/registry',
  '.composer',
  '.conda/pkgs',
  '.gem',
  '.gradle',
  '.hex',
  '.ivy2',
  '.julia',
  '.local/share/gem',
  '.local/share/pnpm',
  '.local/share/virtualenv',
  '.m2/repository',
  '.mix',
  '.npm',
  '.nuget',
  '.pub-cache',
  '.sbt',
  '.stack',
  '.yarn',
]
  .map((store) => ({ store, named: store }))
  .concat([{ store: 'go/pkg', named: 'go' }])

export const PACKAGE_STORES: readonly string[] = STORES.map(({ store }) => store)

/** The stores of this home folder that an output names. Those that are not there yet are made, empty, to be mounted on. */
export function storesNamedIn(output: string, home: string): string[] {
  return STORES.filter(({ store, named }) => {
    const path = join(home, named)
    const found = output.split(path).slice(1)
    return found.some((after) => !/^[\w.-]/.test(after)) && canBeThere(join(home, store))
  }).map(({ store }) => store)
}

function canBeThere(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true })
    return true
  } catch {
    return false
  }
}
