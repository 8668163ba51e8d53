import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemp } from './temp.ts'
import { until } from './until.ts'

/** One call as the host saw it. */
export interface HostCall {
  role: string
  card: Record<string, unknown>
  prompt: string
  cwd: string
}

export interface ScriptedHost {
  /** Program and arguments: for the spec's `command` host. */
  argv: [string, string]
  /** The same as one shell command. */
  command: string
  /** Replaces the answers from the next call on. */
  answer: (module: string) => void
  /** Its calls until now, in the order they began. */
  calls: () => HostCall[]
  /** Resolves once it was called in this role. */
  calledAs: (role: string) => Promise<void>
}

/**
 * A program that plays a coding agent: it reads the prompt from standard input, finds the last fenced `json` block
 * (the task card) and answers by role. `module` is the text of an ES module whose default export maps a role to
 * `(card, { prompt, cwd }) => string | object` (async allowed); the role `*` answers the rest. An object is printed
 * as one line of JSON. A thrown error is a failure with exit 1.
 */
export function scriptedHost(module: string): ScriptedHost {
  const folder = makeTemp('host')
  const program = join(folder, 'host.mjs')
  const log = join(folder, 'calls.jsonl')
  const answer = (text: string) => writeFileSync(join(folder, 'answers.mjs'), text)
  answer(module)
  writeFileSync(program, SOURCE)
  // A line is whole once it has ended: a call may be writing its own.
  const calls = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as HostCall)
      : []
  return {
    argv: [process.execPath, program],
    command: `'${process.execPath}' '${program}'`,
    answer,
    calls,
    calledAs: (role) =>
      until(() => calls().some((call) => call.role === role), { what: `a call as ${role}`, dir: folder }),
  }
}

const SOURCE = `import { appendFileSync } from 'node:fs'
let prompt = ''
for await (const chunk of process.stdin.setEncoding('utf8')) prompt += chunk
const fences = [...prompt.matchAll(/^\`\`\`json\\n([^]*?)\\n\`\`\`$/gm)]
const last = fences.at(-1)
if (last === undefined) {
  console.error('the prompt has no task card')
  process.exit(2)
}
const card = JSON.parse(last[1])
const cwd = process.cwd()
appendFileSync(new URL('calls.jsonl', import.meta.url), JSON.stringify({ role: card.role, card, prompt, cwd }) + '\\n')
const { default: answers } = await import('./answers.mjs')
const role = answers[card.role] ?? answers['*']
if (role === undefined) {
  console.error('no answer is scripted for the role ' + card.role)
  process.exit(2)
}
const answer = await role(card, { prompt, cwd })
console.log(typeof answer === 'string' ? answer : JSON.stringify(answer))
`
