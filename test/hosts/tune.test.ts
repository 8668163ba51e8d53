import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HostAnswer } from '../../cli/hosts/host.ts'
import {
  readParameters,
  type TuneParameter,
  type TuneSetup,
  type TuneTrial,
  tune,
} from '../../cli/hosts/tune.ts'
import { makeTemp } from '../rig/temp.ts'

const PARAMETERS: TuneParameter[] = [
  { name: 'alpha', file: 'a.js', pattern: 'alpha = ([\\d.]+)', min: 0, max: 1, scale: 'linear' },
  { file: 'b.json', pointer: '/cache/size', min: 1, max: 1024, scale: 'integer' },
]
const A = '// tuned\nexport const alpha = 0.50\n'
const B = '{ "cache": { "size":64 } }\n'

function worktree(): string {
  const folder = makeTemp('tuned')
  writeFileSync(join(folder, 'a.js'), A)
  writeFileSync(join(folder, 'b.json'), B)
  return folder
}

const trial = (experiment: string, more: Partial<TuneTrial>): TuneTrial => ({
  experiment,
  parent: 'exp_0000',
  round: 1,
  lane: 1,
  depth: 1,
  values: [0.5, 64],
  score: 1,
  status: 'kept',
  ...more,
})
const BASELINE = trial('exp_0000', { parent: null, round: null, lane: null, depth: null })

interface Ask {
  role: string
  card?: Record<string, unknown>
  schema?: object | null
  history?: TuneTrial[]
  setup?: Partial<TuneSetup>
  cwd?: string
}

function ask({
  role,
  card = {},
  schema = null,
  history = [BASELINE],
  setup = {},
  cwd = '/',
}: Ask): Promise<HostAnswer> {
  const host = tune.open({
    parameters: PARAMETERS,
    prefix: '',
    seed: 1,
    history: async () => history,
    ...setup,
  })
  const fields = { assay: 1, role, run: 'run_0001', round: 2, lane: 1, depth: 1, ...card }
  return host.call({
    prompt: `Do your part.\n\n\`\`\`json\n${JSON.stringify(fields)}\n\`\`\``,
    schema,
    role,
    cwd,
    folders: [],
    timeoutMs: 1000,
    model: null,
    effort: null,
    env: {},
    signal: new AbortController().signal,
  })
}

const read = (folder: string) => [
  readFileSync(join(folder, 'a.js'), 'utf8'),
  readFileSync(join(folder, 'b.json'), 'utf8'),
]

describe('implement', () => {
  test('edits the declared numbers, keeps every other byte, and says exactly what moved', async () => {
    const folder = worktree()
    const answer = await ask({ role: 'implement', card: { worktree: folder, experiment: 'exp_0001' } })
    const values = readParameters(folder, PARAMETERS)
    if (!values.ok || answer.outcome !== 'ok') throw new Error('no answer')
    const [alpha, size] = values.value
    const [a = '', b = ''] = read(folder)
    expect(a.replace(/alpha = .*/, 'alpha = 0.50')).toBe(A)
    expect(b.replace(/"size":\d+/, '"size":64')).toBe(B)
    const moved = [
      ...(alpha === 0.5 ? [] : [`alpha 0.5 → ${alpha}`]),
      ...(size === 64 ? [] : [`size 64 → ${size}`]),
    ]
    expect(moved.length).toBeGreaterThan(0)
    expect(answer.object).toMatchObject({ hypothesis: moved.join(', '), predicted: 'better than its parent' })
    expect(answer.usage).toEqual({ tokens_in: 0, tokens_out: 0, usd: 0 })
  })

  test('the same card gives the same edit, in a different worktree and when the call is made again', async () => {
    const [one, two] = [worktree(), worktree()]
    const card = { experiment: 'exp_0001', brief: { parent: 'exp_0000' } }
    const first = await ask({ role: 'implement', card: { ...card, worktree: one } })
    const second = await ask({ role: 'implement', card: { ...card, worktree: two } })
    const edited = read(one)
    expect(edited).not.toEqual([A, B])
    expect(read(two)).toEqual(edited)
    const again = await ask({ role: 'implement', card: { ...card, worktree: one } })
    expect(read(one)).toEqual(edited)
    const claims = [first, second, again].map(
      (a) => a.outcome === 'ok' && (a.object as { hypothesis: string }).hypothesis,
    )
    expect(new Set(claims).size).toBe(1)
  })

  test('what other lanes of the round did meanwhile has no influence; the own lane has', async () => {
    const other = trial('exp_0002', { round: 2, lane: 2, values: [0.9, 900], score: 50 })
    const own = trial('exp_0003', { round: 2, lane: 1, values: [0.9, 900], score: 50 })
    const edits = []
    for (const history of [[BASELINE], [BASELINE, other], [BASELINE, own]]) {
      const folder = worktree()
      const card = { experiment: 'exp_0009', worktree: folder, brief: { parent: 'exp_0000' } }
      await ask({ role: 'implement', card, history })
      edits.push(read(folder).join(''))
    }
    expect(edits[1]).toBe(edits[0])
    expect(edits[2]).not.toBe(edits[0])
  })

  test('files are found under the prefix of the spec, in the cwd when the card names no worktree', async () => {
    const folder = worktree()
    const answer = await ask({
      role: 'implement',
      cwd: join(folder, '..'),
      setup: { prefix: folder.split('/').at(-1) ?? '' },
    })
    expect(answer.outcome).toBe('ok')
    expect(read(folder)).not.toEqual([A, B])
  })

  test('a file outside the worktree is not read or written, not through a link either', async () => {
    const folder = worktree()
    const outside = worktree()
    symlinkSync(join(outside, 'a.js'), join(folder, 'link.js'))
    for (const file of ['link.js', `../${outside.split('/').at(-1)}/a.js`]) {
      const parameters: TuneParameter[] = [{ file, pattern: 'alpha = (.*)', min: 0, max: 1, scale: 'linear' }]
      const answer = await ask({ role: 'implement', card: { worktree: folder }, setup: { parameters } })
      expect(answer).toMatchObject({ outcome: 'refused', message: expect.stringContaining(file) })
    }
    expect(read(outside)).toEqual([A, B])
  })

  test('nothing left to try is refused as exhausted, and the files stay', async () => {
    const folder = worktree()
    const parameters = [
      { file: 'b.json', pointer: '/cache/size', min: 64, max: 65, scale: 'integer' as const },
    ]
    const history = [
      trial('exp_0000', { values: [64] }),
      trial('exp_0001', { values: [65], status: 'rejected' }),
    ]
    const answer = await ask({
      role: 'implement',
      card: { worktree: folder },
      history,
      setup: { parameters },
    })
    expect(answer).toMatchObject({ outcome: 'refused', message: expect.stringContaining('exhausted') })
    expect(read(folder)).toEqual([A, B])
  })
})

