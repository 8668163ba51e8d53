/** What the importer of a format is given, and what it answers. */

/** One key of the file: what it became, or why it has no equal. */
export interface Mapping {
  from: string
  /** The key of the spec; null = there is none. */
  to: string | null
  /** Why it has no equal, or what is different; null = nothing is. */
  why: string | null
}

/** What the importer of a format answers. Members that are undefined are left out of the written spec. */
export interface Mapped {
  spec: Record<string, unknown>
  lines: Mapping[]
  /** Texts that the run begins with in the place of those that are there: versions of earlier runs of the suite. Absent = none. */
  pins?: Pin[]
  /** The name of the suite, of which `pins` are versions. */
  suite?: string
}

export interface Pin {
  artifact: string
  /** Relative to the folder of the spec. */
  file: string
  /** From 1. */
  version: number
}

/** The folder from which the paths of the imported file count, and in which its spec will lie. */
export interface ImportFolder {
  /** The name of the file itself. */
  file: string
  has(name: string): boolean
  isFolder(path: string): boolean
}

/** Where that is: the folder of the file, or the root of the repository. */
export type Base = 'folder' | 'root'
