/** What the CLI says to do next must be something that the CLI takes. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { call, Next, next } from '../../cli/next.ts'
import { parse } from '../../cli/terminal/parse.ts'
import { worksOnARun } from '../../cli/verbs/run-in-commands.ts'
import { LATER, VERBS } from '../../cli/verbs/table.ts'
import { callsIn, mentionsIn, type SeenCall } from '../architecture/calls.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const sources = readdirSync(`${ROOT}cli`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ file: `cli/${path}`, text: readFileSync(`${ROOT}cli/${path}`, 'utf8') }))
const calls = sources.flatMap(({ file, text }) => callsIn(file, text))

/** What a word that is known only when the program runs may be: an id, a number, a time, a choice. */
const SAMPLES = ['exp_0007', '1', '90s', 'build', 'node', 'before']

const takes = (argv: readonly string[]): boolean => {
  const parsed = parse(argv, { verbs: VERBS, later: LATER })
  return parsed.ok && parsed.value.ask !== 'version'
}

/** The verb alone, as in "see assay tree", or `assay VERB --help`; else all that it needs must be there. */
function isTaken(words: readonly (string | null)[], run: string | null): boolean {
  const filled = SAMPLES.map((sample) => words.map((word) => word ?? sample))
  return filled.some((argv) => {
    const [verb = '', ...args] = argv
    const line = next`${call(verb, ...args)}`.say(run, worksOnARun)
    const typed = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)]
    const [, ...rest] = typed.map((match) => match[1] ?? match[2] ?? match[3] ?? '')
    return takes(rest) || (args.length === 0 && takes([...rest, '--help']))
  })
}

describe('a hint', () => {
  test('names a verb, a flag or an argument that the CLI does not take', () => {
    expect(calls.length).toBeGreaterThan(60)
    const known = calls.filter(({ words: [verb] }) => verb !== null)
    const wrong = known.filter(({ words }) => !isTaken(words, null) || !isTaken(words, 'run_0001'))
    expect(wrong).toEqual([])
  })

  test('names a verb that only the running program knows, outside of the parser', () => {
    const unknown = calls.filter(({ words: [verb] }) => verb === null)
    // There it comes out of the table.
    expect(unknown.filter(({ file }) => file !== 'cli/terminal/parse.ts')).toEqual([])
  })

  test('a command in a sentence names a verb or a flag that does not exist', () => {
    const mentions = sources.flatMap(({ file, text }) => mentionsIn(file, text))
    expect(mentions.length).toBeGreaterThan(50)
    expect(mentions.filter(({ text }) => !exists(text.split(' ').slice(1)))).toEqual([])
  })

  test('the check of hints does not notice a planted error', () => {
    const planted = (source: string): boolean[] =>
      callsIn('cli/a.ts', `import { call } from '../next.ts'\n${source}`).map(({ words }: SeenCall) =>
        isTaken(words, null),
      )
    expect(planted(`call('show', id)`)).toEqual([true])
    expect(planted(`call('shwo', id)`)).toEqual([false])
    expect(planted(`call('show', id, '--frobnicate')`)).toEqual([false])
    expect(planted(`call('gate list', id, 'more')`)).toEqual([false])
    expect(planted(`call(known ? 'tree' : 'treee')`)).toEqual([true, false])
    expect(planted(`call('new', '--parent', id)`)).toEqual([false])
    expect(planted(`call('wait', '--for', what, '--timeout', time)`)).toEqual([true])
    const mentioned = (text: string): boolean[] =>
      mentionsIn('cli/a.ts', text).map((one) => exists(one.text.split(' ').slice(1)))
    expect(mentioned('const a = `then: assay show $' + '{id}; or assay treee`')).toEqual([true, false])
    expect(mentioned(`const a = 'assay run ID --take-ovr'`)).toEqual([false])
  })
})

/** Of a sentence: its verb, the sub-verb if it has some, and every flag. Words behind may be the sentence's own. */
function exists([name = '', second = '', ...rest]: readonly string[]): boolean {
  const verb = VERBS.find((one) => one.name === name)
  if (verb === undefined) return NO_VERB.includes(name)
  const sub = verb.subs?.find((one) => one.name === second)
  const flags = { ...verb.flags, ...sub?.flags, run: 0, key: 0, json: 0, help: 0, quiet: 0 }
  const given = [second, ...rest].flatMap((word) => /^--([a-z-]+)$/.exec(word)?.[1] ?? [])
  return given.every((flag) => flag in flags)
}

/** `assay` that is no command: the plugin of that name in a host. */
const NO_VERB = ['already', 'itself', 'when', 'did', 'after', 'line']

test('the run stands where its verb does not take it, or behind a verb that has none', () => {
  const said = (value: Next) => value.say('R', worksOnARun)
  expect(said(next`wait for it (${call('wait', '--for', 'loop')}), or: ${call('loop')}`)).toBe(
    'wait for it (assay wait --run R --for loop), or: assay loop --run R',
  )
  expect(said(next`${call('round open', '--take-over')}`)).toBe('assay round open --run R --take-over')
  expect(said(next`${call('init', '--new')}, ${call('doctor')}, ${call('guide', 'spec')}`)).toBe(
    'assay init --new, assay doctor, assay guide spec',
  )
})

test('a hint inside of a second one loses its commands, or words lose their quotes', () => {
  const inner = next`clear it: ${call('restore', 'exp_0007')}`
  const hint = next`look first; ${inner}, or ${call('new', '-m', 'your idea')}`
  expect(hint.say('R')).toBe(
    'look first; clear it: assay restore --run R exp_0007, or assay new --run R -m "your idea"',
  )
  expect(JSON.stringify({ hint })).toBe(
    '{"hint":"look first; clear it: assay restore exp_0007, or assay new -m \\"your idea\\""}',
  )
  expect(String(next`${call('workflow check', "it's $(here)\u001b[2J")}`)).toBe(
    "assay workflow check 'it'\\''s $(here)\\x1b[2J'",
  )
  expect(new Next([]).say('R')).toBe('')
})
