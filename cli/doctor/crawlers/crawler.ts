/** A folder as tools that look for their configuration see it. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../files.ts'
import { objectIn, recordOf } from '../../json.ts'
import { STATE_FOLDER } from '../../paths.ts'

// ---------------------------------------------------------------- A folder as tools that look for their configuration see it

export interface Project {
  folder: string
  /** Names in the folder. */
  files: ReadonlySet<string>
  /** Text of one of them, at most 256 KiB; empty when there is none. */
  text(name: string): string
  /** `package.json`; empty when there is none or it is broken. */
  manifest: Record<string, unknown>
  /** Names of packages that the manifest asks for. */
  packages: ReadonlySet<string>
  /** The command lines of package.json and of a Makefile, one a line. */
  scripts: string
}

const MOST_BYTES = 256 * 1024

export function readProject(folder: string): Project {
  const files = new Set(namesIn(folder))
  const text = (name: string): string => (files.has(name) ? readText(join(folder, name)) : '')
  const manifest = objectIn(text('package.json')) ?? {}
  const packages = new Set(
    ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'].flatMap((key) =>
      Object.keys(recordOf(manifest[key])),
    ),
  )
  const scripts = [
    ...Object.values(recordOf(manifest.scripts)).map(String),
    text('Makefile'),
    text('justfile'),
  ].join('\n')
  return { folder, files, text, manifest, packages, scripts }
}

/** The first name that the folder has. */
export const firstFile = (project: Project, names: readonly string[]): string | null =>
  names.find((name) => project.files.has(name)) ?? null

/** `jest.config` → with every ending that such files have. */
export const withEndings = (stem: string): string[] =>
  ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.json'].map((ending) => stem + ending)

/** One table of a TOML or INI file, without comments; empty when there is none. */
export function section(text: string, name: string): string {
  const lines = text.split(/\r?\n/)
  const start = lines.findIndex((line) => line.trim() === `[${name}]`)
  if (start === -1) return ''
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^\s*\[[^\]]+\]\s*$/.test(line))
  return rest
    .slice(0, end === -1 ? undefined : end)
    .filter((line) => !/^\s*[#;]/.test(line))
    .join('\n')
}

function readText(file: string): string {
  try {
    return statSync(file).size > MOST_BYTES ? '' : readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** What is known of one tool in one folder. */
export interface Crawling {
  /** The file by which it was noticed. */
  config: string
  /** Whether it would go into the state folder; null: it depends on what this cannot see. */
  walks: boolean | null
  /** Whether it leaves out what `.git/info/exclude` names; null: not known for certain. */
  follows_exclude: boolean | null
  why: string
  /** What to write, and where. The folder is anchored to the root: worktrees of experiments lie below it. */
  ignore: { file: string; line: string }
}

export interface Crawler {
  tool: string
  /** null when the folder does not use the tool. */
  find(project: Project): Crawling | null
}

/** The name of the state folder, for lines that are shown to people. */
export const STATE = STATE_FOLDER

/** Whether a text that configures a tool speaks of the folder. A comment that names it counts as well. */
export const mentions = (text: string): boolean => text.includes(STATE_FOLDER)
