/** What is wrong with a workflow script, as far as its text shows, all in one pass. Nothing is run. */
import type { Node, ObjectExpression, Program } from 'acorn'
import { ok, type Result } from '../result.ts'
import { type Issue, problemOf, type Source } from '../spec/diagnose.ts'
import { callIssues, isObject } from './calls.ts'
import { boundNames, globalIssue } from './globals.ts'
import { type Meta, metaOf, parseProgram } from './meta.ts'
import { calleeOf, child, nameOf, type Placed, placedNodes } from './nodes.ts'
import { isModuleSyntax, loadScript, readsClock } from './script.ts'

/**
 * The script's own words about itself, when nothing speaks against running it in any host. Fails with `bad_workflow`: the
 * first problem in the order of the text, the others in `more`.
 */
export async function checkScript(source: Source): Promise<Result<Meta>> {
  const program = parseProgram(source.text)
  if (!program.ok) return { ok: false, problem: problemOf(source, [program.issue], 'bad_workflow') }
  const meta = metaOf(program.value)
  const issues = [...(meta.ok ? [] : [meta.issue]), ...(await bodyIssues(program.value))]
  if (issues.length > 0) return { ok: false, problem: problemOf(source, issues, 'bad_workflow') }
  const loaded = loadScript(source.text, { file: source.file, inline: false })
  return loaded.ok ? ok(loaded.value.meta) : loaded
}

async function bodyIssues(program: Program): Promise<Issue[]> {
  const all = program.body.flatMap((statement, at) =>
    at === 0 && isModuleSyntax(statement) ? [] : [...placedNodes(statement)],
  )
  const bound = boundNames(all)
  const constants = objectConstants(all)
  const issues: Issue[] = []
  for (const placed of all) {
    for (const issue of [moduleIssue(placed.node), readsClock(placed.node), globalIssue(placed, bound)]) {
      if (issue !== null) issues.push(issue)
    }
    if (calleeOf(placed.node) !== null) issues.push(...(await callIssues(placed.node, constants)))
  }
  return issues
}

function moduleIssue(node: Node): Issue | null {
  const { start: from, end: to } = node
  if (node.type === 'ImportExpression') {
    const message = 'import() throws in workflow scripts'
    return { from, to, message, hint: 'a workflow script is one file: write the code into it' }
  }
  if (!isModuleSyntax(node)) return null
  const hint = node.type === 'ImportDeclaration' ? 'write the code into this file' : 'return the result'
  return {
    from,
    to,
    message: 'a workflow script is one file: only meta is exported, nothing is imported',
    hint,
  }
}

/** `const ANSWER = { type: 'object', … }` by name. */
function objectConstants(all: readonly Placed[]): Map<string, ObjectExpression> {
  const constants = new Map<string, ObjectExpression>()
  for (const { node, parent } of all) {
    if (node.type !== 'VariableDeclarator' || Reflect.get(parent ?? {}, 'kind') !== 'const') continue
    const name = nameOf(child(node, 'id'))
    const value = child(node, 'init')
    if (name !== null && value !== null && isObject(value)) constants.set(name, value)
  }
  return constants
}
