/** Whether it is safe to measure several samples at the same time: what the benchmark, the gates and the setup would share. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative, sep } from 'node:path'
import { type SourceFile, type Start, sourcesOf } from '../../diagnose/sources.ts'
import { fileText } from '../../files.ts'
import { SPEC_FILE } from '../../paths.ts'
import { type Accelerator, acceleratorsHere } from '../../process.ts'
import { readSpecFile } from '../../spec/read.ts'
import type { Spec } from '../../spec/spec.ts'
import type { Scene } from '../check.ts'

// ---------------------------------------------------------------- what two measurements at once would share, line by line

export type HazardKind =
  | 'port'
  | 'database'
  | 'lock_file'
  | 'fixed_path'
  | 'accelerator'
  | 'absolute_write'
  | 'service'

export interface Hazard {
  kind: HazardKind
  /** Whether it forbids more than one slot; otherwise it only deserves a look. */
  blocks: boolean
  advice: string
}

interface Rule extends Hazard {
  sees: RegExp
  /** Text on the same line that makes the use harmless. */
  unless?: RegExp
}

/** Each slot has a checkout of its own, so slots share only what lies outside of it. */
const OUTSIDE = String.raw`(?:~|\$HOME|\$\{HOME\}|\.\.)?\/`
const LOCKFILES =
  /(package-lock|yarn\.lock|pnpm-lock|Cargo\.lock|poetry\.lock|uv\.lock|composer\.lock|Gemfile\.lock|flake\.lock|Pipfile\.lock|bun\.lock)/

