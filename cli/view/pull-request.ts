/** The text of a pull request, in Markdown. Pure. Text of agents and users stays plain text: no markup, one line. */
import { gainText, shown } from '../evaluate/figure.ts'
import type { Direction } from '../ledger/events.ts'
import { cut, plain, shellWord, verbatim } from '../text.ts'

export interface PullRequest {
  name: string
  goal: string
  metric: { name: string; direction: Direction }
  run: string
  branch: string
  base: string
  /** The base is a snapshot of uncommitted work, which is then part of the branch. */
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
  /** `parents`: where they are not all in one line. */
  steps: readonly {
    experiment: string
    value: number | null
    hypothesis: string
    parents?: readonly string[]
  }[]
  gates: readonly { name: string; command: string }[]
  constraints: readonly string[]
  /** Lines for a shell, in order: setup and build first, the measure command last. */
  commands: readonly string[]
  /** Of the commands, relative to the top of the checkout; empty = the top. */
  folder: string
  files: readonly { path: string; status: string; added: number | null; removed: number | null }[]
  /** What was measured and is not in the branch, as the winner declared it. */
  artifacts: readonly { label: string; sha256: string; bytes: number }[]
  learnings: readonly string[]
  /** What each part of a step's diff is worth, where that was tested; absent = nowhere. */
  parts?: readonly { experiment: string; part: string; worth: string }[]
}

const MOST = { files: 30, learnings: 10, steps: 40, parts: 60, artifacts: 10 }

