/**
 * A scripted model for a program that runs the workflow in its own tool: the conversation that launches it, the clerks, and
 * every role of the loop, which asks the CLI for its task and hands in its answer there. For `assay loop` it plays the same
 * roles, with the task in its prompt.
 */
import { fileURLToPath } from 'node:url'
import { readTaskCard, type TaskCard } from '../../../cli/hosts/task-card.ts'
import type { Scene } from '../../e2e/loop-scene.ts'
import type { Ask, Reply } from '../../rig/model-dialects.ts'

/** The first turn of a role's conversation. */
export interface Asked {
  role: string
  lane: number | null
  experiment: string | null
  /** Events in the ledger by then. */
  at: number
}

export interface InTool {
  reply: (ask: Ask) => Reply
  asked: () => Asked[]
  /** Commands of all clerks, in order. */
  clerks: () => string[]
  /** What the program said of each launch that ended. */
  endings: () => string[]
}

interface Plan {
  scene: Scene
  /** What the launched script gets. */
  args?: Record<string, unknown>
  /** At most; a launch that is to be continued is launched again. */
  launches?: number
  /** What the agents do, in place of the parts here. */
  play?: (task: string, card: TaskCard) => Played
}

export interface Played {
  /** Its calls of tools, before it answers. */
  edits: Reply[]
  /** JSON; null = it has nothing to hand in. */
  answer: string | null
}

const SCRIPT = fileURLToPath(new URL('../../../workflows/optimize.js', import.meta.url))
/** What the files of a lane add to the gains, by depth. */
const GAINS: Record<string, string> = { '1/1': '10', '1/2': '-5', '2/1': '-7' }

export function inTool({ scene, args = {}, launches = 1, play }: Plan): InTool {
  const played = play ?? ((_task, card) => ownPart(card, asked))
  const clerks: string[] = []
  const asked: Asked[] = []
  const endings: string[] = []
  let launched = 0
  const launch = (scriptPath: string, given: unknown): Reply => {
    launched += 1
    return { tool: 'Workflow', input: { scriptPath, args: given } }
  }
  /** As the skill says; without the right to ask the CLI, by the path that a person gives. */
  const main = (ask: Ask): Reply => {
    const all = ask.turns.map(({ text }) => text).join('\n')
    if (ask.turns.every(({ from }) => from !== 'model')) return bash('assay workflow list --json')
    const script = /"file":"([^"]+optimize\.js)"/.exec(all)?.[1] ?? SCRIPT
    if (launched === 0) return launch(script, args)
    const last = ask.turns.at(-1)
    if (last?.from === 'user' && isEnding(last.text)) {
      endings.push(last.text)
      // As the skill says: a person, who is this conversation, resumes it first.
      if (/"paused":"/.test(last.text)) return bash('assay loop resume --json')
    }
    const ending = ask.turns.findLast(({ from, text }) => from === 'user' && isEnding(text))?.text ?? ''
    const left = /"continue":(\{[^}]*\})/.exec(ending)?.[1]
    return left !== undefined && launched === endings.length && launched < launches
      ? launch(script, JSON.parse(left))
      : { text: 'I wait for the workflow.' }
  }
  const reply = (ask: Ask): Reply => {
    if (ask.tools.includes('Workflow')) return main(ask)
    if (ask.tools.length === 0) return { text: 'A title' }
    const at = ask.turns.findLastIndex(({ from, text }) => from === 'user' && isTask(text))
    const task = ask.turns[at]?.text ?? ''
    const turns = ask.turns.slice(at)
    const step = turns.filter(({ from }) => from === 'model').length
    const last = turns.at(-1)?.text ?? ''
    const command = /^```sh\n(assay [\s\S]*?)\n```$/m.exec(task)?.[1]
    if (command !== undefined && readTaskCard(task) === null) {
      if (step === 0) clerks.push(command)
      return step === 0 ? bash(command) : { text: lineOf(last) }
    }
    const named = NAMED.exec(task)?.groups
    if (named?.command !== undefined && step === 0) return bash(named.command)
    // In the tool the card is in what the command printed.
    const told = named === undefined ? task : (turns.find(({ from }) => from === 'tool')?.text ?? '')
    const card = readTaskCard(told)
    if (card === null) return { text: last }
    const done = named === undefined ? step : step - 1
    if (done === 0) {
      const { role, lane, experiment } = card
      asked.push({ role, lane, experiment, at: scene.events().length })
    }
    const { edits, answer } = played(/"task":"([^"]+)"/.exec(told)?.[1] ?? '', card)
    const act = edits[done]
    if (act !== undefined) return act
    if (answer === null) return { text: 'I only looked.' }
    const handIn = /^ +(assay answer \S+ --run \S+ --json --input) JSON$/m.exec(told)?.[1]
    if (named !== undefined && done === edits.length) return bash(`${handIn} '${inQuotes(answer)}'`)
    if (named !== undefined) return { text: `I handed it in.\n${lineOf(last)}` }
    if (done > edits.length) return { text: 'Done.' }
    const tool = ask.tools.find((name) => name === 'StructuredOutput')
    return tool === undefined ? { text: answer } : { tool, input: JSON.parse(answer) }
  }
  return { reply, asked: () => asked, clerks: () => clerks, endings: () => endings }
}

