import { Script } from 'node:vm'
import type { Node } from 'acorn'
import { type Issue, problemOf } from '../result/issues.ts'
import { ok, type Result } from '../result.ts'
import { type ParsedScript, parseMeta, type ScriptMeta } from './meta.ts'
import { child, children, identifierName, memberOf, nodes } from './nodes.ts'
import type { Runnable } from './protocol.ts'

export interface LoadedScript {
  meta: ScriptMeta
  runnable: Runnable
}

/** Six letters like `import`, so that columns stay true; no author writes it. */
const IMPORT = 'ımport'

/** Errors of the script's own text; `at` is the position when there is one. */
const NONDETERMINISTIC =
  'Workflow scripts must be deterministic: Date.now()/Math.random()/new Date() are unavailable (breaks resume). Stamp results after the workflow returns, or pass timestamps via args.'

/**
 * Checks a script and wraps its body as a strict-mode async function. Nothing is run. No script may hold raw control
 * characters. `inline` scripts (typed by an agent, not in a file) are also scanned for other hidden characters and, even
 * in dead code, for clock and randomness.
 */
export function loadScript(source: string, options: { file: string; inline: boolean }): Result<LoadedScript> {
  const refuse = (issue: Issue, code = 'bad_workflow') => ({
    ok: false as const,
    problem: problemOf({ text: source, file: options.file }, [issue], code),
  })
  const control = hiddenCharacter(source, CONTROL)
  if (control !== null) return refuse(control, 'hidden_character')
  const parsed = parseMeta(source)
  if (!parsed.ok) return refuse(parsed.issue)
  const { meta, program } = parsed.value
  if (options.inline) {
    const hidden = hiddenCharacter(source, MARKS)
    if (hidden !== null) return refuse(hidden, 'hidden_character')
    const clock = clockUse(program)
    if (clock !== null) return refuse({ ...clock, message: NONDETERMINISTIC }, 'nondeterministic')
  }
  const code = wrap(source, parsed.value)
  try {
    new Script(code, { filename: options.file, columnOffset: -PREFIX.length })
  } catch (error) {
    const message = `Workflow script has a syntax error and was not launched:\nSyntaxError: ${error instanceof Error ? error.message : String(error)}`
    const { start, end } = program.body.find((node, at) => at > 0 && isModuleSyntax(node)) ?? {
      start: 0,
      end: 0,
    }
    return refuse({ from: start, to: end, message, hint: 'a workflow script is one file, run as a function' })
  }
  return ok({ meta, runnable: { name: meta.name, file: options.file, code, offset: PREFIX.length } })
}

/** The messages that come from the launch itself are complete; the rest say that the script is invalid. */
export function launchError(problem: { code: string; message: string }): string {
  const own = problem.code === 'nondeterministic' || problem.message.startsWith('Workflow script has')
  return own ? problem.message : `Invalid workflow script: ${problem.message}`
}

const PREFIX = `(${IMPORT}) => async () => { 'use strict'; `

/** Lines and columns stay those of the source: meta becomes blanks, `import(` a function that throws. */
function wrap(source: string, script: ParsedScript): string {
  const [start, end] = script.statement
  let body = source.slice(0, start) + source.slice(start, end).replace(/[^\n]/g, ' ') + source.slice(end)
  for (const node of nodes(script.program)) {
    if (node.type !== 'ImportExpression') continue
    body = body.slice(0, node.start) + IMPORT + body.slice(node.start + IMPORT.length)
  }
  return `${PREFIX}${body.replace(/^#!/, '//')}\n}`
}

/** `import …` and `export …`; the statement of meta is one, too. */
export const isModuleSyntax = (node: Node): boolean =>
  /^(?:Import|Export(?:Named|Default|All))Declaration$/.test(node.type)

/** The first use of clock or randomness that can be read off the source. */
function clockUse(program: Node): Issue | null {
  let first: Issue | null = null
  for (const node of nodes(program)) {
    const issue = readsClock(node)
    if (issue !== null && (first === null || issue.from < first.from)) first = issue
  }
  return first
}

/** Whether a node reads the clock or takes a random number, in the plain way. */
export function readsClock(node: Node): Issue | null {
  const { start: from, end: to } = node
  const member = memberOf(node)
  const bare = node.type === 'NewExpression' && identifierName(child(node, 'callee')) === 'Date'
  if (member === 'Math.random') {
    const message = 'Math.random() throws in workflow scripts: a resumed run would go another way'
    return { from, to, message, hint: 'for independent samples, put the index in the prompt or the label' }
  }
  if (member === 'Date.now' || (bare && children(node, 'arguments').length === 0)) {
    const message = `${member ?? 'new Date'}() throws in workflow scripts: a resumed run would go another way`
    return { from, to, message, hint: 'pass the time in args, or stamp the result after the workflow' }
  }
  return null
}

/** But tab, newline and carriage return. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
/** They reorder or hide text. */
const MARKS = /[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/

function hiddenCharacter(source: string, characters: RegExp): Issue | null {
  const match = characters.exec(source)
  if (match === null) return null
  const shown = `U+${match[0].charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`
  const message = `the script holds the hidden character ${shown}`
  return { from: match.index, to: match.index + 1, message, hint: 'take it out, or write it as an escape' }
}
