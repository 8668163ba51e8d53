/** One key of the spec, for `assay guide spec KEY`: from the same declaration as the table of references/spec.md. */
import { stringify } from 'yaml'
import { fail, ok, type Result } from '../result.ts'
import { type SpecKey, specKeys, writtenAs } from './key-table.ts'
import type { Key, Kind } from './kind.ts'
import { changeOf, type KeyChange } from './live.ts'
import { closest } from './words.ts'

export interface KeyPage {
  key: string
  value: string
  /** As it would be written; null for a mapping or a list of defaults, and without a default. */
  default: string | null
  required: boolean
  change: KeyChange
  meaning: string
  /** YAML with this key in its place. */
  example: string
  /** The keys directly below. */
  below: string[]
}

/** `name` with or without the `[]` of a list. Errors: `unknown_key`, with the nearest key, or with those that end alike. */
export function keyPage(name: string): Result<KeyPage> {
  const all = specKeys().filter(({ key }) => key.presence !== 'later')
  const found = all.find(({ path }) => path === name) ?? all.find(({ path }) => bare(path) === bare(name))
  if (found === undefined) return unknownKey(name, all)
  const { path, key } = found
  const depth = bare(path).split('.').length
  return ok({
    key: path,
    value: writtenAs(key.kind).replaceAll('`', ''),
    default: key.presence === 'default' && typeof key.written !== 'object' ? String(key.written) : null,
    required: key.presence === 'required',
    change: changeOf(path),
    meaning: key.doc,
    example: stringify(exampleFor(found), { flowCollectionPadding: false }).trimEnd(),
    below: all
      .map((one) => one.path)
      .filter((one) => bare(one).startsWith(`${bare(path)}.`) && bare(one).split('.').length === depth + 1),
  })
}

const bare = (path: string): string => path.replaceAll('[]', '').replace('.NAME', '')

function unknownKey(name: string, all: readonly SpecKey[]): Result<never> {
  const paths = all.map(({ path }) => path)
  const alike = paths.filter((path) => path.endsWith(`.${name}`))
  const near = closest(name, paths) ?? closest(name, paths.map(bare))
  const top = paths.filter((path) => !path.includes('.'))
  return fail({
    kind: 'usage',
    code: 'unknown_key',
    message: `the spec has no key ${name}`,
    hint:
      alike.length > 0
        ? `which of: ${alike.join(', ')}`
        : near === null
          ? `the keys at the top are: ${top.join(', ')}`
          : `did you mean ${near}?`,
  })
}

// ---------------------------------------------------------------- an example

/** Where a value of the kind alone says too little, or is refused for what its neighbours are. */
const PARAMETER = { file: 'config/cache.json', pointer: '/lru/size', min: 16, max: 65536 }
const JUDGE = {
  host: 'claude-code',
  items: 'bench/items.jsonl',
  task: 'Summarise a support thread for the agent who takes it over.',
  criteria: [{ name: 'right', ask: 'Which answer has fewer facts that the thread does not say?' }],
}
const EXAMPLES: Readonly<Record<string, unknown>> = {
  name: 'faster-parser',
  goal: 'Parse the large fixture faster without changing any output.',
  'metric.unit': 'ms',
  'measure.command': 'node bench/run.mjs',
  'gates[].name': 'unit-tests',
  'suite.artifacts[].file': 'prompts/preamble.md',
  'suite.run': 'node bench/run-task.mjs',
  'suite.tasks[].name': 'summary',
  'suite.tasks[].task': 'Write a summary of 200 words.',
  'loop.prompts': { implement: { after: 'Name the function that you changed.' } },
  agent: { host: 'codex', concurrency: 2 },
  'agent.host': 'codex',
  'agent.roles': { verify: { model: 'small' } },
  'agent.tune': { parameters: [PARAMETER] },
  'agent.tune.parameters': [PARAMETER],
  'agent.tune.parameters[].file': PARAMETER.file,
  'agent.tune.parameters[].min': PARAMETER.min,
  'agent.tune.parameters[].max': PARAMETER.max,
  'agent.tune.parameters[].pattern': 'WAYS = (\\d+)',
  judge: JUDGE,
  'judge.host': JUDGE.host,
  'judge.items': JUDGE.items,
  'judge.task': JUDGE.task,
  'judge.criteria': JUDGE.criteria,
  'judge.criteria[].ask': JUDGE.criteria[0]?.ask,
  'judge.criteria[].weight': 1,
  'judge.rubric': '5: every fact is right. 3: some are missing. 1: it misleads.',
  'judge.holdout': 0.2,
  'judge.max_length': 1.3,
}

/** By what a text is called in the declaration. */
const TEXTS: Readonly<Record<string, string>> = {
  'a duration': '10m',
  'an interval': '30m',
  'a size': '64MiB',
  'a threshold': '1%',
  'a glob': 'src/**',
  'a path': 'bench/data',
  'a metric name': 'ms',
  'a regular expression': 'took ([\\d.]+) ms',
  'a JSON pointer': '/lru/size',
  'a JSON pointer or path': '/results/0/mean',
  'the name of a variable': 'DATABASE_URL',
  'a file type': '.ts',
  'the name of an artifact': 'preamble',
}

/** The value in its place: mappings and lists around it have nothing else in them. */
function exampleFor({ path, key }: SpecKey): unknown {
  const steps = path.split('.')
  return steps.reduceRight<unknown>(
    (inner, step) => {
      if (step === 'NAME') return { NAME: inner }
      return step.endsWith('[]') ? { [step.slice(0, -2)]: [inner] } : { [step]: inner }
    },
    exampleOf(path, key),
  )
}

function exampleOf(path: string, { kind, written }: Key): unknown {
  const chosen = EXAMPLES[path] ?? (path.endsWith('.command') ? 'npm test' : undefined)
  if (chosen !== undefined) return chosen
  return written !== null && typeof written !== 'object' ? written : valueOfKind(kind, path)
}

function valueOfKind(kind: Kind, path: string): unknown {
  switch (kind.is) {
    case 'text':
      return TEXTS[kind.noun] ?? 'some text'
    case 'number':
      return Math.max(kind.min ?? 1, Math.min(kind.max ?? 10, 10))
    case 'boolean':
      return true
    case 'choice':
      return kind.values[0]
    case 'list':
      return [valueOfKind(kind.of, `${path}[]`)]
    case 'map':
      return { NAME: valueOfKind(kind.of, `${path}.NAME`) }
    case 'either':
      return kind.of[0] === undefined ? null : valueOfKind(kind.of[0], path)
    case 'keys': {
      const all = Object.entries(kind.keys).filter(([, key]) => key.presence !== 'later')
      const needed = all.filter(([, key]) => key.presence === 'required')
      const shown = needed.length > 0 ? needed : all.slice(0, 1)
      return Object.fromEntries(shown.map(([name, key]) => [name, exampleOf(`${path}.${name}`, key)]))
    }
  }
}
