/** The data of the page: from the blocks of the file, or from the server, with its stream. One store for both. */
import { computed, signal } from '@preact/signals'
import { type Action, shellLineOf } from '../cli/view/page-actions.ts'
import type {
  PackedRow,
  PageDiff,
  PageHead,
  PageNode,
  PageNow,
  PagePatch,
  PageRow,
  PageRunLine,
} from '../cli/view/page-model.ts'
import { unpackRow } from '../cli/view/page-model.ts'
import { runName, token } from './route.ts'

export const head = signal<PageHead | null>(null)
export const now = signal<PageNow | null>(null)
export const runs = signal<readonly PageRunLine[]>([])
/** In order of creation. A new map's identity is not what tells a change: `rowsVersion` is. */
export const rows = new Map<string, PageRow>()
export const rowsVersion = signal(0)
export const trouble = signal<string | null>(null)
/** `file`: there is no server; `lost`: there was one. */
export const connection = signal<'file' | 'connecting' | 'live' | 'lost'>('connecting')
export const lostAt = signal<number | null>(null)
const acts = signal(false)
export const mayAct = computed(() => acts.value && token.value !== null && connection.value === 'live')

/** Why a person wants it as a parent; undefined = nobody does. */
export const pinOf = (id: string): NonNullable<PageHead['pins']>[number] | undefined =>
  head.value?.pins?.find(({ experiment }) => experiment === id)

const blocks = [...document.querySelectorAll<HTMLScriptElement>('script[type="application/json"]')]
const blocksOf = (kind: string): unknown[] =>
  blocks
    .filter((block) => block.dataset.kind === kind)
    .map((block) => JSON.parse(block.textContent ?? 'null'))
const isFile = blocks.length > 0

/** Details of single experiments: kept as they come, since a sealed tree does not change. */
const nodes = new Map<string, { at: number; found: Promise<PageNode | null> }>()
const patches = new Map<string, Promise<PagePatch>>()

function take(packed: readonly PackedRow[]): void {
  for (const one of packed) {
    const row = unpackRow(one)
    rows.set(row.experiment, row)
    nodes.delete(row.experiment)
  }
  rowsVersion.value++
}

export function start(): void {
  if (isFile) {
    startFile()
    return
  }
  void follow()
  runName.subscribe(() => void follow())
}

// ---------------------------------------------------------------- a file

let inFile: {
  nodes: Record<string, PageNode>
  patches: Record<string, PagePatch>
  diffs: Record<string, PageDiff>
} = {
  nodes: {},
  patches: {},
  diffs: {},
}

function startFile(): void {
  const [first] = blocksOf('head') as { head: PageHead; runs: PageRunLine[] }[]
  if (!first) throw new Error('the file has no data')
  for (const packed of blocksOf('rows') as PackedRow[][]) take(packed)
  const [details] = blocksOf('nodes') as (typeof inFile.nodes)[]
  const [more] = blocksOf('patches') as Pick<typeof inFile, 'patches' | 'diffs'>[]
  inFile = { nodes: details ?? {}, patches: more?.patches ?? {}, diffs: more?.diffs ?? {} }
  runs.value = first.runs
  head.value = first.head
  connection.value = 'file'
}

// ---------------------------------------------------------------- a server

interface Failed {
  problem: { message: string; hint?: string }
}

async function get<T>(path: string): Promise<T> {
  const response = await fetch(path)
  const value = (await response.json()) as T & Partial<Failed>
  if (value.problem) throw new Error([value.problem.message, value.problem.hint].filter(Boolean).join('; '))
  return value
}

/** Which run is followed; a new one ends the stream of the last. */
let followed: { run: string; stream: EventSource | null } | null = null
const AGAIN_MS = 1000

async function follow(): Promise<void> {
  try {
    const list = await get<{ runs: PageRunLine[]; acts: boolean }>('/api/runs')
    runs.value = list.runs
    acts.value = list.acts
    const wanted = runName.value ?? newest(list.runs)?.run
    if (wanted === undefined) {
      connection.value = 'live'
      setTimeout(() => void follow(), AGAIN_MS)
      return
    }
    if (followed?.run === wanted) return
    followed?.stream?.close()
    const own = { run: wanted, stream: null as EventSource | null }
    followed = own
    const whole = await get<{ head: PageHead; rows: PackedRow[]; now: PageNow }>(`/api/runs/${wanted}`)
    if (followed !== own) return
    rows.clear()
    nodes.clear()
    patches.clear()
    take(whole.rows)
    now.value = whole.now
    head.value = whole.head
    trouble.value = null
    listen(own)
  } catch (error) {
    followed = null
    if (!(error instanceof TypeError)) trouble.value = (error as Error).message
    lost()
    setTimeout(() => void follow(), AGAIN_MS)
  }
}

