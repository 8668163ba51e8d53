/** What a model that follows the skills would do, word for word: one script for each of them. */
import type { Reply } from '../../rig/model-dialects.ts'
import type { Files } from '../../rig/repo.ts'
import type { Script } from './session.ts'

/** A program that has tests of nothing and no benchmark yet. */
export const PROJECT: Files = {
  'src/codec.mjs': codec('text', 'code'),
  'README.md': 'Packs text: `encode` and `decode` in `src/codec.mjs`. It should get small.\n',
}

function codec(encode: string, decode: string): string {
  return `export const encode = (text) => ${encode}\nexport const decode = (code) => ${decode}\n`
}

const SPEC = `version: 1
name: codec
goal: Make encoded text small; decoding must give the same text back.
scope: { mutable: ["src/**"], immutable: ["bench/**"] }
measure: { command: node bench/run.mjs, timeout: 30s }
metric: { name: bytes, direction: minimize }
gates: [{ name: round-trip, command: node bench/check.mjs, timeout: 30s }]
loop: { width: 1, stall: 2 }
budget: { experiments: 1, hours: 1 }
`
const TEXT = `export const text = 'a'.repeat(40) + 'b'.repeat(30) + 'abc'\n`
const RUN = `import { execFileSync } from 'node:child_process'
const packed = execFileSync(process.execPath, ['bench/pack.mjs'])
console.log('METRIC bytes=' + packed.length)
`
const PACK = `import { encode } from '../src/codec.mjs'
import { text } from './text.mjs'
process.stdout.write(encode(text))
`
const CHECK = `import { decode, encode } from '../src/codec.mjs'
import { text } from './text.mjs'
process.exitCode = decode(encode(text)) === text ? 0 : 1
`
const SHORTER = codec(
  `text.replace(/(.)\\1+/g, (run, one) => run.length + one)`,
  `code.replace(/(\\d+)(.)/g, (_, times, one) => one.repeat(Number(times)))`,
)

const file = (path: string, text: string) => `cat > '${path}' <<'END'\n${text}END`

/** Of the answers that are read here. */
interface Fields {
  worktree: string
  experiment: string
  token: string
  spec_hash: string
  stop: string
}

/** The CLI's line of JSON in what a host's shell tool shows of it. */
function read<T = Fields>(shown: string): { data: T; problem?: { code: string } } {
  const line = shown.split('\n').find((one) => one.startsWith('{"ok":'))
  if (line === undefined) throw new Error(`no answer of the CLI in: ${shown}`)
  return JSON.parse(line)
}

interface Verdict {
  status: string
  reason: string | null
}

/** What the model saw, for the test to look at. */
export interface Seen {
  version?: string
  shortcut?: object
  worse?: object
  spec_hash?: string
  check?: object
  verdict?: Verdict
  stop?: string
  reported?: string
  finished?: { branch: string; base: string; text: string; commits: object[] }
}

export type Shell = (command: string) => Reply

export function* discover(shell: Shell, seen: Seen): Script {
  seen.version = yield shell('assay --version')
  const nothing = read(yield shell('assay status --json'))
  if (nothing.problem?.code !== 'no_run') throw new Error('there is a run already')
  yield shell(`assay init --template > assay.yaml && git status --short --ignored`)
  yield shell(file('assay.yaml', SPEC))
  const { worktree } = read(yield shell('assay init --prepare --json')).data
  const files = { 'text.mjs': TEXT, 'run.mjs': RUN, 'pack.mjs': PACK, 'check.mjs': CHECK }
  const bench = Object.entries(files)
    .map(([path, text]) => file(path, text))
    .join('\n')
  // Some hosts keep the folder of a shell for the next call.
  yield shell(`mkdir -p '${worktree}/bench'; (cd '${worktree}/bench'\n${bench}\n)`)
  const baseline = read<Verdict>(yield shell('assay run exp_0000 --json')).data
  if (baseline.status !== 'kept') throw new Error(`the baseline is ${baseline.status}: ${baseline.reason}`)
  seen.spec_hash = read(yield shell('assay init --json')).data.spec_hash
  yield shell(`assay note "approved: spec, ${seen.spec_hash}"`)
  seen.shortcut = yield* doubt(shell, 'the trivial shortcut', codec(`''`, `''`))
  seen.worse = yield* doubt(shell, 'plainly worse', codec(`text + ' '.repeat(9)`, `code.slice(0, -9)`))
  yield shell('assay doctor --json')
  yield shell(`assay note "approved: baseline, ${seen.spec_hash}"`)
  yield { text: 'The baseline is measured and approved.' }
}

/** An experiment that is only checked, then given up. */
function* doubt(shell: Shell, about: string, text: string): Generator<Reply, object, string> {
  const { experiment, worktree } = read(yield shell(`assay new -m '${about}' --json`)).data
  yield shell(file(`${worktree}/src/codec.mjs`, text))
  const checked = read(yield shell(`assay run ${experiment} --check --json`)).data
  yield shell(`assay discard ${experiment} --failure-class eval --reason '${about}'`)
  return checked
}

export function* optimize(shell: Shell, seen: Seen): Script {
  yield shell('assay --version && assay status --json && assay context && assay note')
  const { token } = read(yield shell('assay round open --json')).data
  const brief = { parent: 'exp_0000', kind: 'edit', objective: 'Runs of one letter are written out.' }
  yield shell(
    `assay round briefs --token ${token} --json <<'ASSAY'\n${JSON.stringify({ briefs: [brief] })}\nASSAY`,
  )
  yield shell('assay guide subagent')
  const made = yield shell(
    'assay new --parent exp_0000 --round 1 --lane 1 --depth 1 -m "Write runs as a count" --json',
  )
  const { experiment, worktree } = read(made).data
  yield shell(file(`${worktree}/src/codec.mjs`, SHORTER))
  yield shell(`assay seal ${experiment} -m 'Write runs as a count: less than half' --json`)
  seen.check = read(yield shell(`assay check ${experiment} --json`)).data
  yield shell(`assay run ${experiment} --detach --json`)
  seen.verdict = read<Verdict>(yield shell(`assay wait --for ${experiment} --timeout 90s --json`)).data
  yield shell(`assay annotate ${experiment} '73 bytes were three runs'`)
  const report = {
    lanes: [{ lane: 1, learnings: ['Runs are most of the text: 73 bytes to 9.'], suggestions: [] }],
  }
  yield shell(`assay round close --token ${token} --json <<'ASSAY'\n${JSON.stringify(report)}\nASSAY`)
  seen.stop = read(yield shell('assay round open --json')).data.stop
  yield { text: 'The budget is used.' }
}

export function* report(shell: Shell, seen: Seen): Script {
  yield shell('assay report --json')
  seen.reported = yield shell('assay report')
  yield shell('assay show exp_0003 --json; assay diff exp_0003 exp_0000; assay discards --json')
  yield { text: 'Here is the page.' }
}

export function* finish(shell: Shell, seen: Seen): Script {
  yield shell('assay status --json; assay diff exp_0003 exp_0000')
  seen.finished = read<NonNullable<Seen['finished']>>(yield shell('assay finish --branch small --json')).data
  yield { text: 'The branch is small.' }
}
