/** `--help`, rendered from the table. Pure. */
import { type Flag, type Flags, GLOBAL_FLAGS, INPUT_FLAG, type SubVerb, type Verb } from './command.ts'

const GROUPS: readonly { group: Verb['group']; title: string }[] = [
  { group: 'start', title: 'Start' },
  { group: 'try', title: 'Try something' },
  { group: 'decide', title: 'Decide' },
  { group: 'look', title: 'Look' },
  { group: 'loop', title: 'Loop' },
  { group: 'tend', title: 'The run as a whole' },
]

/** All verbs, one line each. */
export function overview(verbs: readonly Verb[]): string {
  const width = Math.max(...verbs.map((verb) => verb.name.length))
  const lines = [
    'Coding agents propose; Assay measures, decides and remembers.',
    '',
    'Usage: assay VERB [arguments]',
  ]
  for (const { group, title } of GROUPS) {
    lines.push('', `${title}:`)
    for (const verb of verbs.filter((candidate) => candidate.group === group)) {
      lines.push(`  ${verb.name.padEnd(width)}  ${verb.summary}`)
    }
  }
  lines.push('', 'Every verb takes:', ...flagLines(GLOBAL_FLAGS))
  lines.push(
    '',
    'Exit codes: 0 done (a rejected candidate too), 1 bug in Assay, 2 usage or spec, 3 refused,',
    '            4 could not be evaluated, 124 wait timed out, 130 interrupted.',
    '',
    'More: assay VERB --help, assay guide',
  )
  return lines.join('\n')
}

/** One verb, or one of its sub-verbs, with an example. */
export function helpOf(verb: Verb, sub: SubVerb | null): string {
  const shape = sub ?? verb
  const name = `assay ${verb.name}${sub === null ? '' : ` ${sub.name}`}`
  const lines = [`${name}: ${shape.summary}`, '', `Usage: ${usage(name, verb, sub)}`]
  if (sub === null && verb.subs !== undefined) {
    const width = Math.max(...verb.subs.map((candidate) => candidate.name.length))
    lines.push('', ...verb.subs.map((candidate) => `  ${candidate.name.padEnd(width)}  ${candidate.summary}`))
    lines.push('', `More: ${name} ${verb.subs[0]?.name} --help`)
  }
  if (shape.stdin !== undefined) lines.push('', `Reads from standard input: ${shape.stdin}`)
  const flags = { ...(shape.stdin === undefined ? {} : INPUT_FLAG), ...shape.flags }
  if (Object.keys(flags).length > 0) lines.push('', 'Flags:', ...flagLines(flags))
  lines.push('', 'Every verb takes:', ...flagLines(GLOBAL_FLAGS), '', 'Example:', `  ${shape.example}`)
  return lines.join('\n')
}

function usage(name: string, verb: Verb, sub: SubVerb | null): string {
  const shape = sub ?? verb
  const positionals = shape.positionals.map(({ name: word, required, many }) => {
    const words = many ? `${word} …` : word
    return required ? words : `[${words}]`
  })
  for (const [flag, one] of Object.entries(shape.flags))
    if (one.needed !== undefined) positionals.push(`--${flag}${placeholder(one)}`)
  if (sub === null && verb.subs !== undefined) {
    const names = verb.subs.map((one) => one.name).join('|')
    positionals.push(verb.alone ? `[${names}]` : names)
  }
  return [name, ...positionals, '[flags]'].join(' ')
}

function flagLines(flags: Flags): string[] {
  const heads = Object.entries(flags).map(([name, flag]) => ({ head: flagHead(name, flag), flag }))
  const width = Math.max(...heads.map(({ head }) => head.length))
  return heads.map(({ head, flag }) => {
    const choices =
      flag.type === 'string' && flag.choices !== undefined ? ` (${flag.choices.join(', ')})` : ''
    return `  ${head.padEnd(width)}  ${flag.summary}${choices}`
  })
}

function flagHead(name: string, flag: Flag): string {
  const short = flag.short === undefined ? '    ' : `-${flag.short}, `
  const repeat = flag.type === 'string' && flag.repeat === true ? ' …' : ''
  return `${short}--${name}${placeholder(flag)}${repeat}`
}

const placeholder = (flag: Flag): string => (flag.type === 'boolean' ? '' : ` ${flag.value}`)