const RULES: readonly Rule[] = [
  {
    kind: 'port',
    blocks: true,
    sees: /\.listen\(\s*\d{2,5}\b|\b(?:port|PORT)['"]?\s*[:=]\s*['"]?\d{2,5}\b|--port[= ]\d{2,5}\b|\b-p\s+\d{2,5}:\d+|(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d{2,5}\b|\.bind\(\s*\(?[^)]*,\s*\d{2,5}\s*\)|http\.server\s+\d{2,5}\b/,
    unless: /ASSAY_PORT|ASSAY_SLOT/,
    advice: 'listen on $ASSAY_PORT: a free one for each sample',
  },
  {
    kind: 'database',
    blocks: true,
    sees: /\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqp|clickhouse|cockroachdb)(?:\+\w+)?:\/\/|\bredis\.(?:Redis|createClient)\(|\bnew Redis\(|\bpsycopg2?\.connect\(|\bMongoClient\(/,
    unless: /ASSAY_SLOT/,
    advice: 'one database for each slot: put $ASSAY_SLOT into its name, or start it in measure.before',
  },
  {
    kind: 'database',
    blocks: true,
    sees: new RegExp(String.raw`sqlite:\/{3,4}\/|['"\x60]${OUTSIDE}[^'"\x60\s]*\.(?:sqlite3?|db)['"\x60]`),
    unless: /ASSAY_SLOT|TMPDIR/,
    advice: 'keep the file below $TMPDIR, which is fresh for each sample',
  },
  {
    kind: 'database',
    blocks: false,
    sees: /sqlite3?\.connect\(\s*['"](?!:memory:)|['"`][^'"`\s]*\.(?:sqlite3?|db)['"`]|sqlite:\/\/\/(?!\/)\w/,
    unless: /ASSAY_SLOT|TMPDIR/,
    advice: 'each slot has its own copy, unless it is a link to one file or worktree.data hands it out',
  },
  {
    kind: 'lock_file',
    blocks: true,
    sees: new RegExp(String.raw`${OUTSIDE}[\w./-]*\.(?:lock|pid|sock)\b`),
    unless: new RegExp(`ASSAY_SLOT|TMPDIR|${LOCKFILES.source}`),
    advice: 'put it below $TMPDIR, or into the checkout',
  },
  {
    kind: 'lock_file',
    blocks: false,
    sees: /\bflock\b|\blockfile\b|['"`][\w./-]+\.(?:lock|pid)['"`]/,
    unless: new RegExp(`ASSAY_SLOT|TMPDIR|${LOCKFILES.source}`),
    advice: 'harmless in the checkout of a slot; a lock that waits for a different run would delay a sample',
  },
  {
    kind: 'fixed_path',
    blocks: true,
    sees: /(?:^|[^\w.}/-])\/(?:tmp|var\/tmp|dev\/shm)\/[\w.$-]/,
    unless: /mktemp|mkdtemp|ASSAY_SLOT|TMPDIR/,
    advice: 'use $TMPDIR (os.tmpdir(), tempfile): it is fresh for each sample',
  },
  {
    kind: 'accelerator',
    blocks: true,
    sees: /\/dev\/nvidia|\/dev\/kfd|nvidia-smi|\.cuda\(|['"]cuda(?::\d+)?['"]|['"]mps['"]|CUDA_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|^\s*(?:import|from)\s+(?:torch|jax|tensorflow|cupy|vllm)\b|onnxruntime-gpu|--gpus\b/,
    unless: /ASSAY_SLOT/,
    advice: 'one device, one measurement; with several, choose one by $ASSAY_SLOT (CUDA_VISIBLE_DEVICES)',
  },
  {
    kind: 'absolute_write',
    blocks: true,
    sees: /(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|mkdir(?:Sync)?|makedirs|rmtree|rmSync)\(\s*[fr]?['"`](?:~|\/)(?!dev\/)|\bopen\(\s*[fr]?['"](?:~|\/)(?!dev\/|proc\/)[^'"]*['"]\s*,\s*['"][wax]|>>?\s*(?:~|\$HOME|\$\{HOME\})?\/(?!dev\/)[\w.]|\b(?:mkdir|touch|rm|tee|cp|mv)\s+(?:-\w+\s+)*(?:~|\$HOME|\$\{HOME\})\/?[\w.]/,
    unless: /ASSAY_SLOT|TMPDIR|ASSAY_RESULT|ASSAY_TRACES/,
    advice: 'write below $TMPDIR or into the checkout',
  },
  {
    kind: 'service',
    blocks: true,
    sees: /docker(?:-| )compose\s+[^#\n]*\bup\b|docker\s+run\b[^#\n]*--name|\bsystemctl\s+(?:re)?start|\bservice\s+\w+\s+(?:re)?start|container_name\s*:/,
    unless: /ASSAY_SLOT/,
    advice: 'one project or container for each slot: -p bench-$ASSAY_SLOT, --name bench-$ASSAY_SLOT',
  },
]

/** Gives each slot an accelerator of its own. */
const BY_SLOT = /_VISIBLE_(?:DEVICES|CORES)\b.*ASSAY_SLOT/
const COMMENT = /^\s*(?:\/\/|#(?!!)|\*|\/\*|--\s)/

/** At most one hazard of each kind. A line that is only a comment has none. */
export function hazardsOf(line: string): Hazard[] {
  if (COMMENT.test(line)) return []
  const found = new Map<HazardKind, Hazard>()
  for (const { sees, unless, kind, blocks, advice } of RULES) {
    if (found.has(kind) || !sees.test(line) || unless?.test(line)) continue
    found.set(kind, { kind, blocks, advice })
  }
  return [...found.values()]
}

// ---------------------------------------------------------------- how many measurements at once a machine and a benchmark allow

export interface SlotsRequest {
  cores: number
  current: number
  blocking: number
  metric: string
  /** What was read; 0 files prove nothing. */
  files: number
  /** How many accelerators there are for the slots, each of which takes one; null = the benchmark does not choose one by slot. */
  devices: number | null
}

export interface Slots {
  proposed: number
  current: number
  cores: number
  reason: string
}

const MOST_SLOTS = 8
/** A metric that is a time is disturbed by whatever runs beside it. */
const IS_TIME =
  /(^|[_-])(ms|us|ns|s|sec|secs|seconds?|minutes?|time|times|duration|latency|wall|cpu|elapsed|throughput|qps|rps|fps|ops|p50|p90|p95|p99)($|[_-])|per_(s|sec|second)|time$|latency$/i

export function proposeSlots({ cores, current, blocking, metric, files, devices }: SlotsRequest): Slots {
  const answer = (proposed: number, reason: string): Slots => ({ proposed, current, cores, reason })
  if (blocking > 0)
    return answer(1, `${blocking} blockers: two measurements at once would disturb each other there`)
  if (IS_TIME.test(metric))
    return answer(1, `${metric} is a time, and measurements at once disturb each other`)
  if (files === 0) return answer(1, 'no file of the benchmark could be read, so nothing is known about it')
  const half = Math.max(1, Math.min(MOST_SLOTS, Math.floor(cores / 2)))
  if (half === 1) return answer(1, `there are ${cores} cores: one for the measurement, one for the rest`)
  if (devices !== null && devices < half)
    return answer(Math.max(1, devices), `each slot takes one accelerator, and there are ${devices}`)
  return answer(half, `no blocker was found, ${metric} is no time, and ${half} is half of the ${cores} cores`)
}

export interface Blocker extends Hazard {
  /** From the root of the repository. */
  path: string
  line: number
  text: string
}

export interface Readiness {
  /** Of which spec: a run, or a file; null = none was found. */
  spec: string | null
  /** How many files were read. */
  files: number
  blockers: Blocker[]
  truncated: number
  /** Of this machine. */
  accelerators: Accelerator[]
  slots: Slots
}

const MOST = 200
const LONGEST_TEXT = 200

export async function readiness(scene: Scene, wanted: string | null): Promise<Readiness> {
  const top = scene.top ?? scene.cwd
  const found = specFor(scene, wanted, top)
  const cores = availableParallelism()
  const accelerators = await acceleratorsHere(scene)
  if (!found) {
    const slots = { proposed: 1, current: 1, cores, reason: 'no spec was found' }
    return { spec: null, files: 0, blockers: [], truncated: 0, accelerators, slots }
  }
  const { spec, name, prefix } = found
  const starts = startsOf(spec, join(top, prefix))
  const { files } = sourcesOf(top, starts)
  const lines = [...specLines(spec, starts, { top, prefix }), ...files.flatMap(linesOf)]
  const bySlot = lines.some(({ text }) => BY_SLOT.test(text) && !COMMENT.test(text))
  const blockers = lines.flatMap(({ path, line, text }) =>
    hazardsOf(text)
      .filter(({ kind }) => !(bySlot && kind === 'accelerator'))
      .map((hazard) => ({ path, line, text: text.trim().slice(0, LONGEST_TEXT), ...hazard })),
  )
  blockers.sort((a, b) => Number(b.blocks) - Number(a.blocks))
  return {
    spec: name,
    files: files.length,
    blockers: blockers.slice(0, MOST),
    truncated: Math.max(0, blockers.length - MOST),
    accelerators,
    slots: proposeSlots({
      cores,
      current: spec.measure.slots,
      blocking: blockers.filter(({ blocks }) => blocks).length,
      metric: spec.metric.name,
      files: files.length,
      devices: bySlot ? accelerators.length : null,
    }),
  }
}

/** The run that is meant, else the last one, else the spec that lies here. */
function specFor(
  { runs, cwd }: Scene,
  wanted: string | null,
  top: string,
): { spec: Spec; name: string; prefix: string } | null {
  const run =
    wanted === null
      ? runs.findLast(({ spec, state }) => spec && state)
      : runs.find((one) => one.run === wanted)
  if (run?.spec) return { spec: run.spec, name: run.run, prefix: run.state?.run?.prefix ?? '' }
  for (const folder of [cwd, top]) {
    const file = join(folder, SPEC_FILE)
    const read = existsSync(file) ? readSpecFile(file) : null
    if (read?.ok)
      return { spec: read.value.spec, name: file, prefix: relative(top, folder).split(sep).join('/') }
  }
  return null
}

function startsOf({ measure, gates, worktree }: Spec, folder: string): Start[] {
  const text = (command: string | string[]) => (typeof command === 'string' ? command : command.join(' '))
  return [
    { command: text(measure.command), folder: join(folder, measure.directory) },
    ...gates.map(({ command }) => ({ command: text(command), folder })),
    ...[worktree.setup, worktree.build, measure.before, measure.after, measure.score].flatMap((one) =>
      one ? [{ command: text(one.command), folder }] : [],
    ),
  ]
}

interface Line {
  path: string
  line: number
  text: string
}

const linesOf = ({ path, text }: SourceFile): Line[] =>
  text.split('\n').map((one, index) => ({ path, line: index + 1, text: one }))

/** The commands and variables of the spec, each at the line of the user's file that has it. */
function specLines(
  { measure }: Spec,
  starts: readonly Start[],
  { top, prefix }: { top: string; prefix: string },
): Line[] {
  const path = [prefix, SPEC_FILE].filter(Boolean).join('/')
  const written = fileText(join(top, path))?.split('\n') ?? []
  const placed = (text: string, sought: string): Line => {
    const at = written.findIndex((line) => sought.trim() !== '' && line.includes(sought.trim()))
    return { path, line: at === -1 ? 1 : at + 1, text }
  }
  return [
    ...starts.flatMap(({ command }) => command.split('\n').map((text) => placed(text, text))),
    ...Object.entries(measure.environment.set).map(([name, value]) => placed(`${name}=${value}`, name)),
  ]
}