test('revise starts again from the parent and does not repeat what was rejected', async () => {
  const folder = worktree()
  const card = { worktree: folder, experiment: 'exp_0001', brief: { parent: 'exp_0000' } }
  await ask({ role: 'implement', card })
  const first = read(folder)
  const answer = await ask({ role: 'revise', card })
  expect(answer).toMatchObject({
    outcome: 'ok',
    object: { hypothesis: expect.stringMatching(/(alpha 0\.5|size 64) → /) },
  })
  expect(read(folder)).not.toEqual(first)
  expect(read(folder)).not.toEqual([A, B])
})

describe('brief', () => {
  const parents = [{ experiment: 'exp_0003' }, { experiment: 'exp_0001' }]

  test.each([
    ['brief', { brief: { parents, width: 3 } }],
    ['capsule.open', { capsule: { open: { parents, width: 3 } } }],
  ])('as many as the round is wide, dealt to the parents of %s, each with its own words', async (_, card) => {
    const answer = await ask({ role: 'brief', card })
    const briefs =
      answer.outcome === 'ok' ? (answer.object as { briefs: Record<string, unknown>[] }).briefs : []
    expect(briefs.map((b) => b.parent)).toEqual(['exp_0003', 'exp_0001', 'exp_0003'])
    expect(new Set(briefs.map((b) => b.objective)).size).toBe(3)
    expect(briefs[0]).toMatchObject({ pointers: ['a.js', 'b.json'], boundaries: [], hard: false })
  })

  test('no parents, no briefs', async () => {
    expect(await ask({ role: 'brief' })).toMatchObject({ outcome: 'ok', object: { briefs: [] } })
  })
})

test.each([
  ['scan', { findings: [] }],
  ['ideate', { ideas: [] }],
  ['verify', { passed: true, findings: [] }],
  ['audit', { findings: [] }],
  ['collect', { learnings: [], suggestions: [] }],
  ['something-else', {}],
])('%s is answered without a model', async (role, object) => {
  expect(await ask({ role })).toEqual({
    outcome: 'ok',
    text: JSON.stringify(object),
    object,
    usage: { tokens_in: 0, tokens_out: 0, usd: 0 },
  })
})

test.each<[string, string, object, unknown]>([
  ['a list', 'ideate', { type: 'array', items: { type: 'string' } }, []],
  [
    'fewer and other fields',
    'verify',
    {
      type: 'object',
      properties: { passed: { type: 'boolean' }, certainty: { type: 'number', minimum: 0.5 } },
      required: ['passed', 'certainty'],
      additionalProperties: false,
    },
    { passed: true, certainty: 0.5 },
  ],
  [
    'an unknown role',
    'summarise',
    {
      type: 'object',
      properties: {
        title: { type: 'string' },
        kind: { enum: ['a', 'b'] },
        points: { type: 'array', minItems: 1, items: { type: ['integer', 'null'] } },
      },
      required: ['title', 'kind', 'points'],
    },
    { title: '', kind: 'a', points: [null] },
  ],
])('an answer takes the shape of its schema: %s', async (_, role, schema, object) => {
  const usage = { tokens_in: 0, tokens_out: 0, usd: 0 }
  const whole = { outcome: 'ok', text: JSON.stringify(object), object, usage }
  expect(await ask({ role, schema })).toEqual(whole)
  expect(await ask({ role, card: { answer: schema } })).toEqual(whole)
})

describe('never throws', () => {
  test('a prompt without a card is refused', async () => {
    const host = tune.open({ parameters: [], prefix: '', seed: 1, history: async () => [] })
    const answer = await host.call({
      prompt: 'hello',
      schema: null,
      role: 'implement',
      cwd: '/',
      folders: [],
      timeoutMs: 1,
      model: null,
      effort: null,
      env: {},
      signal: new AbortController().signal,
    })
    expect(answer.outcome).toBe('refused')
  })

  test('a history that cannot be read is a failure', async () => {
    const history = () => Promise.reject(new Error('ledger.jsonl: line 7'))
    const answer = await ask({ role: 'implement', card: { worktree: worktree() }, setup: { history } })
    expect(answer).toMatchObject({ outcome: 'failed', message: 'ledger.jsonl: line 7' })
  })
})
