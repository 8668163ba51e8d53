/** The commands that skills, agents and workflows name, and whether the real parser takes them. */
import { ANSWERS_OF } from '../../cli/loop/answer-schemas.ts'
import { parse } from '../../cli/terminal/parse.ts'
import { LATER, VERBS } from '../../cli/verbs/table.ts'

/** What stands in backticks, with line breaks as spaces. */
const codeIn = (text: string): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map((found) => (found[1] ?? '').replace(/\s+/g, ' '))

/** `assay …`; without what the shell makes of the rest, and with all that is optional. */
export const commandsIn = (text: string): string[] =>
  codeIn(text)
    .filter((code) => /^assay\b/.test(code))
    .map((code) => code.replace(/ (<<|>|\|).*$/, '').replace(/\[(--[^\]]*)\]/g, '$1'))

/** Numbers and times where a name in capitals stands for one. */
const SAMPLES: Readonly<Record<string, string>> = { N: '1', R: '1', T: 'abc', CLASS: 'build' }

/** What the real parser says against it; null = nothing. A bare verb (`assay run`, `assay round open`) stands for the verb itself. */
export function commandProblem(command: string): string | null {
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    (found) => found[1] ?? found[2] ?? found[3] ?? '',
  )
  const argv = words.slice(1).map((word) => SAMPLES[word] ?? word)
  const [name, sub, ...rest] = argv
  const verb = VERBS.find((one) => one.name === name)
  if (verb && (sub === undefined || (rest.length === 0 && verb.subs?.some((one) => one.name === sub))))
    return null
  const parsed = parse(argv, { verbs: VERBS, later: LATER })
  if (!parsed.ok) return `${command}: ${parsed.problem.message}`
  if (parsed.value.ask !== 'run') return null
  const { args } = parsed.value
  const { flags } = parsed.value.verb.subs?.find((one) => one.name === args.sub) ?? parsed.value.verb
  const missing = Object.keys(flags).filter((flag) => flags[flag]?.needed && args.text(flag) === null)
  return missing.length === 0 ? null : `${command}: it needs ${missing.map((flag) => `--${flag}`).join(', ')}`
}

export interface Input {
  text: string
  /** The last command before it; null when there is none, as for an answer of an agent. */
  verb: string | null
}

/** JSON in backticks. */
export function inputsIn(text: string): Input[] {
  let verb: string | null = null
  return codeIn(text).flatMap((code) => {
    if (code.startsWith('assay ')) verb = code
    return /^\{"\w+": ?[[{"\w]/.test(code) && !code.includes('RUN') ? [{ text: code, verb }] : []
  })
}

/** Its keys must be words that some command reads, or that the workflow asks agents for. */
export function inputProblem({ text }: Input): string | null {
  const keys = [...text.matchAll(/"(\w+)":/g)].map((found) => found[1] ?? '')
  const unknown = keys.filter((key) => !KNOWN.has(key))
  return unknown.length === 0 ? null : `${text}: nobody reads ${unknown.join(', ')}`
}

const shapes = VERBS.flatMap((verb) => [
  verb.stdin ?? '',
  ...(verb.subs ?? []).map(({ stdin }) => stdin ?? ''),
])
/** What the roles of the loop answer, as JSON Schema. */
const answers = JSON.stringify(ANSWERS_OF)
/** Of a brief, beyond what the verb's own line shows; and the envelope of every answer. */
const REST = ['boundaries', 'pointers', 'hard', 'ok', 'problem', 'code', 'message', 'hint']
const KNOWN = new Set([
  ...shapes.flatMap((shape) => [...shape.matchAll(/"(\w+)":/g)].map((found) => found[1] ?? '')),
  ...[...answers.matchAll(/"(\w+)":/g)].map((found) => found[1] ?? ''),
  ...REST,
])

/** Each `assay(…)` of a workflow as one command: with every optional part, and a 1 for what is only known when it runs. */
export function workflowCommands(source: string): string[] {
  const consts = new Map(
    [...source.matchAll(/const (\w+) = `(--[^`]*)`/g)].map((found) => [found[1] ?? '', found[2] ?? '']),
  )
  const calls = [
    ...source.matchAll(/\bassay\(\s*(?:'([^']+)'|`((?:[^`$]|\$\{(?:[^{}`]|`[^`]*`|\{[^}]*\})*\}|\$)*)`)/g),
  ]
  const nexts = [...source.matchAll(/\bnext\([^`')]*`([^`]+)`/g)]
  return [
    ...calls.map((call) => `assay ${filled(call[1] ?? call[2] ?? '', consts)}`),
    ...nexts.map((call) => `assay round next${filled(call[1] ?? '', consts)}`),
  ]
}

function filled(template: string, consts: ReadonlyMap<string, string>): string {
  return template.replace(/\$\{((?:[^{}`]|`[^`]*`)*)\}/g, (_, expression: string) => {
    const known = consts.get(expression.trim())
    if (known !== undefined) return filled(known, consts)
    if (expression.trim() === 'WAIT') return '90s'
    if (expression.trim() === 'flags') return ''
    const optional = /`([^`]*)`/.exec(expression)?.[1]
    return optional === undefined ? '1' : filled(optional, consts)
  })
}
