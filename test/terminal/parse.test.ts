import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Problem } from '../../cli/result.ts'
import { type Flag, GLOBAL_FLAGS, type Parsed } from '../../cli/terminal/command.ts'
import { parse as parseWith, readFlag, readManners } from '../../cli/terminal/parse.ts'
import { MODULES } from '../../cli/verbs/modules.ts'
import { LATER, VERBS } from '../../cli/verbs/table.ts'

const parse = (argv: readonly string[]) => parseWith(argv, { verbs: VERBS, later: LATER })

function parsed(...argv: string[]): Parsed {
  const request = parse(argv)
  if (!request.ok || request.value.ask !== 'run') throw new Error(JSON.stringify(request))
  return request.value.args
}

function problems(...argv: string[]): { code: string; message: string; hint: string | undefined }[] {
  const request = parse(argv)
  if (request.ok) throw new Error(`accepted: ${argv.join(' ')}`)
  const list: Problem[] = [request.problem, ...(request.problem.more ?? [])]
  return list.map(({ code, message, hint }) => ({ code, message, hint: hint?.toString() }))
}

describe('accepted', () => {
  test('values of a verb get lost or mixed up', () => {
    const args = parsed(
      'new',
      '--parent',
      'exp_0003',
      '-m',
      '-x is slow',
      '--lane=2',
      '--run',
      'run_0001',
      '--key',
      'k1',
      '--json',
    )
    expect([args.verb, args.sub, args.positionals]).toEqual(['new', null, []])
    expect([args.text('parent'), args.text('message'), args.text('key')]).toEqual([
      'exp_0003',
      '-x is slow',
      'k1',
    ])
    expect([args.integer('lane'), args.integer('depth')]).toEqual([2, null])
    expect([args.run, args.key, args.json]).toEqual(['run_0001', 'k1', true])
  })

  test('global flags only work after the verb', () => {
    const args = parsed('--run', 'run_0002', '--json', 'show', 'exp_0001')
    expect([args.verb, args.run, args.json, args.positionals]).toEqual([
      'show',
      'run_0002',
      true,
      ['exp_0001'],
    ])
  })

  test('a sub-verb is taken for an argument', () => {
    const args = parsed('round', '--json', 'briefs', '--round', '3', '--token', 't')
    expect([args.verb, args.sub, args.positionals, args.integer('round')]).toEqual(['round', 'briefs', [], 3])
  })

  test('a verb named like an argument value steals it', () => {
    expect(parsed('guide', 'run').positionals).toEqual(['run'])
    expect(parsed('discard', 'exp_0001', '--reason', 'status').text('reason')).toBe('status')
  })

  test('what follows -- is read as flags', () => {
    expect(parsed('guide', '--', '--json').positionals).toEqual(['--json'])
    expect(readManners(['guide', '--', '--json']).json).toBe(false)
  })

  test('times are read in the wrong unit', () => {
    const timeout = (text: string) => parsed('wait', '--for', 'loop', '--timeout', text).duration('timeout')
    expect(['90s', '1500ms', '5m', '1.5h'].map(timeout)).toEqual([90_000, 1500, 300_000, 5_400_000])
    expect(parsed('wait', '--for', 'loop').duration('timeout')).toBeNull()
  })

  test('a command reads a flag that its table does not have', () => {
    expect(() => parsed('status').on('detach')).toThrow('status has no boolean flag --detach')
    expect(() => parsed('wait', '--for', 'loop').text('timeout')).toThrow('wait has no string flag --timeout')
  })
})

