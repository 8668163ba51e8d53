/** What decides a measurement and may be changed by a candidate, as far as imports tell. Pure. */
import type { Area } from '../../spec/rules.ts'
import type { Link, SourceFile, Sources } from './sources.ts'

/**
 * `program`: a program that a command of the spec starts. `helper`: what such a program loads from its own folder.
 * `config`: what a test runner reads by itself. `in_process`: code of the candidate in the process that measures it.
 */
export type ExposureKind = 'program' | 'helper' | 'config' | 'in_process'

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

const CONFIGS = ['conftest.py', 'pytest.ini', 'pyproject.toml', 'tox.ini', 'setup.cfg']

/** At most one of each kind for each command. `paths`: every file of the base. */
export function exposuresOf(
  judges: readonly Judge[],
  areaOf: (path: string) => Area,
  paths: readonly string[],
): Exposure[] {
  const open = (path: string) => areaOf(path) === 'mutable'
  return judges.flatMap((judge) => {
    const { programs, helpers, foreign } = follow(judge, open)
    const configs = configsOf(judge, paths).filter(open)
    return [
      ...one('program', programs, (path) => ({
        at: path,
        message: `${judge.name} starts ${path}, and a candidate may change it: add it to scope.immutable`,
      })),
      ...one('config', configs, (path) => ({
        at: path,
        message: `${judge.name} runs pytest, which obeys ${path}, and a candidate may change or add it: add it to scope.immutable`,
      })),
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

/** What pytest reads on its way from the root to what it is told to run. */
function configsOf({ command, folder }: Judge, paths: readonly string[]): string[] {
  if (!/\bpytest\b|\bpy\.test\b/.test(command)) return []
  const below = (inner: string) => (folder === '' ? inner : `${folder}/${inner}`)
  const told = command
    .split(/[\s'"]+/)
    .map((word) => below(word.replace(/::.*$|\/+$/g, '').replace(/^\.\//, '')))
    .filter((path) => paths.some((known) => known === path || known.startsWith(`${path}/`)))
  const roots = told.length > 0 ? told : [folder]
  const folders = new Set(['', folder, ...told.flatMap(ancestors)])
  const onTheWay = [...folders].flatMap((one) =>
    CONFIGS.map((name) => (one === '' ? name : `${one}/${name}`)),
  )
  const deeper = paths.filter(
    (path) =>
      /(^|\/)conftest\.py$/.test(path) && roots.some((root) => root === '' || path.startsWith(`${root}/`)),
  )
  return [...new Set([...deeper, ...onTheWay])]
}

const ancestors = (path: string): string[] => {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
