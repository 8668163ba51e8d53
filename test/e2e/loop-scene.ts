import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { splitLines } from '../../cli/ledger/append.ts'
import type { Event, EventType } from '../../cli/ledger/events.ts'
import { assay, dataOf, type Ran, type Running, startAssay } from '../rig/assay.ts'
import { type Files, makeRepo, type Repo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'

export const RUN = 'run_0001'

/** What `assay loop --json` answers. */
export interface LoopData {
  rounds: number
  stop: string | null
  best: { experiment: string; value: number } | null
  baseline: { experiment: string; value: number } | null
  counts: Record<string, number>
  knobs: Record<string, unknown>
  edits: unknown[]
  alerts: unknown[]
  stops: unknown[]
  usage: { agents: number; output_tokens: number; looks: number }
}

export interface Scene {
  repo: Repo
  /** Events of the ledger's whole lines, in order. */
  events: () => Event[]
  eventsOf: <T extends EventType>(type: T) => Extract<Event, { type: T }>[]
  /** Resolves once the ledger holds an event like this. */
  happened: (what: string, like: (event: Event) => boolean) => Promise<void>
  loop: (...args: string[]) => Promise<Ran<LoopData>>
  startLoop: (...args: string[]) => Running<LoopData>
  cli: <T = unknown>(args: string[], input?: unknown) => Promise<Ran<T>>
  /** A file of a sealed candidate. */
  show: (commit: string, path: string) => string
}

/** A repository whose run has a measured baseline. `spec` is what the tests vary; JSON is YAML too. */
export async function openScene(files: Files, spec: object, flags: string[] = []): Promise<Scene> {
  const repo = makeRepo({ files: { ...files, 'assay.yaml': `${JSON.stringify(spec, null, 2)}\n` } })
  const scene = sceneOf(repo)
  dataOf(await scene.cli(['init', ...flags]))
  return scene
}

export function sceneOf(repo: Repo): Scene {
  const folder = repo.path('.assay', 'runs', RUN)
  const events = () => {
    const file = join(folder, 'ledger.jsonl')
    if (!existsSync(file)) return []
    return splitLines(readFileSync(file), 0).flatMap(({ value }) => {
      if (value === null) throw new Error(`a line of ${file} cannot be read`)
      // What a killed writer left unfinished is cancelled, and counts for nobody.
      return Object.keys(value).length === 0 ? [] : [value as unknown as Event]
    })
  }
  const startLoop = (...args: string[]) => startAssay<LoopData>(['loop', ...args], { cwd: repo.dir })
  return {
    repo,
    events,
    eventsOf: <T extends EventType>(type: T) =>
      events().filter((event): event is Extract<Event, { type: T }> => event.type === type),
    happened: (what, like) => until(() => events().some(like), { what, dir: folder }),
    loop: (...args) => startLoop('--json', ...args).ended,
    startLoop,
    cli: (args, input) =>
      assay([...args, '--json'], {
        cwd: repo.dir,
        ...(input === undefined ? {} : { input: typeof input === 'string' ? input : JSON.stringify(input) }),
      }),
    show: (commit, path) =>
      execFileSync('git', ['--git-dir', repo.path('.assay', '.git'), 'show', `${commit}:${path}`], {
        env: repo.env,
        encoding: 'utf8',
      }),
  }
}

const BOWL = `import { readFileSync } from 'node:fs'
const { x, y } = JSON.parse(readFileSync('src/params.json', 'utf8'))
console.log('METRIC cost=' + (Math.abs(x - 37) + 2 * Math.abs(y - 11) + 1))
`

export const tuneFiles: Files = {
  'src/params.json': '{"x": 90, "y": 70}\n',
  'bench/run.mjs': BOWL,
}

const parameter = (name: string) => ({ file: 'src/params.json', pointer: `/${name}`, min: 0, max: 100 })

/** A bowl of two numbers with its floor, 1, at (37, 11). */
export const tuneSpec = ({
  loop = {},
  budget = { experiments: 12 },
  seed = 1,
  ...rest
}: TuneOptions = {}) => ({
  version: 1,
  name: 'bowl',
  goal: 'Find the floor of the bowl.',
  scope: { mutable: ['src/**'], immutable: ['bench/**'] },
  measure: { command: [process.execPath, 'bench/run.mjs'] },
  metric: { name: 'cost', direction: 'minimize' },
  noise: { mode: 'deterministic', calibrate: 2 },
  search: { policy: 'argmax', k: 2, seed },
  loop: { width: 2, depth: 2, stall: 3, ...loop },
  budget,
  agent: { host: 'tune', tune: { parameters: [parameter('x'), parameter('y')] } },
  ...rest,
})

export interface TuneOptions {
  loop?: object
  budget?: object
  seed?: number
  [key: string]: unknown
}

/** The tree by what its candidates are, since ids depend on which lane was quicker. */
export function candidatesIn(scene: Scene, file = 'src/params.json'): string[] {
  const parameters = new Map<string, string>()
  const parents = new Map<string, string | null>()
  for (const event of scene.events()) {
    if (event.type === 'created') parents.set(event.experiment, event.parent)
    if (event.type === 'sealed')
      parameters.set(event.experiment, JSON.stringify(JSON.parse(scene.show(event.commit, file))))
  }
  const path = (id: string | null): string =>
    id === null ? '' : `${path(parents.get(id) ?? null)}/${parameters.get(id) ?? 'not sealed'}`
  return scene
    .eventsOf('judged')
    .map(({ experiment, value, status, reason }) => `${path(experiment)} ${value} ${status} ${reason}`)
    .sort()
}

/** Processes that work in the folder, name it on their command line, or carry it in a variable of ours. */
export function processesIn(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
        const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
        const carries = variables.some((one) => /^ASSAY_[A-Z_]+=/.test(one) && one.includes(folder))
        const works = carries || line.includes(folder) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
        return works && line !== '' ? [`${pid} ${line}`] : []
      } catch {
        // It has ended, or is not ours to read.
        return []
      }
    })
}

/** Lines that a scripted host wrote with \`appendFileSync\` to a file of the test. */
export function notebook(): { file: string; lines: () => string[] } {
  const file = join(makeTemp('notes'), 'notes.txt')
  return {
    file,
    lines: () =>
      existsSync(file)
        ? readFileSync(file, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
        : [],
  }
}
