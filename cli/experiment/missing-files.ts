/** Files that a failing benchmark wanted, that the user has and the base has not. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, normalize, relative } from 'node:path'
import { listTree } from '../git/files.ts'
import { ignoredAmong } from '../git/ignored.ts'
import { STATE_FOLDER } from '../paths.ts'
import type { OpenRun } from '../run/open.ts'

export interface MissingFiles {
  cause: 'not_committed' | 'ignored_file'
  hint: string
  data: { paths: string[] }
}

const COMPLAINT =
  /no such file|ENOENT|FileNotFound|cannot (?:find|open|access|stat)|can't (?:find|open)|could not (?:find|open|read)|not found|does not exist|unable to (?:open|read)/i
/** What a path may look like in a message: quoted, or up to a space or colon. */
const WORDS = /'([^'\n]+)'|"([^"\n]+)"|`([^`\n]+)`|([^\s'"`:,;()[\]<>]+)/g
const MOST = 5

/** Looks at the commands of the spec and at what was printed; null when nothing that exists was asked for. */
export async function missingFiles(run: OpenRun, said: string): Promise<MissingFiles | null> {
  const tree = await listTree(run.site, run.started.base.tree)
  if (!tree.ok) return null
  const onBase = new Set<string>()
  for (const { path } of tree.value) {
    for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1)) onBase.add(path.slice(0, at))
  }
  const complaints = said.split('\n').filter((line) => COMPLAINT.test(line))
  const words = [
    ...commandsOf(run)
      .flatMap(wordsOf)
      .filter((word) => /[./]/.test(word)),
    ...complaints.flatMap((line) => [...wordsOf(line), ...modulesIn(line)]),
  ]
  const found = new Set<string>()
  for (const word of words) {
    const path = inCheckout(run, word)
    if (path !== null && !onBase.has(path)) found.add(path)
  }
  const paths = [...found].slice(0, MOST)
  if (paths.length === 0) return null
  const ignored = await ignoredAmong(run.started.checkout, paths)
  if (!ignored.ok) return null
  const hidden = paths.filter((path) => ignored.value.has(path))
  const open = paths.filter((path) => !ignored.value.has(path))
  return open.length > 0 ? notCommitted(open) : ignoredFile(run, hidden, onBase)
}

const notCommitted = (paths: string[]): MissingFiles => ({
  cause: 'not_committed',
  hint: `${paths.join(', ')} ${paths.length === 1 ? 'is' : 'are'} in your checkout but not committed: commit ${paths.length === 1 ? 'it' : 'them'}, or take the working tree as it is: assay init --include-dirty`,
  data: { paths },
})

function ignoredFile(run: OpenRun, paths: string[], onBase: ReadonlySet<string>): MissingFiles {
  const globs = paths.map((path) => (path.includes('node_modules/') ? null : globFor(run, path, onBase)))
  const data = [...new Set([...run.spec.worktree.data, ...globs.filter((one) => one !== null)])]
  return {
    cause: 'ignored_file',
    hint: `git ignores ${paths.join(', ')}, which the benchmark wants: ${
      globs.includes(null)
        ? 'install packages with worktree.setup: { command: npm ci, inputs: [package-lock.json] }'
        : `add to assay.yaml: worktree.data: [${data.map((glob) => JSON.stringify(glob)).join(', ')}]; or let worktree.setup make it`
    }`,
    data: { paths },
  }
}

/** The whole folder, when the base has nothing of it: who wants one file of it wants the others too. */
function globFor(run: OpenRun, path: string, onBase: ReadonlySet<string>): string {
  const parts = path.split('/')
  const own = parts.findIndex((_, at) => !onBase.has(parts.slice(0, at + 1).join('/')))
  const place = parts.slice(0, own + 1).join('/')
  const isFolder = statSync(join(run.started.checkout, place)).isDirectory()
  return `${relative(run.started.prefix, place)}${isFolder ? '/**' : ''}`
}

function commandsOf({ spec }: OpenRun): string[] {
  const { setup, build } = spec.worktree
  const { command, before, score } = spec.measure
  const commands = [setup?.command, build?.command, command, before?.command, score?.command]
  commands.push(...spec.gates.map((gate) => gate.command))
  return commands.flatMap((one) => (one === undefined ? [] : [one].flat()))
}

const wordsOf = (text: string): string[] =>
  [...text.matchAll(WORDS)].flatMap(([, ...groups]) => groups.filter((group) => group !== undefined))

/** Node says only the name of a package that it does not find. */
const modulesIn = (line: string): string[] =>
  [...line.matchAll(/Cannot find (?:module|package) '((?:@[\w.-]+\/)?\w[\w.-]*)/g)].map(
    ([, name]) => `node_modules/${name}`,
  )

/** From the root of the repository, when the user's checkout has something there. */
function inCheckout(run: OpenRun, word: string): string | null {
  const { checkout, prefix } = run.started
  if (word.length > 500 || word === '.' || word.startsWith('-')) return null
  const inside = below(word, checkout)
  const places =
    inside !== null ? [inside] : [join(prefix, run.spec.measure.directory, word), join(prefix, word)]
  for (const place of places) {
    const path = normalize(place)
    if (
      path.startsWith('..') ||
      path === '.' ||
      path.split('/').some((part) => part === '.git' || part === STATE_FOLDER)
    )
      continue
    if (existsSync(join(checkout, path))) return path.replace(/\/$/, '')
  }
  return null
}

/** An absolute path in a measurement checkout, or in the user's own, from the root of the repository. */
function below(word: string, checkout: string): string | null {
  if (!isAbsolute(word)) return null
  const slot = /\/\.assay\/m\/\d+\/[ab]\/(.+)$/.exec(word)?.[1]
  if (slot !== undefined) return slot
  const path = relative(realpathSync(checkout), word)
  return path.startsWith('..') ? '../outside' : path
}
