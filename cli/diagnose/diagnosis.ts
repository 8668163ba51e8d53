/** Why a baseline does not hold, and the one thing to do about it. Each cause is found by looking at what is there. */

import { existsSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, normalize, relative } from 'node:path'
import { isSpoilt } from '../evaluate/crowd.ts'
import { PRESETS } from '../evaluate/presets/registry.ts'
import { fileText } from '../files.ts'
import { inspectCheckout } from '../git/checkout.ts'
import { ignoredAmong } from '../git/observe.ts'
import { missingContent } from '../git/repository.ts'
import { listTree } from '../git/trees.ts'
import type { Sample } from '../ledger/events.ts'
import { BASELINE } from '../ledger/state.ts'
import { readSteps, samplesOf } from '../ledger/steps.ts'
import { bashOnly } from '../measure/bash-only.ts'
import { failingOutput } from '../measure/output.ts'
import type { RunAnswer } from '../measure/run-answer.ts'
import { call, type Next, next, type Said } from '../next.ts'
import { attemptFolder, STATE_FOLDER, stepsFile } from '../paths.ts'
import { fail, type Problem } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { OUT_OF_ANNEX } from '../run/preconditions.ts'
import { editDistance } from '../spec/words.ts'
import { type Missing, missingVariables } from './full-environment.ts'

// ----------------------------------------------------------------
// What a checkout of ours lacks and the user's own has: the usual reason why a benchmark works there only.

/** For people, a line each. */
async function whatCheckoutsLack(run: OpenRun): Promise<string> {
  const { prefix, base } = run.started
  const lines = [
    'a candidate is measured in a checkout that has only what is committed: files that are not committed come with --include-dirty; what is installed or built, with worktree.setup and worktree.build',
  ]
  if (prefix !== '') lines.push(`commands run in ${prefix}, the folder of the spec`)
  const missing = await missingContent(run.site, base.tree)
  if (!missing.ok) return lines.join('\n')
  const { submodules, pointers, annexed } = missing.value
  if (submodules.length > 0) {
    lines.push(
      `submodules are empty there (${listed(submodules)}) until worktree.setup fills them: git submodule update --init`,
    )
  }
  if (pointers.length > 0) {
    lines.push(
      `pointers of git-lfs instead of the data: ${listed(pointers)}; install git-lfs, then: git lfs install && git lfs pull`,
    )
  }
  if (annexed.length > 0)
    lines.push(`the content of ${listed(annexed)} is in git-annex, and in no checkout; ${OUT_OF_ANNEX}`)
  return lines.join('\n')
}

const listed = (paths: readonly string[]): string =>
  paths.length > 3 ? `${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more` : paths.join(', ')

// ---------------------------------------------------------------- files that a failing benchmark wanted, that the user has and the base has not

export interface MissingFiles {
  cause: 'not_committed' | 'ignored_file'
  hint: Said
  data: { paths: string[] }
}

const COMPLAINT =
  /no such file|ENOENT|FileNotFound|cannot (?:find|open|access|stat)|can't (?:find|open)|could not (?:find|open|read)|not found|does not exist|unable to (?:open|read)/i
/** What a path may look like in a message: quoted, or up to a space or colon. */
const WORDS = /'([^'\n]+)'|"([^"\n]+)"|`([^`\n]+)`|([^\s'"`:,;()[\]<>]+)/g
const MOST = 5

/** Looks at the commands of the spec and at what was printed; null when nothing that exists was asked for. */
async function missingFiles(run: OpenRun, said: string): Promise<MissingFiles | null> {
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
  hint: next`${paths.join(', ')} ${paths.length === 1 ? 'is' : 'are'} in your checkout but not committed: commit ${paths.length === 1 ? 'it' : 'them'}, or take the working tree as it is: ${call('init', '--include-dirty')}`,
  data: { paths },
})

