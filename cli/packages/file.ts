/** What a file that names packages says. */

export interface NamedPackage {
  /** As the tools of its language compare names. */
  name: string
  /** The address or the other registry that it comes from; null = from the public registry of its language. */
  from: string | null
  /** A lock file names it because other packages need it. */
  locked?: true
}

export interface PackageFile {
  named: NamedPackage[]
  /** Of a lock file that says it: package → the packages that it needs. */
  needs?: Map<string, string[]>
}

/** Throws when the text cannot be read. */
export type ReadPackages = (text: string) => PackageFile

export const itemsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
