/** A run in which everything happened that the page has a place for, but for what needs a loop, pairs or a judge. */
import { switches } from '../e2e/attribute-scene.ts'
import { type Files, makeProject, type NewData, type Project, writeFiles } from '../e2e/project.ts'

const PARTS = 8

/** Switches 1 to 4 pay, 5 = 9 crashes, 6 takes memory, 7 takes size, 8 changes nothing. */
const BENCH = `import { readFileSync, writeFileSync } from 'node:fs'
const p = [0, ...[...readFileSync('src/parts.txt', 'utf8').matchAll(/^part \\d+ (-?\\d+)/gm)].map(([, on]) => Number(on))]
if (p[5] === 9) throw new Error('part 5 breaks it')
const ms = 100 - 10 * p[1] - 5 * p[2] - 4 * p[3] - 3 * p[4]
writeFileSync(process.env.ASSAY_RESULT, JSON.stringify({
  metrics: { ms, mb: 20 + 40 * p[6], size: 100 + 50 * p[7] },
  // Their mean is the metric.
  tasks: { small: { score: ms - 20 - 6 * p[2] }, large: { score: ms + 20 + 6 * p[2] } },
}))
`

const on = (...parts: number[]) => switches(PARTS, parts)

export interface FullRun {
  project: Project
  /** By what became of it. */
  is: Record<
    | 'first'
    | 'attributed'
    | 'reduced'
    | 'merged'
    | 'again'
    | 'constraint'
    | 'protected'
    | 'gate'
    | 'crashed'
    | 'doubted',
    string
  >
}

export async function fullRun(): Promise<FullRun> {
  const project = makeProject({
    spec: {
      name: 'everything',
      goal: 'Make the number small, with every part of the page in use.',
      gates: [
        {
          name: 'unit',
          command: "! grep -q 'part 8 7' src/parts.txt || { echo 'the check is not run'; exit 1; }",
        },
      ],
      constraints: [{ metric: 'mb', op: '<=', value: 50 }],
      protected: [{ metric: 'size', direction: 'minimize' }],
      budget: { experiments: 40, hours: 2 },
      measure: { command: 'node bench/run.mjs', timeout: '30s' },
    },
    files: { ...on(), 'bench/run.mjs': BENCH },
  })
  const { data } = project
  const opened = async (hypothesis: string, files: Files, parent = 'exp_0000') => {
    const made = await data<NewData>('new', '--parent', parent, '-m', hypothesis)
    writeFiles(made.worktree, files)
    return made.experiment
  }
  const tried = async (hypothesis: string, files: Files, parent?: string) => {
    const experiment = await opened(hypothesis, files, parent)
    await project.cli(['run', experiment])
    return experiment
  }
  await data('init')
  const ideas = [
    { hypothesis: 'Turn the first part on', uplift: 0.2, confidence: 0.8 },
    { hypothesis: 'Compress the table', kind: 'codec', priority: 'high' },
  ]
  await data('propose', '--input', JSON.stringify({ ideas }))
  const first = await tried('Turn the first part on', on(1))
  const second = await tried('Turn the second part on', on(2))
  const attributed = await tried('Turn the first, the third and the last part on', on(1, 3, 8), first)
  const { reduced } = await data<{ reduced: { experiment: string } }>('attribute', attributed)
  const again = await tried('Three small parts in place of the first', on(2, 3, 4), first)
  const { attempts } = await data<{ attempts: { experiment: string; status: string }[] }>('merge')
  for (const n of [1, 2, 3, 4, 5])
    await tried(`A detour, number ${n}`, switches(PARTS, [], { [n % 4 || 4]: `-${n}` }))
  const constraint = await tried('Keep everything in memory', on(1, 2, 3, 6), first)
  const guarded = await tried('Unroll the loop', on(1, 2, 3, 7), first)
  const gate = await tried('Skip the check', switches(PARTS, [1, 2], { 8: '7' }))
  const crashed = await tried('Divide by the fifth part', switches(PARTS, [1], { 5: '9' }), second)
  const doubted = await tried('Read ahead', on(2, 4), second)
  const findings = [{ code: 'opinion', message: 'it may know the input' }]
  await data('audit', doubted, '--input', JSON.stringify({ findings }))
  await data('prune', second, '--reason', 'the merge has it')
  await data('pin', attributed, '--reason', 'its last part is worth another try')
  await data('annotate', first, 'the first gain of the run')
  await data('note', 'The input is small: the numbers are exact.')
  await data('steer', 'Try fewer allocations')
  const left = await opened('Turn the fourth part on later', on(4), first)
  await data('discard', left, '--reason', 'not now')
  await opened('Turn the fourth part on', on(1, 4), first)
  return {
    project,
    is: {
      first,
      attributed,
      again,
      constraint,
      gate,
      crashed,
      doubted,
      reduced: reduced.experiment,
      protected: guarded,
      merged: attempts.find(({ status }) => status === 'kept')?.experiment ?? '',
    },
  }
}