const newest = (list: readonly PageRunLine[]): PageRunLine | undefined =>
  [...list].sort((a, b) => b.last.localeCompare(a.last))[0]

function lost(): void {
  if (connection.value !== 'lost') lostAt.value = Date.now()
  connection.value = 'lost'
}

function listen(own: NonNullable<typeof followed>): void {
  const stream = new EventSource(`/api/runs/${own.run}/stream?since=${head.value?.offset ?? 0}`)
  own.stream = stream
  stream.onopen = () => {
    connection.value = 'live'
    lostAt.value = null
  }
  stream.addEventListener('change', ({ data }) => {
    const changes = JSON.parse(data) as { head: PageHead; rows: PackedRow[] }
    take(changes.rows)
    head.value = changes.head
    trouble.value = null
    runs.value = runs.value.map((line) =>
      line.run === changes.head.run ? { ...line, ...shortOf(changes.head) } : line,
    )
  })
  stream.addEventListener('now', ({ data }) => {
    now.value = JSON.parse(data) as PageNow
    if (now.value.runs !== runs.value.length) void listAgain()
  })
  stream.addEventListener('trouble', ({ data }) => {
    trouble.value = (JSON.parse(data) as { message: string }).message
  })
  // Another ledger lies there: nothing of what is shown holds.
  stream.addEventListener('reset', () => {
    stream.close()
    followed = null
    void follow()
  })
  stream.onerror = () => {
    // The browser's own attempts end at the first answer that is no stream.
    stream.close()
    if (followed !== own) return
    lost()
    setTimeout(() => followed === own && listen(own), AGAIN_MS)
  }
}

/** A run began since. */
async function listAgain(): Promise<void> {
  try {
    runs.value = (await get<{ runs: PageRunLine[] }>('/api/runs')).runs
  } catch {
    // The stream tells that the server is gone.
  }
}

const shortOf = ({ best, gain, baseline, last, counts }: PageHead): Partial<PageRunLine> => ({
  best: best && { experiment: best.experiment, value: best.value },
  gain,
  baseline: baseline.value,
  last,
  experiments: rows.size - 1,
  kept: Math.max(0, counts.kept + counts.pruned - 1),
})

// ---------------------------------------------------------------- details, as they are looked at

const run = (): string => head.value?.run ?? ''

export function nodeOf(experiment: string): Promise<PageNode | null> {
  if (isFile) return Promise.resolve(inFile.nodes[experiment] ?? null)
  const known = nodes.get(experiment)
  if (known) return known.found
  const found = get<PageNode>(`/api/runs/${run()}/nodes/${experiment}`)
  found.catch(() => nodes.delete(experiment))
  nodes.set(experiment, { at: Date.now(), found })
  return found
}

export async function diffOf(node: PageNode, other: string): Promise<PageDiff | null> {
  if (node.diff?.from === other) return node.diff
  // Nothing was sealed.
  if (node.attempts.length === 0) return null
  if (isFile) return inFile.diffs[`${node.experiment} ${other}`] ?? null
  return get<PageDiff>(`/api/runs/${run()}/diff/${node.experiment}/${other}`)
}

export function patchOf(experiment: string, other: string, path: string): Promise<PagePatch> {
  const key = `${experiment} ${other} ${path}`
  if (isFile) return Promise.resolve(inFile.patches[key] ?? { missing: 'this diff is not in the file' })
  const known = patches.get(key)
  if (known) return known
  const found = get<PagePatch>(
    `/api/runs/${run()}/diff/${experiment}/${other}?path=${encodeURIComponent(path)}`,
  )
  found.catch(() => patches.delete(key))
  patches.set(key, found)
  return found
}

/** Of any run; the shown one is here already. */
export const headOfRun = (name: string): Promise<PageHead> =>
  name === run() && head.value ? Promise.resolve(head.value) : get<PageHead>(`/api/runs/${name}/head`)

export const logOf = async (experiment: string): Promise<string | null> =>
  isFile ? null : (await get<{ log: string | null }>(`/api/runs/${run()}/log/${experiment}`)).log

export async function act(action: Action): Promise<{ ok: boolean; said: string }> {
  try {
    const response = await fetch(`/api/runs/${action.run}/do`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-assay-token': token.value ?? '' },
      body: JSON.stringify(action),
    })
    const { problem } = (await response.json()) as Partial<Failed>
    if (problem) return { ok: false, said: [problem.message, problem.hint].filter(Boolean).join('; ') }
    return { ok: true, said: `done: ${shellLineOf(action)}` }
  } catch (error) {
    return { ok: false, said: `the server did not answer: ${(error as Error).message}` }
  }
}
