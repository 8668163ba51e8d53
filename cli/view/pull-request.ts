/** The text of a pull request, in Markdown. Pure. What agents and users wrote stays text: no markup, one line. */
import type { Direction } from '../ledger/events.ts'
import { shellWord, verbatim } from '../text.ts'
import { figure, percent } from './figures.ts'
import { inCode, inMarkdown, inMessage } from './inert.ts'

export interface PullRequest {
  name: string
  goal: string
  metric: { name: string; direction: Direction }
  run: string
  branch: string
  base: string
  /** The base is a snapshot of uncommitted work: it is part of the branch. */
  dirtyBase: boolean
  baseline: { value: number | null }
  /** The winner, as the fresh measurement has it. */
  winner: {
    experiment: string
    value: number | null
    improvement: number | null
    /** In units of the metric; positive is better. */
    interval: readonly [number, number] | null
    samples: number
    message: string
    /** Measured in turns with the baseline, since the metric varies. */
    paired: boolean
  }
  steps: readonly { experiment: string; value: number | null; hypothesis: string }[]
  gates: readonly { name: string; command: string }[]
  constraints: readonly string[]
  /** Lines for a shell, in order: setup and build first, the measure command last. */
  commands: readonly string[]
  /** Of the commands, relative to the top of the checkout; empty = the top. */
  folder: string
  files: readonly { path: string; status: string; added: number | null; removed: number | null }[]
  learnings: readonly string[]
}

const MOST = { files: 30, learnings: 10, steps: 40 }

/** The first line is the title. */
export function pullRequest(input: PullRequest): string {
  const { metric, winner, baseline } = input
  const gain = winner.improvement === null ? '' : ` (${percent(winner.improvement)} better)`
  const values = `${figure(baseline.value)} → ${figure(winner.value)}`
  return [
    // A title is no Markdown: a backslash would be shown.
    `${inMessage(input.name, 60)}: ${inMessage(metric.name, 40)} ${values}${gain}`,
    '',
    inMarkdown(input.goal, 500),
    '',
    '## Result',
    '',
    '| | before | after |',
    '| --- | ---: | ---: |',
    `| ${inMarkdown(metric.name, 60)} (${metric.direction}) | ${figure(baseline.value)} | ${figure(winner.value)}${gain} |`,
    '',
    `Measured again for this text, in a clean checkout, against the baseline: ${winner.samples} samples; ${inMarkdown(winner.message, 300)}.`,
    intervalLine(input),
    '',
    ...section('Steps', stepsOf(input)),
    ...section('What held', heldOf(input)),
    ...section('Files', filesOf(input)),
    ...reproduce(input),
    ...section(
      'What was learnt',
      few(input.learnings, MOST.learnings, 'learnings').map((one) => `- ${inMarkdown(one, 400)}`),
    ),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n')
}

/** Code on lines of its own: no fence of a stranger ends it. */
const indented = (code: string): string =>
  code
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => `    ${verbatim(line)}`)
    .join('\n')

function intervalLine({ winner, metric }: PullRequest): string {
  if (winner.interval === null && winner.paired)
    return `The metric varies, and the pairs give no interval with two finite ends. ${SCALE}`
  if (winner.interval === null)
    return 'The number does not vary from run to run, so there is no interval: each sample gives the same.'
  const [low, high] = winner.interval
  return `The gain lies between ${figure(low)} and ${figure(high)} of ${inMarkdown(metric.name, 60)} (95 %). ${SCALE}`
}

/** Else whoever measures it on a machine that is quieter by now takes the values for wrong. */
const SCALE =
  'Both values are on the scale of the baseline as it was recorded; what was measured now is the gain between them.'

const stepsOf = ({ steps }: PullRequest): string[] =>
  few(steps, MOST.steps, 'steps').map((step) =>
    typeof step === 'string'
      ? `- ${step}`
      : `- ${step.experiment}, ${figure(step.value)}: ${inMarkdown(step.hypothesis, 300) || 'the baseline'}`,
  )

const heldOf = ({ gates, constraints }: PullRequest): string[] => [
  ...gates.map(({ name, command }) => `- gate ${inMarkdown(name, 80)}: ${inCode(command, 200)}`),
  ...constraints.map((one) => `- ${inMarkdown(one, 200)}`),
]

const filesOf = ({ files }: PullRequest): string[] =>
  few(files, MOST.files, 'files').map((file) =>
    typeof file === 'string'
      ? `- ${file}`
      : `- ${file.status} ${file.added === null ? 'binary' : `+${file.added} −${file.removed ?? 0}`} ${inCode(file.path, 300)}`,
  )

function reproduce({ base, branch, dirtyBase, commands, folder, run }: PullRequest): string[] {
  return [
    '## To reproduce',
    '',
    indented(`git worktree add --detach ../before ${base}`),
    // In full: of a tag and a branch with one name, git takes the tag.
    indented(`git worktree add --detach ../after ${shellWord(`refs/heads/${branch}`)}`),
    '',
    `Then in each of the two${folder === '' ? '' : `, in ${inCode(folder, 200)}`}:`,
    '',
    ...commands.map(indented),
    '',
    `Compare on a quiet machine, in turns. The record is in \`${run}\` of Assay's ledger.`,
    ...(dirtyBase
      ? [
          '',
          `**The first commit, ${base.slice(0, 10)}, is uncommitted work of the checkout as it was when the run began.** It is not a result of the search.`,
        ]
      : []),
    '',
  ]
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`## ${title}`, '', ...lines, '']

/** Bounded; the last line says what is left out. */
function few<T>(list: readonly T[], most: number, what: string): (T | string)[] {
  return list.length <= most
    ? [...list]
    : [...list.slice(0, most), `… and ${list.length - most} more ${what}`]
}
