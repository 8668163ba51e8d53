/** What decides a measurement and may be changed by a candidate, as far as imports tell. Pure. */
import { looksLikeTest } from '../../evaluate/tests-gone.ts'
import type { Area } from '../../spec/rules.ts'
import { LOADING, NODE_TESTS, TEST_RUNNERS, TOOLS, type Tool } from './configs.ts'
import type { Link, SourceFile, Sources } from './sources.ts'

/**
 * `program`: a program that a command of the spec starts. `helper`: what such a program loads from its own folder.
 * `config`: what a test runner or a build tool reads by itself. `tests`: what a gate runs as its tests. `environment`: a
 * variable that makes programs load code of the candidate. `in_process`: code of the candidate in the process that
 * measures it.
 */
export type ExposureKind = 'program' | 'helper' | 'config' | 'tests' | 'environment' | 'in_process'

export interface Exposure {
  kind: ExposureKind
  /** `path` or `path:line`, from the root of the repository. */
  at: string
  message: string
}

/** One command that decides: the measurement, its scorer, or a gate. */
export interface Judge {
  /** `measure.command`, `gate unit`. */
  name: string
  command: string
  /** Where it runs, from the root of the repository; `''` is the root itself. */
  folder: string
  /** Whether it measures in its own process, so that nothing of a candidate should run there. A gate may. */
  measures: boolean
  sources: Sources
}

/**
 * At most one of each kind for each command. `paths`: every file of the base. `variables`: what the spec gives to all
 * commands, with values.
 */
export function exposuresOf(
  judges: readonly Judge[],
  areaOf: (path: string) => Area,
  paths: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Exposure[] {
  const open = (path: string) => areaOf(path) === 'mutable'
  const found = judges.flatMap((judge) => {
    const { programs, helpers, foreign } = follow(judge, open)
    const { tool, files } = configsOf(judge, paths, (path) => open(path) && !programs.includes(path))
    const tests = judge.measures ? [] : testsOf(judge, paths).filter(open)
    return [
      ...one('program', programs, (path) => ({
        at: path,
        message: `${judge.name} starts ${path}, and a candidate may change it: add it to scope.immutable`,
      })),
      ...all('config', files, (path, others) => ({
        at: path,
        message: `${judge.name} runs ${tool}, which obeys ${path}${others}, and a candidate may change or add it: add it to scope.immutable`,
      })),
      ...all('tests', tests, (path, others) => ({
        at: path,
        message: `${judge.name} runs the tests in ${path}${others}, and a candidate may change, skip or delete them: add them to scope.immutable`,
      })),
      ...one(
        'environment',
        loadedBy({ ...variables, ...assignedIn(judge.command) }, judge, open, paths),
        (hit) => ({
          at: hit.variable,
          message: `${hit.variable}=${hit.value} names what a candidate may change: ${hit.by} loads ${hit.file} from there into every process of ${judge.name}. Set it for the child that runs the candidate only (assay guide integrity)`,
        }),
      ),
      ...one('helper', helpers, ({ from, line, to }) => ({
        at: `${from}:${line}`,
        message: `${from}:${line} loads ${to}, which a candidate may change: if it is part of the benchmark, add it to scope.immutable`,
      })),
      ...one('in_process', judge.measures ? foreign : [], ({ from, line, to }) => ({
        at: `${from}:${line}`,
        message: `${from}:${line} loads ${to}, which a candidate may change, into the process that measures: there it could patch the clock or print the result. Run it in a child and time that from outside (assay guide integrity)`,
      })),
    ]
  })
  // A variable that the spec sets is the same for each command.
  return found.filter(
    ({ kind, at }, index) =>
      kind !== 'environment' || found.findIndex((other) => other.kind === kind && other.at === at) === index,
  )
}

const SHOWN = 4

/** As `one`, with the names of the others. */
function all(
  kind: ExposureKind,
  paths: readonly string[],
  tell: (first: string, others: string) => Omit<Exposure, 'kind'>,
): Exposure[] {
  const [first, ...rest] = paths
  if (first === undefined) return []
  const named = rest.slice(0, SHOWN - 1).map((path) => `, ${path}`)
  const more = rest.length - named.length
  return [{ kind, ...tell(first, `${named.join('')}${more === 0 ? '' : ` and ${more} more`}`) }]
}

function one<T>(
  kind: ExposureKind,
  found: readonly T[],
  tell: (first: T) => Omit<Exposure, 'kind'>,
): Exposure[] {
  const [first] = found
  if (first === undefined) return []
  const { at, message } = tell(first)
  const more = found.length - 1
  return [{ kind, at, message: more === 0 ? message : `${message} (and ${more} more like it)` }]
}

interface Loaded extends Link {
  from: string
}

/** From the programs through all that no candidate may change, as long as it runs in a process that measures. */
function follow({ sources }: Judge, open: (path: string) => boolean) {
  const files = new Map(sources.files.map((file) => [file.path, file]))
  const programs = sources.entries.filter(open)
  const helpers: Loaded[] = []
  const foreign: Loaded[] = []
  const queue = sources.entries.filter((path) => !open(path))
  const seen = new Set(queue)
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const link of files.get(path)?.links ?? []) {
      if (seen.has(link.to) || !staysInside(files.get(path), link)) continue
      seen.add(link.to)
      const loaded = { ...link, from: path }
      if (!open(link.to)) queue.push(link.to)
      else if (link.how === 'loads') (isBeside(loaded) ? helpers : foreign).push(loaded)
    }
  }
  return { programs, helpers, foreign }
}

/** What a shell script starts does its work; what a program starts is a child that it can time from outside. */
const staysInside = (file: SourceFile | undefined, { how }: Link): boolean =>
  how === 'loads' || file?.language === 'shell'