function ignoredFile(run: OpenRun, paths: string[], onBase: ReadonlySet<string>): MissingFiles {
  const globs = paths.map((path) => (path.includes('node_modules/') ? null : globFor(run, path, onBase)))
  const data = [...new Set([...run.spec.worktree.data, ...globs.filter((one) => one !== null)])]
  return {
    cause: 'ignored_file',
    hint: `git ignores ${paths.join(', ')}, which the benchmark needs: ${
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

/** What `data.cause` of `baseline_failed` may be; null = none of the known ones. */
export type BaselineCause =
  | 'not_committed'
  | 'ignored_file'
  | 'printed_to_stderr'
  | 'known_tool'
  | 'other_metric'
  | 'busy_machine'
  | 'no_tags'
  | 'bash_only'

interface Explained {
  cause: BaselineCause
  hint: Said
  data?: Record<string, unknown>
}

const OUTPUT = 65_536

const BUSY: Explained = {
  cause: 'busy_machine',
  hint: next`nothing needs repair: run ${call('init')} again when the machine is less busy`,
}

/** Always fails: `environment_needed` names variables, `baseline_failed` everything else. */
export async function diagnose(run: OpenRun, answer: RunAnswer): Promise<{ ok: false; problem: Problem }> {
  if (isSpoilt(answer)) return fail(problem(run, answer, BUSY, ''))
  const { said, last } = outputOf(run, answer)
  const explained = last?.fault ? otherMetric(last, run) : null
  if (explained) return fail(problem(run, answer, explained, ''))
  const bash = mayBeEnvironment(answer, last) ? bashOnly(said) : null
  if (bash) {
    const { hint, word } = bash
    return fail(problem(run, answer, { cause: 'bash_only', hint, data: { word } }, ''))
  }
  const files = await missingFiles(run, said)
  const lacks = await whatCheckoutsLack(run)
  if (files) return fail(problem(run, answer, files, ''))
  if (NO_TAGS.test(said)) return fail(problem(run, answer, await noTags(run), ''))
  if (run.signal.aborted || !mayBeEnvironment(answer, last)) return fail(problem(run, answer, null, lacks))
  const repeatSetup = answer.message.startsWith('worktree.setup failed')
  const missing = await missingVariables(run, { said, repeatSetup })
  if (missing.ok && missing.value) return fail(needed(run, answer.message, missing.value))
  return fail(problem(run, answer, null, lacks))
}

/** What the attempt's commands printed, and its last sample. */
export function outputOf(run: OpenRun, { attempt }: RunAnswer): { said: string; last: Sample | undefined } {
  const folder = attemptFolder(run.paths, BASELINE, attempt)
  const steps = readSteps(stepsFile(folder))
  const last = samplesOf(steps).at(-1)
  return { said: everythingSaid(steps, folder, last), last }
}

/** Of `git describe`, which tools for version numbers call. */
const NO_TAGS = /No names found, cannot describe anything|No (annotated )?tags can describe/

async function noTags(run: OpenRun): Promise<Explained> {
  const checkout = await inspectCheckout(run.started.checkout)
  const fetch = checkout.ok && checkout.value.shallow ? 'git fetch --unshallow --tags' : 'git fetch --tags'
  return {
    cause: 'no_tags',
    hint: next`git describe finds no tag: your clone has none on the base commit or before it. Fetch them (${fetch}) and run ${call('init')} again, or set the version by the variable of your tool (SETUPTOOLS_SCM_PRETEND_VERSION, say) in measure.environment.set`,
  }
}

/** A time limit would be paid again, and values that differ or break a constraint were at least printed. */
function mayBeEnvironment(answer: RunAnswer, last: Sample | undefined): boolean {
  if (answer.reason === 'timeout' || answer.reason === 'aborted' || answer.reason === 'constraint')
    return false
  return last === undefined || last.fault !== null
}

function otherMetric({ fault }: Sample, run: OpenRun): Explained | null {
  const { name } = run.spec.metric
  if (fault?.on_stderr)
    return {
      cause: 'printed_to_stderr',
      hint: `print it to standard output; or, if the benchmark cannot be changed, add 2>&1 to measure.command`,
    }
  const found = fault?.found ?? []
  const tool = fault?.preset ?? (found.length === 0 ? startedBy(fault, run) : null)
  if (tool) return knownTool(tool, run)
  if (found.length === 0) return null
  const [near = ''] = [...found].sort((a, b) => likeness(name, a) - likeness(name, b))
  return {
    cause: 'other_metric',
    hint: `did you mean \`${near}\`? Then write it as metric.name; otherwise let the benchmark print ${name}`,
    data: { found, nearest: near },
  }
}