describe('refused', () => {
  test('only the first problem is reported', () => {
    expect(problems('new', '--lane', '0', '--parnt', 'exp_0001', '--depth', '1.5')).toEqual([
      { code: 'bad_value', message: '--lane cannot be "0"', hint: 'a whole number from 1 to 10000' },
      { code: 'unknown_flag', message: 'assay new has no flag --parnt', hint: 'did you mean --parent?' },
      { code: 'bad_value', message: '--depth cannot be "1.5"', hint: 'a whole number from 1 to 10000' },
    ])
  })

  test('a missing or a surplus argument goes unnoticed', () => {
    expect(problems('show')).toEqual([
      { code: 'missing_argument', message: 'assay show needs ID', hint: 'example: assay show exp_0007' },
    ])
    expect(problems('show', 'exp_0001', 'exp_0002')).toEqual([
      {
        code: 'unexpected_argument',
        message: 'assay show does not take "exp_0002"',
        hint: 'example: assay show exp_0007',
      },
    ])
    expect(problems('round').map(({ message }) => message)).toEqual([
      'assay round needs one of: open, next, findings, briefs, close',
    ])
    expect(problems('round', 'brief').map(({ hint }) => hint)).toEqual(['did you mean: assay round briefs?'])
  })

  test('a flag swallows the next flag, or an empty text passes', () => {
    expect(problems('new', '-m', 'a', '--parent', '--json')).toEqual([
      { code: 'bad_value', message: '--parent needs a value', hint: 'write --parent ID' },
    ])
    expect(problems('new', '-m').map(({ message }) => message)).toEqual(['--message needs a value'])
    expect(problems('new', '-m', '').map(({ message }) => message)).toEqual(['--message is empty'])
  })

  test.each([
    ['a value for a switch', ['status', '--json=yes'], '--json takes no value'],
    ['a flag given twice', ['new', '-m', 'a', '--message', 'b'], '--message is given twice'],
    [
      'a word that is no choice',
      ['discard', 'exp_0001', '--failure-class', 'evil'],
      '--failure-class cannot be "evil"',
    ],
    ['a number with a tail', ['tree', '--limit', '10x'], '--limit cannot be "10x"'],
    ['an exponent', ['tree', '--limit', '1e3'], '--limit cannot be "1e3"'],
    ['a time without unit', ['wait', '--for', 'loop', '--timeout', '90'], '--timeout cannot be "90"'],
    ['a time beyond the bound', ['wait', '--for', 'loop', '--timeout', '25h'], '--timeout cannot be "25h"'],
    ['a flag of another verb', ['status', '--detach'], 'assay status has no flag --detach'],
    ['a name from the prototype', ['status', '--constructor'], 'assay status has no flag --constructor'],
    ['an unknown flag alone', ['--jsno'], 'assay has no flag --jsno'],
  ])('accepts %s', (_, argv, message) => {
    expect(problems(...argv).map((problem) => problem.message)).toEqual([message])
  })

  test('verbs of later releases look like typing errors', () => {
    expect(LATER.map((verb) => problems(verb)[0]?.code)).toEqual(LATER.map(() => 'comes_later'))
    expect(problems('frobnicate')).toEqual([
      {
        code: 'unknown_verb',
        message: 'there is no verb "frobnicate"',
        hint: 'assay --help lists the verbs',
      },
    ])
  })
})

test('a repeatable flag keeps only one value', () => {
  const flag: Flag = { type: 'string', value: 'NAME', repeat: true, summary: 'names' }
  expect(readFlag('name', flag, 'b', ['a'])).toEqual({ ok: true, value: ['a', 'b'] })
  expect(readFlag('name', flag, 'a', undefined)).toEqual({ ok: true, value: ['a'] })
})

describe('help', () => {
  test.each([
    [['--help'], null, null],
    [[], null, null],
    [['help'], null, null],
    [['help', 'run'], 'run', null],
    [['run', '--help'], 'run', null],
    [['run', '-h', '--nonsense'], 'run', null],
    [['round', '--help'], 'round', null],
    [['round', 'close', '--help'], 'round', 'close'],
  ])('%j does not explain', (argv, verb, sub) => {
    const request = parse(argv)
    expect(request).toMatchObject({ ok: true, value: { ask: 'help' } })
    if (!request.ok || request.value.ask !== 'help') return
    expect([request.value.verb?.name ?? null, request.value.sub?.name ?? null]).toEqual([verb, sub])
  })

  test('an example of the table is not accepted by the parser', () => {
    const shapes = VERBS.flatMap((verb) => [verb, ...(verb.subs ?? [])])
    for (const { example } of shapes) {
      const command = /assay (.*?)(?: <.*|\)")?$/.exec(example)?.[1] ?? ''
      const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '')
      expect(parse(words), example).toMatchObject({ ok: true, value: { ask: 'run' } })
    }
  })

  test('a verb has no module, or a module no verb', () => {
    const verbs = VERBS.map(({ name }) => name)
    const subs = VERBS.flatMap(({ name, subs = [] }) => subs.map((sub) => `${name} ${sub.name}`))
    expect(Object.keys(MODULES).filter((name) => !subs.includes(name))).toEqual(
      verbs.filter((name) => name in MODULES),
    )
    const alone = VERBS.filter(({ name, subs: own = [] }) =>
      [name, ...own.map((sub) => `${name} ${sub.name}`)].every((one) => !(one in MODULES)),
    )
    expect(alone).toEqual([])
  })

  test('a decision is called for a different verb, or is not there', async () => {
    for (const [name, load] of Object.entries(MODULES)) {
      const module = (await load()) as { name?: string }
      if (module.name !== undefined) expect(module.name).toBe(name)
    }
  })

  test('two flags of a verb share a letter', () => {
    for (const verb of VERBS) {
      for (const { name, flags } of [verb, ...(verb.subs ?? [])]) {
        const letters = Object.values({ ...GLOBAL_FLAGS, ...flags }).flatMap((flag) => flag.short ?? [])
        expect(new Set(letters).size, name).toBe(letters.length)
      }
    }
  })
})

test('some arguments make the parser throw', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'run',
      'round',
      'open',
      'new',
      '--json',
      '-m',
      '--lane',
      '--',
      '-',
      '--=',
      '--run',
      '-qh',
      '--k=1',
      '__proto__',
    ),
    fc.string(),
  )
  fc.assert(fc.property(fc.array(word, { maxLength: 6 }), (argv) => typeof parse(argv).ok === 'boolean'))
})
