import fc from 'fast-check'

/** A part of a spec as a user writes it, beside what it must be read as. */
interface Part {
  written: unknown
  read: unknown
}

const same = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<Part> =>
  arbitrary.map((written) => ({ written, read: written }))

/** Text that YAML could take for something else, or that needs quotes. */
const anyText = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }),
  fc.constantFrom(
    'yes',
    'null',
    '~',
    '1',
    '1.5',
    'true',
    '- a',
    'a: b',
    '#x',
    '"',
    "'",
    '[a]',
    '*x',
    '&x',
    '!x',
    '<<',
  ),
  fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }),
)
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/)
const glob = fc.constantFrom('src/**', '**/*.ts', 'a b/*', '*', 'x/{a,b}.c', '#a', '.env*', 'app/[id].ts')
const count = (min: number, max: number) => same(fc.integer({ min, max }))
const duration = fc
  .tuple(
    fc.integer({ min: 1, max: 99 }),
    fc.constantFrom(['ms', 1], ['s', 1000], ['m', 60_000], ['h', 3_600_000]),
  )
  .map(([n, [unit, ms]]) => ({ written: `${n}${unit}`, read: n * Number(ms) }))
const size = fc.constantFrom(
  { written: '1B', read: 1 },
  { written: '512KiB', read: 524_288 },
  { written: '64MiB', read: 67_108_864 },
  { written: '9GiB', read: 9_663_676_416 },
)
const threshold = fc.constantFrom<Part>(
  { written: '1%', read: { relative: 0.01 } },
  { written: '0.1%', read: { relative: 0.001 } },
  { written: '7%', read: { relative: 0.07 } },
  { written: 0.5, read: { absolute: 0.5 } },
  { written: 0, read: { absolute: 0 } },
)
const command = same(fc.oneof(anyText, fc.array(anyText, { minLength: 1, maxLength: 3 })))
const limited = mapping({
  need: { command },
  may: { timeout: [duration, 600_000] },
  names: { timeout: 'timeoutMs' },
})
const step = fc.oneof(
  command.map(({ written }) => ({ written, read: { command: written, timeoutMs: 600_000 } })),
  limited,
)
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n))
const listOf = (arbitrary: fc.Arbitrary<unknown>, minLength = 0) =>
  same(fc.array(arbitrary, { minLength, maxLength: 3 }))

interface Shape {
  /** Must be written. */
  need?: Record<string, fc.Arbitrary<Part>>
  /** What it reads as when it is not written. */
  may?: Record<string, readonly [fc.Arbitrary<Part>, unknown]>
  /** Names that differ between the file and the spec. */
  names?: Record<string, string>
}

function mapping({ need = {}, may = {}, names = {} }: Shape): fc.Arbitrary<Part> {
  const parts = fc.record({
    ...need,
    ...Object.fromEntries(Object.entries(may).map(([name, [part]]) => [name, fc.option(part)])),
  })
  return parts.map((chosen) => {
    const written: Record<string, unknown> = {}
    const read: Record<string, unknown> = {}
    for (const [name, part] of Object.entries(chosen) as [string, Part | null][]) {
      if (part) written[name] = part.written
      read[names[name] ?? name] = part ? part.read : may[name]?.[1]
    }
    return { written, read }
  })
}

function sequence(item: fc.Arbitrary<Part>, unique?: string): fc.Arbitrary<Part> {
  const options = { maxLength: 3 }
  const nameOf = (part: Part) => (part.read as Record<string, unknown>)[unique ?? '']
  const items = unique ? fc.uniqueArray(item, { ...options, selector: nameOf }) : fc.array(item, options)
  return items.map((all) => ({ written: all.map((one) => one.written), read: all.map((one) => one.read) }))
}

const direction = same(fc.constantFrom('minimize', 'maximize'))
const timeoutMs = { timeout: 'timeoutMs' }
const limits = mapping({
  may: {
    files: [count(1, 99), null],
    lines: [count(1, 999), null],
    types: [same(fc.constant(['.ts'])), null],
  },
})
const parameter = mapping({
  need: {
    file: same(word),
    pointer: same(fc.constantFrom('/a', '/a/0/b~1c')),
    min: count(1, 5),
    max: count(6, 9),
  },
  may: { scale: [same(fc.constantFrom('linear', 'log', 'integer')), 'linear'] },
})

/** The keys of isolation stand among those of the measurement, and are read as one config. */
function isolationApart({ written, read }: Part): Part {
  const { isolation: mode, network, allow, write, fresh, ...measure } = read as Record<string, unknown>
  return { written, read: { ...measure, isolation: { mode, network, allow, write, fresh } } }
}