/** In the folder of the file that loads it, or below; the root of a repository is nobody's own folder. */
function isBeside({ from, to }: Loaded): boolean {
  const folder = folderOf(from)
  return folder !== '' && to.startsWith(`${folder}/`)
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The command, and what it runs by name: scripts of a package.json, a Makefile, shell scripts. */
const textOf = ({ command, sources }: Judge): string =>
  [
    command,
    ...sources.files.flatMap(({ path, text, language }) =>
      language === 'shell' || path.endsWith('package.json') ? [text] : [],
    ),
  ].join('\n')

interface Told {
  /** The paths that the command names, without a slash at the end. */
  told: string[]
  /** Those, or the folder in which it runs: where it looks for more. */
  roots: string[]
}

/** Of the simple commands that call the program, or of all when a script does. */
function toldTo({ command, folder }: Judge, paths: readonly string[], program: RegExp): Told {
  const simple = command.split(/&&|\|\||[;|\n]/).filter((one) => program.test(one))
  const below = (inner: string) => (folder === '' ? inner : `${folder}/${inner}`)
  const told = (simple.length > 0 ? simple.join('\n') : command)
    .split(/[\s'"]+/)
    .map((word) => below(word.replace(/::.*$|\/+$/g, '').replace(/^\.\//, '')))
    .filter((path) => paths.some((known) => known === path || known.startsWith(`${path}/`)))
  return { told, roots: told.length > 0 ? told : [folder] }
}

const isBelow = (path: string, root: string): boolean =>
  root === '' || path === root || path.startsWith(`${root}/`)

/** What its tools read on their way from the root to what they are told to run; files that exist come first. */
function configsOf(
  judge: Judge,
  paths: readonly string[],
  open: (path: string) => boolean,
): { tool: string; files: string[] } {
  const text = textOf(judge)
  const read = TOOLS.filter(({ mentioned }) => mentioned.test(text)).flatMap((tool) => {
    const { told, roots } = toldTo(judge, paths, tool.mentioned)
    const folders = new Set(['', judge.folder, ...told.flatMap(ancestors)])
    const existing = tool.reads.flatMap((name) =>
      paths.filter((path) => {
        const onTheWay = folders.has(folderOf(path))
        const deep = (tool.deep ?? tool.reads).includes(name) && roots.some((root) => isBelow(path, root))
        return open(path) && (onTheWay || deep) && isRead(name, path)
      }),
    )
    const addable = [...(tool.deep ? folders : new Set(['', judge.folder]))].flatMap((one) =>
      tool.reads.flatMap((name) => (typeof name === 'string' ? [one === '' ? name : `${one}/${name}`] : [])),
    )
    return [...existing, ...addable.filter(open)].map((path) => ({
      path,
      tool: tool.name,
      exists: paths.includes(path),
    }))
  })
  const sorted = [...read.filter(({ exists }) => exists), ...read.filter(({ exists }) => !exists)]
  return { tool: sorted[0]?.tool ?? '', files: [...new Set(sorted.map(({ path }) => path))] }
}

const isRead = (name: Tool['reads'][number], path: string): boolean =>
  typeof name === 'string' ? `/${path}`.endsWith(`/${name}`) : name.test(path)

const ancestors = (path: string): string[] => {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** The tests that a gate runs: below what it is told, all that look like tests, or else what it is told itself. */
function testsOf(judge: Judge, paths: readonly string[]): string[] {
  const text = textOf(judge)
  const runner = [TEST_RUNNERS, NODE_TESTS].find((one) => one.test(text))
  if (!runner) return []
  const { told, roots } = toldTo(judge, paths, runner)
  const own = paths.filter((path) => roots.some((root) => isBelow(path, root)))
  const tests = own.filter(looksLikeTest)
  return tests.length > 0 || told.length === 0 ? tests : own
}

/** `NAME=value` in front of the programs of a command line. */
const assignedIn = (command: string): Record<string, string> =>
  Object.fromEntries(
    [...command.matchAll(/(?:^|[\s;&|('"])([A-Z][A-Z0-9_]*)=("[^"]*"|'[^']*'|[^\s;&|]*)/g)].map(
      ([, name = '', value = '']) => [name, value.replace(/^(['"])(.*)\1$/, '$2')],
    ),
  )

interface LoadedFrom {
  variable: string
  value: string
  by: string
  file: string
}

/** Variables by which a program would load a file that a candidate may change or add. */
function loadedBy(
  variables: Readonly<Record<string, string>>,
  { folder }: Judge,
  open: (path: string) => boolean,
  paths: readonly string[],
): LoadedFrom[] {
  return Object.entries(LOADING).flatMap(([variable, { by, file }]) => {
    for (const part of (variables[variable] ?? '').split(/[\s:;,=]+/)) {
      const path = insideOf(folder, part)
      if (path === null) continue
      const added = file === '' ? null : path === '' ? file : `${path}/${file}`
      const existing = paths.find((known) => isBelow(known, path) && open(known))
      const loaded = added !== null && open(added) ? added : existing
      if (loaded !== undefined) return [{ variable, value: part, by, file: loaded }]
    }
    return []
  })
}

/** A relative path from the root of the repository; null for what leads out of it, and for options. */
function insideOf(folder: string, part: string): string | null {
  const plain = part.replace(/^-[Ir]/, '').replace(/^\$\{?PWD\}?\//, '')
  if (plain === '' || /^[-/~$]/.test(plain)) return null
  const parts: string[] = folder === '' ? [] : folder.split('/')
  for (const name of plain.split('/')) {
    if (name === '..') {
      if (parts.pop() === undefined) return null
    } else if (name !== '' && name !== '.') parts.push(name)
  }
  return parts.join('/')
}
