/** Tools that put a folder into a package, or copy it: what they take along is published. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { IGNORE_FILE } from '../../git/exclude.ts'
import { type Crawler, mentions, type Project, STATE } from './crawler.ts'

/** `files` of the manifest that begin at the folder itself, and so hold everything. */
const EVERYTHING = /^(\.?\/)?(\*\*?(\/\*\*?)*)?$/

const filesOf = ({ manifest }: Project): string[] | null =>
  Array.isArray(manifest.files) ? manifest.files.map(String) : null

const npm: Crawler = {
  tool: 'npm pack',
  find(project) {
    // A private package is refused by `npm publish`, but is packed all the same. Without state there is nothing to pack.
    if (!project.files.has('package.json') || !project.files.has(STATE)) return null
    const files = filesOf(project)
    const named = files?.some((one) => EVERYTHING.test(one) || mentions(one)) ?? true
    const guarded = existsSync(join(project.folder, STATE, IGNORE_FILE))
    const ignores = ['.npmignore', '.gitignore'].find((name) => project.files.has(name)) ?? null
    const ignored = files === null && ignores !== null && mentions(project.text(ignores))
    return {
      config: 'package.json',
      walks: named && !guarded && !ignored,
      follows_exclude: false,
      why: !named
        ? 'its "files" say what goes into the package'
        : guarded
          ? `it follows ${STATE}/${IGNORE_FILE}`
          : ignored
            ? `${ignores} names the folder`
            : `npm reads .npmignore and .gitignore, and ${STATE}/${IGNORE_FILE} is missing: assay doctor --fix writes it`,
      ignore: { file: '.npmignore', line: `/${STATE}/` },
    }
  },
}

const vsce: Crawler = {
  tool: 'vsce package',
  find(project) {
    const { engines } = project.manifest
    if (typeof engines !== 'object' || engines === null || !('vscode' in engines)) return null
    const files = filesOf(project)
    const named = files?.some((one) => EVERYTHING.test(one) || mentions(one)) ?? true
    const lines = project.text('.vscodeignore').split(/\r?\n/)
    const ignored = lines.some((line) => mentions(line) || /^(\.\*|\*\*)(\/\*\*?)*\/?$/.test(line.trim()))
    return {
      config: project.files.has('.vscodeignore') ? '.vscodeignore' : 'package.json',
      walks: named && !ignored,
      follows_exclude: false,
      why: ignored
        ? '.vscodeignore names the folder'
        : named
          ? 'it takes hidden folders along, and reads .vscodeignore only'
          : 'its "files" say what goes into the package',
      ignore: { file: '.vscodeignore', line: `${STATE}/**` },
    }
  },
}

/** Commands that copy a folder whole; `here`: what stands for the folder itself. */
const HERE = /\s["']?\.\/?["']?(\s|$)/
const COPIES = [
  /\brsync\s/,
  /\btar\s+(-\w*c|c\w*\b|--create)/,
  /\bzip\s+-\w*r/,
  /\bscp\s+-\w*r/,
  /\baws\s+s3\s+(sync|cp)\b/,
  /\bgsutil\b.*\brsync\b/,
]
/** rsync can be told to read the files named .gitignore in every folder; tar can, too. */
const FOLLOWS = /:-\s*\.gitignore|--exclude-vcs-ignores|--exclude[= ]["']?\.\*/

const copies: Crawler = {
  tool: 'copy',
  find(project) {
    const lines = project.scripts.split('\n')
    const all = lines.filter((line) => HERE.test(line) && COPIES.some((one) => one.test(line)))
    const bad = all.find((line) => !mentions(line) && !FOLLOWS.test(line))
    const shown = bad ?? all[0]
    if (shown === undefined) return null
    const config = project.text('Makefile').includes(shown)
      ? 'Makefile'
      : project.text('justfile').includes(shown)
        ? 'justfile'
        : 'package.json'
    return {
      config,
      walks: bad !== undefined,
      follows_exclude: false,
      why:
        bad === undefined
          ? 'its command leaves the folder out'
          : `this command copies the whole folder: ${shown.trim().slice(0, 200)}`,
      ignore: { file: config, line: `--exclude=/${STATE}` },
    }
  },
}

export const PACKERS: readonly Crawler[] = [npm, vsce, copies]
