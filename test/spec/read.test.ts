import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSpec, readSpecFile } from '../../cli/spec/read.ts'
import { makeTemp } from '../rig/temp.ts'
import { LEAST, problemsIn, specOf } from './source.ts'

describe('a spec that holds', () => {
  test('a spec as JSON with a comma too many is refused, or read as something else', () => {
    const text =
      '{"version":1,"name":"faster-parser","goal":"Parse faster.","scope":{"mutable":["src/**",],},'
    const rest = '"measure":{"command":"node bench.js",},"metric":{"name":"ms","direction":"minimize",},}'
    expect(specOf(text + rest)).toEqual(specOf(LEAST))
  })

  test('a default of the spec differs from the contract', () => {
    expect(specOf(LEAST)).toEqual({
      version: 1,
      name: 'faster-parser',
      goal: 'Parse faster.',
      instructions: { file: null, text: null, rules: [] },
      scope: { mutable: ['src/**'], immutable: [], limits: { files: null, lines: null, types: null } },
      worktree: { setup: null, build: null, data: [] },
      measure: {
        command: 'node bench.js',
        directory: '.',
        timeoutMs: 600_000,
        read: 'auto',
        slots: 1,
        outputBytes: 67_108_864,
        before: null,
        after: null,
        requires: [],
        score: null,
        isolation: { mode: 'auto', network: false, allow: [], write: [], fresh: 'candidate' },
        environment: { inherit: [], set: {}, file: null, keys: null },
      },
      metric: {
        name: 'ms',
        direction: 'minimize',
        target: null,
        unit: null,
        min_improvement: { absolute: 0 },
      },
      tasks: { aggregate: 'mean', missing: 'fail' },
      constraints: [],
      protected: [],
      holdout: { max_regression: { absolute: 0 } },
      tie_breakers: [],
      gates: [],
      noise: { mode: 'auto', calibrate: 5, pairs: { min: 2, max: 25 } },
      search: { policy: 'auto', k: 1, seed: 1, max_attempts: 3 },
      loop: {
        workflow: 'optimize',
        width: 4,
        depth: 3,
        stall: 5,
        ideate: { stall: 3, keeps: 5 },
        scan: { batch: 6, max: 24 },
        revise: 3,
        merge: 'on',
        quiet: false,
        baseline_arm: 0,
        meta: { on: true, every: 300_000 },
      },
      budget: {
        experiments: null,
        hours: null,
        failures: null,
        tokens: null,
        usd: null,
        unknown: 'refuse',
      },
      agent: null,
      skills: [],
    })
  })

  test('a duration, a size, a threshold or a command is not read in one of the ways to write it', () => {
    const spec = specOf(`version: 1
name: a
goal: g
scope: { mutable: [src/**], limits: { files: 5, lines: 300, types: [.ts, .d.mts] } }
worktree: { setup: { command: npm ci, inputs: [package-lock.json], timeout: 1.5h }, build: { command: [make, ""] } }
measure:
  command: [node, bench.js]
  timeout: 500ms
  output: 512KiB
  read: { regex: 'ms: (\\d+)(?: ms)?' }
  environment: { inherit: [A], set: { NODE_ENV: production, EMPTY: "" }, file: ../.env, keys: [API_KEY] }
metric: { name: ms, direction: maximize, target: -0.5, min_improvement: 1.5% }
gates: [{ name: a, command: x, timeout: 90s }, { name: b, command: y, phase: after, timeout: 2h }]
constraints: [{ metric: ok, op: "==", value: true }, { metric: mb, op: "<=", value: 2e3 }]
search: { policy: argmax }
agent: { host: tune, tune: { parameters: [{ file: a.json, pointer: /a/0, min: 1, max: 9, scale: integer }] } }
`)
    expect(spec.scope.limits).toEqual({ files: 5, lines: 300, types: ['.ts', '.d.mts'] })
    expect(spec.worktree).toEqual({
      setup: { command: 'npm ci', inputs: ['package-lock.json'], timeoutMs: 5_400_000 },
      build: { command: ['make', ''], timeoutMs: 600_000 },
      data: [],
    })
    expect(spec.measure).toEqual({
      command: ['node', 'bench.js'],
      directory: '.',
      timeoutMs: 500,
      read: { regex: 'ms: (\\d+)(?: ms)?' },
      slots: 1,
      outputBytes: 524_288,
      before: null,
      after: null,
      requires: [],
      score: null,
      isolation: { mode: 'auto', network: false, allow: [], write: [], fresh: 'candidate' },
      environment: {
        inherit: ['A'],
        set: { NODE_ENV: 'production', EMPTY: '' },
        file: '../.env',
        keys: ['API_KEY'],
      },
    })
    expect(spec.metric).toEqual({
      name: 'ms',
      direction: 'maximize',
      target: -0.5,
      unit: null,
      min_improvement: { relative: 0.015 },
    })
    expect(spec.gates.map(({ phase, timeoutMs }) => [phase, timeoutMs])).toEqual([
      ['before', 90_000],
      ['after', 7_200_000],
    ])
    expect(spec.constraints.map(({ value }) => value)).toEqual([true, 2000])
    expect(spec.search.policy).toBe('argmax')
    expect(spec.agent?.tune.parameters).toEqual([
      { file: 'a.json', pointer: '/a/0', min: 1, max: 9, scale: 'integer' },
    ])
  })

  test('an alias or a merge key is not followed, or the merged key wins over the own one', () => {
    const spec = specOf(`${LEAST}gates:
  - &first { name: a, command: x, timeout: 5m }
  - { <<: *first, name: b }
  - { <<: [*first], name: c, timeout: 1m }
`)
    expect(spec.gates.map(({ name, command, timeoutMs }) => [name, command, timeoutMs])).toEqual([
      ['a', 'x', 300_000],
      ['b', 'x', 300_000],
      ['c', 'x', 60_000],
    ])
  })
})

