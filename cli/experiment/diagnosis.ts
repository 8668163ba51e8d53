/** Why a baseline does not hold, and the one thing to do about it. Each cause is found by looking at what is there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSpoilt } from '../evaluate/crowd.ts'
import { PRESETS } from '../evaluate/presets/registry.ts'
import { inspectCheckout } from '../git/checkout.ts'
import type { Sample } from '../ledger/events.ts'
import { BASELINE } from '../ledger/state.ts'
import { readSteps, samplesOf } from '../ledger/steps.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import { fail, type Problem } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { editDistance } from '../spec/words.ts'
import type { RunAnswer } from './answer.ts'
import { bashOnly } from './bash-only.ts'
import { type Missing, missingVariables } from './full-environment.ts'
import { lastWords } from './last-words.ts'
import { missingFiles } from './missing-files.ts'
import { whatCheckoutsLack } from './what-checkouts-lack.ts'

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
  hint: string
  data?: Record<string, unknown>
}

const OUTPUT = 65_536

const BUSY: Explained = {
  cause: 'busy_machine',
  hint: 'nothing needs mending: run assay init again when the machine has a processor to spare',
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
  const setUpAnew = answer.message.startsWith('worktree.setup failed')
  const missing = await missingVariables(run, { said, setUpAnew })
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
    hint: `git describe finds no tag: none reaches the base commit in your clone. Fetch them (${fetch}) and run assay init again, or set the version by the variable of your tool (SETUPTOOLS_SCM_PRETEND_VERSION, say) in measure.environment.set`,
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
    hint: `did you mean \`${near}\`? It is what metric.name should say, or let the benchmark print ${name}`,
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
  const said = lastWords(run, BASELINE, answer.attempt)
  return {
    kind: 'usage',
    code: 'baseline_failed',
    message: `the baseline failed: ${answer.message}`,
    hint:
      explained?.hint ??
      (changedItsJudge(answer) || `mend the benchmark or the spec and run assay init again\n${lacks}`),
    ...(said ? { at: `${said.command}\n${said.output}` } : {}),
    data: { cause: explained?.cause ?? null, ...explained?.data },
  }
}

/** What to do about immutable files that the benchmark writes itself; empty = that is not why it failed. */
const changedItsJudge = ({ message }: RunAnswer): string =>
  message.startsWith('its own run changed what judges it')
    ? 'if the benchmark has to write there, name these files in measure.write, or let it write to TMPDIR; then run assay init again'
    : ''

function needed(run: OpenRun, message: string, { names, certain }: Missing): Problem {
  const { inherit } = run.spec.measure.environment
  const shown = names.slice(0, 20)
  return {
    kind: 'usage',
    code: 'environment_needed',
    message: certain
      ? `the benchmark works only with ${shown.join(', ')} of your environment, which it does not get: ${message}`
      : `the benchmark works only with more of your environment than it gets, among it some of ${shown.join(', ')}${names.length > 20 ? ', …' : ''}: ${message}`,
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

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(-OUTPUT)
  } catch {
    return ''
  }
}
