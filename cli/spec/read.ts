/** Reads `assay.yaml`: all problems of a spec in one pass, each with its place. */

import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { isScalar, Lexer, parseDocument, visit } from 'yaml'
import { call, next } from '../next.ts'
import { type Issue, problemOf, type SourceText } from '../result/issues.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Kind } from './kind.ts'
import { SPEC } from './schema.ts'
import { compose, type Spec } from './spec.ts'
import type { Span } from './tree.ts'
import { type Path, walk } from './walk.ts'

const MOST_TEXT = 65_536
/** The YAML library can exhaust the memory of the process, uncatchably, on a few thousand nested brackets. */
const DEEPEST = 64
const WIDEST_INDENT = 200
/** Of one line, outside of brackets. The second one is an error already, but only this many keep the tree shallow. */
const MOST_COLONS = 16

export interface Located {
  spec: Spec
  /** Where the value at a path of the written spec stands, for problems that only the repository shows. */
  placeOf: (path: Path) => Span
}

/**
 * A spec from its text. `file` is how messages call it. Never throws.
 * Fails with `spec_invalid`: the first problem in document order, the others in `more`.
 */
export function readSpec(text: string, file: string): Result<Spec> {
  const located = locateSpec({ text, file })
  return located.ok ? ok(located.value.spec) : located
}

/** A spec and its text from disk. Fails like `readSpec`, and with `spec_unreadable`. */
export function readSpecFile(path: string): Result<{ spec: Spec; text: string }> {
  const file = basename(path)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return fail({
      kind: 'usage',
      code: 'spec_unreadable',
      message: missing ? `there is no ${file}` : `${file} cannot be read: ${(error as Error).message}`,
      hint: missing
        ? next`write one: ${call('init', '--template')} > assay.yaml`
        : 'it must be a text file that you may read',
      at: path,
    })
  }
  const read = readSpec(text, file)
  return read.ok ? ok({ spec: read.value, text }) : read
}

/** Like `readSpec`, and keeps where each value stands. */
export function locateSpec(source: SourceText): Result<Located> {
  const read = readYaml(SPEC, source)
  return read.ok ? ok({ spec: compose(read.value.value), placeOf: read.value.placeOf }) : read
}

/**
 * A text of YAML as a kind: all its problems in one. `nulls: 'absent'`: a key without a value is as if it were not there;
 * else it is a problem. `longest`: characters. Fails with
 * `spec_invalid`.
 */
export function readYaml<T>(
  kind: Kind<T>,
  source: SourceText,
  { nulls = 'refused', longest = MOST_TEXT }: { nulls?: 'refused' | 'absent'; longest?: number } = {},
): Result<{ value: T; placeOf: Located['placeOf'] }> {
  const { text } = source
  const unfit = sizeIssue(text, longest)
  if (unfit) return fail(problemOf(source, [unfit]))
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false })
  const broken = document.errors.map((error) => syntaxIssue(error.code, error.message, error.pos))
  const first = broken.reduce((least, issue) => Math.min(least, issue.from), Number.POSITIVE_INFINITY)
  if (document.contents === null && broken.length === 0) {
    const hint = next`see an example: ${call('init', '--template')}`
    return fail(problemOf(source, [{ from: 0, to: 1, message: 'the spec is empty', hint }]))
  }
  if (nulls === 'absent')
    visit(document, {
      Pair: (_, { value }) =>
        value === null || (isScalar(value) && value.value === null) ? visit.REMOVE : undefined,
    })
  const { value, issues, placeOf } = walk(kind, document, text)
  // After a syntax error the tree is a guess, and its root misses whatever was lost.
  const sure = issues.filter((issue) => broken.length === 0 || (issue.from > 0 && issue.from < first))
  const all = [...broken, ...sure]
  if (all.length > 0 || value === null) return fail(problemOf(source, all))
  return ok({ value, placeOf })
}

/** What is wrong with a text that is too long or too deep to be parsed; null when it may be. */
export function sizeIssue(text: string, longest = MOST_TEXT): Issue | null {
  if (text.length > longest) {
    const message = `the spec is longer than ${longest} characters`
    return {
      from: longest,
      to: longest + 1,
      message,
      hint: 'put long text into a file: instructions: {file: …}',
    }
  }
  let flow = 0
  let colons = 0
  let at = 0
  let line = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') flow++
    if (lexeme === ']' || lexeme === '}') flow = Math.max(0, flow - 1)
    if (lexeme === ':' && flow === 0) colons++
    const indented = (lexeme === '-' || lexeme === '?') && flow === 0 && at - line > WIDEST_INDENT
    if (flow > DEEPEST || colons > MOST_COLONS || indented) {
      return { from: at, to: at + 1, message: 'the spec is nested too deeply', hint: 'no key needs that' }
    }
    // The lexer's own marks for a document's start, a scalar and the end of a flow take no room in the text.
    if (lexeme !== '\u0002' && lexeme !== '\u0018' && lexeme !== '\u001f') at += lexeme.length
    if (lexeme.includes('\n')) {
      line = at
      colons = 0
    }
  }
  return null
}

const REPAIRS: Record<string, { message?: string; hint: string }> = {
  TAB_AS_INDENT: { message: 'a tab indents this line, and YAML takes only spaces', hint: 'use spaces' },
  MULTIPLE_DOCS: { message: 'a second document begins here', hint: 'a file holds one spec: remove the ---' },
  BAD_SCALAR_START: { hint: 'put quotes around the value' },
  BLOCK_AS_IMPLICIT_KEY: {
    hint: 'put quotes around text that holds ": ", or indent the line under its own key',
  },
  MULTILINE_IMPLICIT_KEY: { hint: 'indent this line like its neighbours' },
  BAD_INDENT: { hint: 'indent this line like its neighbours, and close every [ and {' },
  MISSING_CHAR: { hint: 'close every quote, and write key: value' },
  RESOURCE_EXHAUSTION: { message: 'the spec is nested too deeply', hint: 'no key needs that' },
}

function syntaxIssue(code: string, message: string, [from, to]: readonly [number, number]): Issue {
  const repair = REPAIRS[code] ?? { hint: 'this is not valid YAML: see the lines around it' }
  return { from, to, message: repair.message ?? `${message} (YAML)`, hint: repair.hint }
}