/** Any spec, with any of its optional keys left out. */
export const anySpec: fc.Arbitrary<Part> = mapping({
  need: {
    version: same(fc.constant(1)),
    name: same(fc.stringMatching(/^[a-z0-9]{1,5}(-[a-z0-9]{1,5}){0,2}$/)),
    goal: same(anyText),
    scope: mapping({
      need: { mutable: listOf(glob, 1) },
      may: { immutable: [listOf(glob), []], limits: [limits, { files: null, lines: null, types: null }] },
    }),
    measure: mapping({
      need: { command },
      may: {
        directory: [same(word), '.'],
        timeout: [duration, 600_000],
        read: [same(fc.constantFrom('auto', 'lines', 'json', 'result-file', { regex: 'a(b)' })), 'auto'],
        slots: [count(1, 9), 1],
        output: [size, 67_108_864],
        before: [step, null],
        after: [step, null],
        requires: [listOf(word), []],
        score: [limited, null],
        isolation: [same(fc.constantFrom('auto', 'none', 'strict')), 'auto'],
        network: [same(fc.boolean()), false],
        allow: [same(fc.constantFrom([], ['.', '~/.cache/models', '/srv/data'])), []],
        write: [listOf(glob), []],
        fresh: [same(fc.constantFrom('candidate', 'sample')), 'candidate'],
        environment: [
          mapping({
            may: {
              inherit: [same(fc.constantFrom([], ['A', 'B_*'])), []],
              set: [same(fc.dictionary(fc.constantFrom('A', 'B', '__proto__'), fc.string())), {}],
              file: [same(anyText), null],
              keys: [same(fc.constant(['K'])), null],
            },
          }),
          { inherit: [], set: {}, file: null, keys: null },
        ],
      },
      names: { ...timeoutMs, output: 'outputBytes' },
    }).map(isolationApart),
    metric: mapping({
      need: { name: same(word), direction },
      may: {
        target: [same(finite), null],
        unit: [same(word), null],
        min_improvement: [threshold, { absolute: 0 }],
      },
    }),
  },
  may: {
    instructions: [
      mapping({
        may: { file: [same(word), null], text: [same(anyText), null], rules: [listOf(anyText), []] },
      }),
      { file: null, text: null, rules: [] },
    ],
    worktree: [
      mapping({
        may: {
          setup: [
            mapping({
              need: { command },
              may: { inputs: [listOf(glob), []], timeout: [duration, 600_000] },
              names: timeoutMs,
            }),
            null,
          ],
          build: [
            mapping({ need: { command }, may: { timeout: [duration, 600_000] }, names: timeoutMs }),
            null,
          ],
          data: [listOf(glob), []],
        },
      }),
      { setup: null, build: null, data: [] },
    ],
    tasks: [
      mapping({
        may: {
          aggregate: [same(fc.constantFrom('mean', 'sum', 'min', 'max')), 'mean'],
          missing: [same(fc.constant('fail')), 'fail'],
        },
      }),
      { aggregate: 'mean', missing: 'fail' },
    ],
    constraints: [
      sequence(
        mapping({
          need: {
            metric: same(word),
            op: same(fc.constantFrom('==', '!=')),
            value: same(fc.oneof(finite, fc.boolean())),
          },
        }),
      ),
      [],
    ],
    protected: [
      sequence(
        mapping({
          need: { metric: same(word), direction },
          may: { max_regression: [threshold, { absolute: 0 }] },
        }),
      ),
      [],
    ],
    holdout: [
      mapping({ may: { max_regression: [threshold, { absolute: 0 }] } }),
      { max_regression: { absolute: 0 } },
    ],
    tie_breakers: [sequence(mapping({ need: { metric: same(word), direction } })), []],
    gates: [
      sequence(
        mapping({
          need: { name: same(anyText), command },
          may: { phase: [same(fc.constantFrom('before', 'after')), 'before'], timeout: [duration, 600_000] },
          names: timeoutMs,
        }),
        'name',
      ),
      [],
    ],
    noise: [
      mapping({
        may: {
          mode: [same(fc.constantFrom('auto', 'deterministic', 'paired')), 'auto'],
          calibrate: [count(2, 100), 5],
          pairs: [mapping({ may: { min: [count(2, 8), 2], max: [count(8, 100), 25] } }), { min: 2, max: 25 }],
        },
      }),
      { mode: 'auto', calibrate: 5, pairs: { min: 2, max: 25 } },
    ],
    search: [
      mapping({
        may: {
          policy: [same(fc.constantFrom('auto', 'argmax', 'open_only')), 'auto'],
          k: [count(1, 9), 1],
          seed: [count(0, 4_294_967_295), 1],
          max_attempts: [count(1, 9), 3],
        },
      }),
      { policy: 'auto', k: 1, seed: 1, max_attempts: 3 },
    ],
    budget: [
      mapping({
        may: {
          experiments: [count(1, 999), null],
          hours: [same(fc.constantFrom(0.5, 8)), null],
          failures: [count(1, 9), null],
          tokens: [count(1, 9), null],
          usd: [same(fc.constantFrom(0.5, 8)), null],
          unknown: [same(fc.constantFrom('refuse', 'allow')), 'refuse'],
        },
      }),
      { experiments: null, hours: null, failures: null, tokens: null, usd: null, unknown: 'refuse' },
    ],
    skills: [listOf(anyText), []],
    agent: [
      mapping({
        need: {
          host: same(fc.constant('tune')),
          tune: parameter.map((one) => ({
            written: { parameters: [one.written] },
            read: { parameters: [one.read] },
          })),
        },
        may: {
          command: [command, null],
          timeout: [duration, 1_800_000],
          concurrency: [count(1, 64), 2],
          model: [same(anyText), null],
          effort: [same(anyText), null],
          roles: [
            fc.constantFrom(
              { written: {}, read: {} },
              {
                written: { verify: { model: 'm', effort: 'low' } },
                read: { verify: { model: 'm', effort: 'low', timeoutMs: null } },
              },
              {
                written: { verify: { timeout: '5m' } },
                read: { verify: { model: null, effort: null, timeoutMs: 300_000 } },
              },
            ),
            {},
          ],
          silence: [duration, 900_000],
          permissions: [same(fc.constantFrom('safe', 'unsafe')), 'safe'],
          sandbox: [same(fc.boolean()), false],
          fallback: [same(fc.constantFrom([], ['pi', 'codex'])), []],
        },
        names: { ...timeoutMs, silence: 'silenceMs' },
      }),
      null,
    ],
  },
})