const NAMED = /^Run `(?<command>assay task [^`]+)` and follow it\./m
const isTask = (text: string) =>
  readTaskCard(text) !== null || /^```sh\nassay /m.test(text) || NAMED.test(text)
const isEnding = (text: string) => text.includes('<task-notification>')
/** As the task says. */
const inQuotes = (json: string) =>
  json.replace(/['\\`$~=<>%]|(?! )\p{Zs}/gu, (char) =>
    [...Buffer.from(char)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  )
const bash = (command: string): Reply => ({
  tool: 'Bash',
  input: { command, description: 'ask Assay' },
})
const edit = ({ worktree, experiment }: TaskCard, name: string, content: string): Reply => ({
  tool: 'Write',
  input: { file_path: `${worktree}/src/${experiment}-${name}.txt`, content },
})

/** As the clerk's own words say: the last line of JSON, else why there is none. */
function lineOf(said: string): string {
  const line = said.split('\n').findLast((one) => one.startsWith('{"ok":'))
  return (
    line ??
    JSON.stringify({
      ok: false,
      problem: { code: 'denied', message: said.slice(0, 300), hint: 'allow the shell command: assay' },
    })
  )
}

/** What a shell, or a host's check of shell commands, might take for more than text. */
const TRICKS = `it's =x ~[a] <1-2> \\ {"b": '1'} $HOME \`id\` # \\u0041 of\u00a0tricks, 5 %41`

function ownPart(card: TaskCard, asked: readonly Asked[]): Played {
  const edits =
    card.role === 'implement'
      ? [edit(card, 'own', GAINS[`${card.lane}/${card.depth}`] ?? '-1')]
      : card.role === 'revise'
        ? [edit(card, 'revised', '10')]
        : []
  return { edits, answer: JSON.stringify(answerOf(card, asked)) }
}

function answerOf(
  { role, brief, lane, depth, experiment }: TaskCard,
  asked: readonly Asked[],
): Record<string, unknown> {
  switch (role) {
    case 'brief': {
      const { parents = [], width = 1 } = brief as { parents?: { experiment: string }[]; width?: number }
      const parent = parents[0]?.experiment
      const ways = ['sort before the loop', 'keep the lengths in a table', 'read in larger blocks']
      return {
        briefs: ways
          .slice(0, width)
          .map((way) => ({ parent, objective: `${way}: ${TRICKS}`, pointers: [way] })),
      }
    }
    case 'implement':
    case 'revise':
      return { hypothesis: `lane ${lane} at depth ${depth} by ${role}`, summary: 'one file more' }
    case 'verify': {
      const times = asked.filter((one) => one.role === role && one.experiment === experiment).length
      return lane === 1 && depth === 1 && times === 1
        ? { passed: false, findings: [{ message: `it gains too little: ${TRICKS}` }] }
        : { passed: true, findings: [] }
    }
    case 'collect':
      return { learnings: ['numbers add up'], suggestions: [] }
    default:
      return { findings: [] }
  }
}