describe('all problems of a spec', () => {
  test('a problem of a spec is not told in the first pass, is out of order, or lacks its place or its fix', () => {
    expect(
      problemsIn(`version: 2
name: Faster Parser
goal: 12
scope:
  mutable: [src/**, "!src/vendor/**", !src/x/**]
  immutble: [bench/**]
measure: { command: node x, timeout: 10, read: { regex: '(a)(b)' }, output: 64MB }
metric: { name: ms, direction: minimise, target: .inf }
budget: { experiments: "100", max_cost_usdd: 3, usd: 3 }
gates:
  - { name: a, command: x }
  - { name: a, command: y, phase: befor }
agent: { host: claude }
goal: again
loop: { width: 65, depth: 0 }
noise: { mode: pairs, pairs: { min: 30, max: 25, most: 9 } }
constraints: [{ metric: a, op: "<", value: true }]
quiet: true
skills: finetuning
search:
`),
    ).toEqual([
      '1:10 `version` is out of range: 2 → write 1',
      '2:7 `name` is not a name: "Faster Parser" → small letters and digits, joined by single hyphens: faster-parser',
      '3:7 `goal` must be text, not a number → put quotes around it: "12"',
      '5:21 a glob cannot be negated: "!src/vendor/**" → put "src/vendor/**" under `immutable`, which wins over `mutable`',
      '5:39 a glob cannot be negated: "!src/x/**" → put "src/x/**" under `immutable`, which wins over `mutable`',
      '6:3 `immutble` is not a key of `scope` → did you mean `immutable`?',
      '7:38 `measure.timeout` must be a duration, not a number → write a number with its unit: 500ms, 90s, 10m or 2h (at most 99h)',
      '7:57 the regular expression has 2 groups, and needs exactly one → put ( ) around the number, and (?: ) around anything else',
      '7:77 `measure.output` is not a size: "64MB" → write a whole number with its unit: 512KiB, 64MiB or 1GiB (at most 9GiB)',
      '8:32 `metric.direction` cannot be "minimise" → did you mean `minimize`?',
      '8:50 `metric.target` must be a finite number → write a number',
      '9:24 `budget.experiments` must be a whole number, not text → remove the quotes: 100',
      '9:31 `max_cost_usdd` is not a key of `budget` → the keys are: experiments, hours, failures, tokens, usd, judge_usd, unknown',
      '12:13 `gates[1].name` is "a" like that of entry 1 → give each entry its own',
      '12:35 `gates[1].phase` cannot be "befor" → did you mean `before`?',
      '13:16 `agent.host` cannot be "claude" → write one of tune, command, claude-code, codex, copilot, gemini, opencode, pi, qwen',
      '14:1 `goal` is there twice → the first is on line 3: keep one of them',
      '15:16 `loop.width` is out of range: 65 → write a whole number from 1 to 64',
      '15:27 `loop.depth` is out of range: 0 → write a whole number from 1 to 20',
      '16:16 `noise.mode` cannot be "pairs" → did you mean `paired`?',
      '16:37 30 is more than max, 25 → write at most the value of max',
      '16:50 `most` is not a key of `noise.pairs` → the keys are: min, max',
      '17:32 `<` cannot compare with true → use == or !=',
      '18:1 `quiet` is not a key of the spec → the keys are: version, name, goal, instructions, scope, worktree, measure, suite, metric, judge, tasks, constraints, targets, protected, controls, holdout, tie_breakers, gates, noise, search, loop, budget, agent, skills, report, gradient, attribute, dependencies, executor',
      '19:9 `skills` must be a list, not text → put brackets around it: [finetuning]',
      '20:1 `search` is empty → write a mapping, or remove the line',
    ])
  })

  test('the line of a problem is not shown as the user wrote it, or the caret is not under what is wrong', () => {
    const read = readSpec(LEAST.replace('minimize', 'minimise'), 'conf/assay.yaml')
    expect(read).toEqual({
      ok: false,
      problem: {
        kind: 'usage',
        code: 'spec_invalid',
        message: '`metric.direction` cannot be "minimise"',
        hint: 'did you mean `minimize`?',
        at: `conf/assay.yaml:6:32
  metric: { name: ms, direction: minimise }
                                 ^^^^^^^^`,
      },
    })
  })

  test('a missing key is not named at the mapping that lacks it, or a key that is only misspelt is told as missing', () => {
    expect(problemsIn('version: 1\nname: a\ngoals: g\nscope: {}\nmeasure:\n  timeout: 1m\n')).toEqual([
      '1:1 `metric` is missing → add `metric`: a mapping. The number to improve.',
      '3:1 `goals` is not a key of the spec → did you mean `goal`?',
      '4:1 `scope.mutable` is missing → add `mutable`: a list. Globs (picomatch, `dot: true`) of the files that a candidate may change, relative to the folder of the spec.',
      '5:1 `measure.command` is missing → add `command`: text or a list. The benchmark. Text runs under `/bin/sh -c`; a list is program and arguments without a shell. `{worktree}` and `{result}` are filled in, quoted.',
    ])
  })

  test.each([
    ['', '1:1 the spec is empty → see an example: assay init --template'],
    ['# only a comment\n', '1:1 the spec is empty → see an example: assay init --template'],
    [
      '- a\n',
      '1:1 the spec must be a mapping, not a list → its keys are: version, name, goal, instructions, scope, worktree, measure, suite, metric, judge, tasks, constraints, targets, protected, controls, holdout, tie_breakers, gates, noise, search, loop, budget, agent, skills, report, gradient, attribute, dependencies, executor',
    ],
    ['version: 1\n\tname: x\n', '2:1 a tab indents this line, and YAML takes only spaces → use spaces'],
    [
      'version: 1\n---\nname: x\n',
      '2:1 a second document begins here → a file holds one spec: remove the ---',
    ],
  ])('a file that is not one mapping is read, or refused for another reason: %j', (text, problem) => {
    expect(problemsIn(text)[0]).toBe(problem)
  })

  test('a problem before a syntax error is left out, or a problem after it is guessed', () => {
    expect(problemsIn('version: 1\nnme: x\ngoal: @here\nscop: 1\n')).toEqual([
      '2:1 `nme` is not a key of the spec → did you mean `name`?',
      '3:7 Plain value cannot start with reserved character @ (YAML) → put quotes around the value',
    ])
  })

  test('the hint for a colon far to the right in unquoted text does not say to put quotes around the text', () => {
    const goal = `${'long '.repeat(60)}text: with a colon`
    expect(problemsIn(LEAST.replace('Parse faster.', goal))).toEqual([
      '3:7 Nested mappings are not allowed in compact mappings (YAML) → put quotes around text that holds ": ", or indent the line under its own key',
    ])
  })

  test('a column past a tab is counted wrongly, or a long line is not cut around what is wrong', () => {
    const read = readSpec(`${LEAST}loop: {\twidth: 0, workflow: ${'x'.repeat(200)} }\n`, 'f')
    expect(!read.ok && read.problem.at).toBe(
      `f:7:16\n  loop: {\twidth: 0, workflow: ${'x'.repeat(72)}…\n         \t       ^`,
    )
  })

  test.each([
    ['agent: { host: command }', '7:16 `host: command` has no command → add `command: …` to `agent`'],
    [
      'agent: { host: tune }',
      '7:16 `host: tune` has no parameters → add `tune: {parameters: [{file, pointer, min, max}]}` to `agent`',
    ],
    [
      'agent: { host: tune, tune: { parameters: [{ file: a, min: 1, max: 2 }] } }',
      '7:43 the place of the number is not given → add `pointer` (JSON) or `pattern` (any text)',
    ],
    [
      'agent: { host: tune, tune: { parameters: [{ file: a, pointer: /a, pattern: (a), min: 1, max: 2 }] } }',
      '7:76 `pointer` and `pattern` both name the place of the number → keep one of them',
    ],
    [
      'agent: { host: tune, tune: { parameters: [{ file: a, pointer: /a, min: 2, max: 2 }] } }',
      '7:80 `max` is 2, not above `min`, which is 2 → write the smaller one as min',
    ],
    [
      'agent: { host: tune, tune: { parameters: [{ file: a, pointer: /a, min: 0, max: 2, scale: log }] } }',
      '7:72 a log scale needs `min` above 0, not 0 → raise min, or use scale: linear',
    ],
    [
      'agent: { host: tune, tune: { parameters: [{ file: a, pointer: /a, min: 0.1, max: 0.9, scale: integer }] } }',
      '7:82 there is no whole number from `min` to `max` → widen the range, or use scale: linear',
    ],
    [
      'instructions: { file: ../notes.md }',
      '7:23 `instructions.file` is not a path: "../notes.md" → write it relative to the folder of the spec, without ..',
    ],
    ['search: { policy: argmex }', '7:19 `search.policy` cannot be "argmex" → did you mean `argmax`?'],
    [
      'search: { params: { epsilon: 0.1 } }',
      '7:11 `params` is not a key of `search` → the keys are: policy, k, seed, max_attempts',
    ],
    ['budget: { hours: 0 }', '7:18 `budget.hours` is out of range: 0 → write a number above 0'],
    [
      'loop: { quiet: "true" }',
      '7:16 `loop.quiet` must be true or false, not text → remove the quotes: true',
    ],
    ['tasks: { aggregate: *mean }', '7:21 no anchor is called `mean` → write &mean before its value'],
    [
      'instructions: { text: !secret x }',
      '7:23 `!secret` is a YAML tag, which a spec does not use → put quotes around text that begins with !',
    ],
    ['__proto__: 1', `7:1 \`__proto__\` is not a key of the spec → ${allKeys()}`],
    ['constructor: 1', `7:1 \`constructor\` is not a key of the spec → ${allKeys()}`],
    ['? [a]\n: 1', '7:3 a key of the spec is not a word → write key: value'],
    ['"<<": 5', `7:1 \`<<\` is not a key of the spec → ${allKeys()}`],
    ['<<: 5', '7:5 `<<` takes a mapping or a list of them → write <<: *name'],
  ])(
    'one bad part is told without its place or its fix, or together with a problem that is none: %s',
    (line, problem) => {
      expect(problemsIn(`${LEAST}${line}\n`)).toEqual([problem])
    },
  )
})