/** The tool that the command starts, when its answer was looked for and nothing was there. */
function startedBy(fault: Sample['fault'], { spec: { measure } }: OpenRun): string | null {
  if (fault?.reason !== 'metric_error' || measure.read !== 'auto' || fault.raw !== undefined) return null
  const command = typeof measure.command === 'string' ? measure.command : measure.command.join(' ')
  return PRESETS.find((preset) => preset.command.test(command))?.name ?? null
}

function knownTool(tool: string, { spec: { metric } }: OpenRun): Explained | null {
  const preset = PRESETS.find(({ name }) => name === tool)
  if (!preset) return null
  const names = preset.metrics.map(({ name }) => name)
  const renamed = names.includes(metric.name)
    ? ''
    : `, and metric.name one of ${names.slice(0, 6).join(', ')}`
  return {
    cause: 'known_tool',
    hint: `write in assay.yaml: measure: { command: ${JSON.stringify(preset.example)}, read: ${tool} } with your own program${renamed}`,
    data: { preset: tool },
  }
}

/** A name that holds the other (`ms`, `time_ms`) is nearer than its length says. */
const likeness = (wanted: string, found: string): number =>
  editDistance(wanted.toLowerCase(), found.toLowerCase()) -
  (found
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .includes(wanted.toLowerCase())
    ? 100
    : 0)

function problem(run: OpenRun, answer: RunAnswer, explained: Explained | null, lacks: string): Problem {
  const said = failingOutput(run, BASELINE, answer.attempt)
  return {
    kind: 'usage',
    code: 'baseline_failed',
    message: `the baseline failed: ${answer.message}`,
    hint:
      explained?.hint ??
      changedItsJudge(answer) ??
      next`repair the benchmark or the spec and run ${call('init')} again\n${lacks}`,
    ...(said ? { at: `${said.command}\n${said.output}` } : {}),
    data: { cause: explained?.cause ?? null, ...explained?.data },
  }
}

/** What to do about immutable files that the benchmark writes itself; empty = that is not why it failed. */
const changedItsJudge = ({ message }: RunAnswer): Next | null =>
  message.startsWith('its own run changed what judges it')
    ? next`if the benchmark has to write there, name these files in measure.write, or let it write to TMPDIR; then run ${call('init')} again`
    : null

function needed(run: OpenRun, message: string, { names, certain }: Missing): Problem {
  const { inherit } = run.spec.measure.environment
  const shown = names.slice(0, 20)
  return {
    kind: 'usage',
    code: 'environment_needed',
    message: certain
      ? `the benchmark needs ${shown.join(', ')} of your environment, and does not get it: ${message}`
      : `the benchmark needs more of your environment than it gets, at least some of ${shown.join(', ')}${names.length > 20 ? ', …' : ''}: ${message}`,
    hint: certain
      ? `add to assay.yaml: measure.environment.inherit: [${[...inherit, ...names].join(', ')}]`
      : 'add those that it needs to assay.yaml: measure.environment.inherit: [NAME, …]',
    data: { variables: names, certain },
  }
}

function everythingSaid(
  steps: ReturnType<typeof readSteps>,
  folder: string,
  last: Sample | undefined,
): string {
  const gates = steps.flatMap((line) => (line.step === 'gate' ? [line.gate.output] : []))
  const [stderr, stdout] = last
    ? [read(join(folder, last.stderr)), read(join(folder, last.stdout))]
    : ['', '']
  const prepared = ['setup.out', 'build.out'].map((name) => read(join(folder, name)))
  return [stderr, stdout, ...gates, ...prepared].join('\n')
}

const read = (file: string): string => (fileText(file) ?? '').slice(-OUTPUT)