/** The first line is the title. */
export function pullRequest(input: PullRequest): string {
  const { metric, winner, baseline } = input
  const gain = winner.improvement === null ? '' : ` (${gainText(winner.improvement)})`
  const values = `${shown(baseline.value)} → ${shown(winner.value)}`
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
    `| ${inMarkdown(metric.name, 60)} (${metric.direction}) | ${shown(baseline.value)} | ${shown(winner.value)}${gain} |`,
    '',
    `Measured again for this text, in a clean checkout, against the baseline: ${winner.samples} samples; ${inMarkdown(winner.message, 300)}.`,
    intervalLine(input),
    '',
    ...section('Steps', stepsOf(input)),
    ...section('What each part is worth', partsOf(input)),
    ...section('Checks that passed', heldOf(input)),
    ...section('Files', filesOf(input)),
    ...section('Artifacts', artifactsOf(input)),
    ...reproduce(input),
    ...section(
      'What the search learnt',
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
  return `The gain lies between ${shown(low)} and ${shown(high)} of ${inMarkdown(metric.name, 60)} (95 %). ${SCALE}`
}

/** Without this sentence, a reader who measures on a quieter machine would take the values for wrong. */
const SCALE =
  'Both values are on the scale of the baseline as it was recorded; what was measured now is the gain between them.'

const stepsOf = ({ steps }: PullRequest): string[] =>
  few(steps, MOST.steps, 'steps').map((step) =>
    typeof step === 'string'
      ? `- ${step}`
      : `- ${step.experiment}${step.parents ? ` on ${step.parents.join(', ')}` : ''}, ${shown(step.value)}: ${inMarkdown(step.hypothesis, 300) || 'the baseline'}`,
  )

/** Measured as the whole against the whole without that part. */
const partsOf = ({ parts = [] }: PullRequest): string[] =>
  few(parts, MOST.parts, 'parts').map((one) =>
    typeof one === 'string'
      ? `- ${one}`
      : `- ${one.experiment}, ${inMarkdown(one.part, 300)}: ${inMarkdown(one.worth, 200)}`,
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

function artifactsOf({ artifacts, winner: { experiment } }: PullRequest): string[] {
  if (artifacts.length === 0) return []
  return [
    `The branch does not contain them; \`assay show ${experiment}\` says where they are. A build that starts from the artifacts of the step before it makes them again only if every step is built, in order.`,
    '',
    ...few(artifacts, MOST.artifacts, 'artifacts').map((one) =>
      typeof one === 'string'
        ? `- ${one}`
        : `- ${inMarkdown(one.label, 80)}: ${one.bytes} bytes, SHA-256 \`${one.sha256}\``,
    ),
  ]
}

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

// ----------------------------------------------------------------
// Text of agents and users for pages and commits that a forge reads. There a word can act: `@name` writes
// to a person, `fixes #12` closes an issue, a URL of one does too, and `[skip ci]` keeps the tests from
// running. A merge would do all that although the user did not say so.

/** GitHub's and GitLab's words, before an issue of a tracker that has letters: PROJ-12. */
const CLOSES = String.raw`\b(?:clos|fix|resolv|implement|complet)(?:e?s|e|ed|ing)?\s*:?\s+(?:issues?\s+)?`
/** The sign that makes a word act: without it, or with a space behind it, the word is a word. */
const SIGN = [
  String.raw`(?<![A-Za-z0-9])@(?=\w)`,
  // YouTrack's have letters, and Jira obeys any word behind a key: PROJ-12 #close. Else it is #include.
  String.raw`#(?=\d|[A-Z]\w*-\d)`,
  String.raw`#(?=\w)(?<=\b[A-Z]\w*-\d.*)`,
  String.raw`!(?=\d)`,
  String.raw`(?<=\bGH)-(?=\d)`,
  // Looked for last: most words have no such sign in them.
  String.raw`-(?=\d)(?<=${CLOSES}[A-Z][A-Z0-9_]*-)`,
  'https?:(?=//)',
  String.raw`\bwww\.(?=\w)`,
].join('|')
const SKIPS_CI = String.raw`\[(?=[^\]]*\b(?:skip|no[ _-]ci)\b)|(?<![A-Za-z0-9])NO(?=_CI\b)`

const SIGNS = new RegExp(`${SIGN}|${SKIPS_CI}`, 'gi')
/** The whole word around a sign, without the punctuation behind it. */
const WORD = new RegExp(String.raw`[\w./@#:+-]*?(?:${SIGN})(?:[\w./@#:?=&%+~!-]*[\w/])?`, 'gi')

/**
 * One line of a commit message, which has no markup to quote with: a space behind the sign, `@ name`, `fixes # 12`. It
 * can be seen and taken back, as an invisible character could not.
 */
export const inMessage = (text: string, max = Number.POSITIVE_INFINITY): string =>
  cut(plain(text).replace(SIGNS, '$& '), max)

/** One line of Markdown that shows the text as it is: a word that would act is code, all other markup is escaped. */
export function inMarkdown(text: string, max: number): string {
  const line = plain(text, max)
  let made = ''
  let from = 0
  for (const { 0: word, index } of line.matchAll(WORD)) {
    made += `${escaped(line.slice(from, index))}\`${word}\``
    from = index + word.length
  }
  return (made + escaped(line.slice(from))).replace(BLOCK, '\\$&')
}

/** One line of Markdown for what a person copies: a command or a path, in code that nothing in it ends; `↵` is an end of line. */
export function inCode(text: string, max: number): string {
  const line = cut(verbatim(text.trim().replaceAll('\n', ' ↵ ')), max)
  if (line === '') return ''
  const runs = [...line.matchAll(/`+/g)].map(([run]) => run.length)
  const fence = '`'.repeat(Math.max(0, ...runs) + 1)
  const space = /^`|`$/.test(line) ? ' ' : ''
  return `${fence}${space}${line}${space}${fence}`
}

/** An underscore within a word, as in `wall_ms`, is no markup. */
const escaped = (text: string): string =>
  text
    .replace(/[\\`*~[\]|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')

/** What would begin a heading, a list, a quotation or a command of the forge (`/close`) at the start of a line. */
const BLOCK = /^[#>+=/-]|(?<=^\d{1,9})[.)]/