describe('hostile text', () => {
  test('a spec that stands for too many values, written out or by aliases, is not refused', () => {
    const levels = Array.from({ length: 9 }, (_, n) => `  l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(10)}]`)
    const laughs = `${LEAST}measure_set: &l0 [x]\nagent:\n${levels.join('\n')}\nskills: *l9\n`
    expect(problemsIn(laughs).length).toBeGreaterThan(0)
    const gates = `${LEAST}skills: [${Array.from({ length: 11_000 }, () => 'a').join(',')}]\n`
    expect(problemsIn(gates)).toEqual([
      '1:1 the spec stands for more than 10000 values → use fewer aliases (*name)',
    ])
  })

  test('an alias to itself never ends, is taken for text, or is refused as a merge key', () => {
    expect(problemsIn(`${LEAST}skills: &s [a, *s]\n`)).toEqual([
      '7:16 `skills[1]` must be text, not a list → write some text',
    ])
    expect(problemsIn(`${LEAST}loop: &l { <<: *l, width: 2 }\n`)).toEqual([])
  })

  test.each([
    ['['.repeat(3000)],
    ['{a: '.repeat(3000)],
    ['- '.repeat(3000)],
    ['? '.repeat(3000)],
    ['a: '.repeat(3000)],
  ])('a text that is nested three thousand deep is not refused for its depth', (text) => {
    expect(problemsIn(text)[0]).toMatch(/^1:\d+ the spec is nested too deeply → no key needs that$/)
  })

  test('a spec longer than 64 KiB is not refused', () => {
    expect(problemsIn(`${LEAST}#${'x'.repeat(70_000)}`)[0]).toMatch(
      / the spec is longer than 65536 characters /,
    )
  })
})

describe('a spec file', () => {
  test('a missing spec is not told with its place, or one that is there is not read', () => {
    const file = join(makeTemp(), 'assay.yaml')
    expect(readSpecFile(file)).toMatchObject({
      ok: false,
      problem: { code: 'spec_unreadable', message: 'there is no assay.yaml', at: file },
    })
    writeFileSync(file, LEAST)
    expect(readSpecFile(file)).toEqual({ ok: true, value: { spec: specOf(LEAST), text: LEAST } })
  })
})

function allKeys(): string {
  return 'the keys are: version, name, goal, instructions, scope, worktree, measure, suite, metric, judge, tasks, constraints, targets, protected, controls, holdout, tie_breakers, gates, noise, search, loop, budget, agent, skills, report, gradient, attribute, dependencies, executor'
}

test.each(['toString', '__proto__', 'constructor'])(
  'a metric that is called %s ends in an error of ours',
  (name) => {
    for (const text of [
      LEAST.replace('name: ms', `name: ${name}`),
      `${LEAST}\nprotected: [{ metric: ${name}, direction: minimize }]\n`,
    ])
      expect(problemsIn(text)).toEqual([expect.stringContaining(`a metric cannot be called ${name}`)])
  },
)
