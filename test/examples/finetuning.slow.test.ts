import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { type InitData, type NewData, type Project, projectIn, type RunData } from '../e2e/project.ts'
import { assay } from '../rig/assay.ts'
import { repoAt } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/finetuning', import.meta.url))

interface Model {
  weights: Record<string, number>
  tokens: number
}

let project: Project
beforeAll(() => {
  const folder = join(makeTemp('finetuning'), 'project')
  cpSync(EXAMPLE, folder, { recursive: true })
  const repo = repoAt(folder)
  repo.git('init', '--quiet', '--initial-branch=main')
  repo.git('config', 'user.name', 'Rig')
  repo.git('config', 'user.email', 'rig@example.invalid')
  repo.commit('first')
  project = projectIn(repo, makeTemp('control'))
})

const recipe = (rate: number, passes: number, web: number) => ({
  'recipe.json': JSON.stringify({ rate, passes, decay: 0, share: { edited: 1, web } }),
})
const modelOf = (id: string): Model =>
  JSON.parse(
    readFileSync(
      project.repo.path('.assay/runs/run_0001/exp', id.slice(4), 'artifacts/model/1.json'),
      'utf8',
    ),
  )
const ranAs = (id: string) => project.data<RunData>('run', id)

test('init calls the training not repeatable, or finds that the benchmark does not read the recipe', async () => {
  const { baseline, warnings } = await project.data<InitData>('init')
  expect(baseline).toMatchObject({ noise: 'deterministic' })
  expect(baseline.value).toBeCloseTo(0.5845, 4)
  expect(warnings).toEqual([])
  expect(modelOf('exp_0000').tokens).toBe(2880)
})

test('a child does not start from the model of its parent', async () => {
  expect(await project.attempt(recipe(0.05, 2, 0))).toMatchObject({ status: 'kept' })
  expect(await project.attempt(recipe(0.1, 4, 0), 'exp_0001')).toMatchObject({ status: 'kept' })
  expect([modelOf('exp_0001').tokens, modelOf('exp_0002').tokens]).toEqual([3840, 5760])
})

test('the same recipe from a different model is refused, or gives the same model', async () => {
  const other = await project.attempt(recipe(0.1, 4, 0))
  expect(other).toMatchObject({ status: 'kept', parent_value: expect.closeTo(0.5845, 4) as number })
  expect(modelOf(other.experiment).tokens).toBe(4800)
  expect(await project.attempt(recipe(0.1, 4, 0))).toMatchObject({ reason: 'duplicate' })
})

test('nobody can train on with the recipe of the parent, or an agent that changed nothing pays for a training', async () => {
  const unchanged = await project.data<NewData>('new', '--parent', 'exp_0002', '-m', 'nothing')
  expect(await ranAs(unchanged.experiment)).toMatchObject({ status: 'rejected', reason: 'empty' })
  const on = ['--parent', 'exp_0002', '--from-artifact', 'exp_0002', '-m', 'train on']
  const longer = await project.data<NewData>('new', ...on)
  expect(await ranAs(longer.experiment)).toMatchObject({ status: 'kept' })
  expect(modelOf(longer.experiment).tokens).toBe(7680)
})

test('a chain of trainings gets more tokens than the goal allows', async () => {
  const last = await project.attempt(recipe(0.05, 10, 0), 'exp_0002')
  expect(last).toMatchObject({ status: 'kept' })
  expect(await project.attempt(recipe(0.05, 4, 1), last.experiment)).toMatchObject({
    status: 'rejected',
    reason: 'constraint',
  })
})

test('a confirmation trains into the artifacts that were judged, or starts from a different model', async () => {
  const before = modelOf('exp_0002')
  const confirmed = await project.data<{ passed: boolean; value: number }>('confirm', 'exp_0002')
  const { value } = (await ranAs('exp_0002')) as { value: number }
  expect(confirmed).toMatchObject({ passed: true, value })
  expect(modelOf('exp_0002')).toEqual(before)
})

test('finish promises a model that is not in the branch, or offers to divide it', async () => {
  const said = await assay(['finish', '--branch', 'first'], { cwd: project.repo.dir })
  expect(said.stdout).toContain('first: ')
  expect(said.stdout).not.toContain('assay attribute')
  const { text } = await project.data<{ text: string }>('finish', '--branch', 'second')
  const { best } = await project.data<{ best: { experiment: string } }>('status')
  expect(text).toContain('## Artifacts\n\nThe branch does not contain them')
  expect(text).toContain(`\`assay show ${best.experiment}\` says where they are`)
  expect(text).toMatch(/^- model: \d+ bytes, SHA-256 `[0-9a-f]{64}`$/m)
})

test('the loop does not begin a candidate with the model of its parent', async () => {
  const { rounds } = await project.data<{ rounds: number }>('loop', '--rounds', '1')
  expect(rounds).toBe(1)
  const { nodes } = await project.data<{
    nodes: { experiment: string; parent: string | null; status: string }[]
  }>('tree')
  const last = nodes.toSorted((a, b) => a.experiment.localeCompare(b.experiment)).at(-1)
  expect(last?.status).toMatch(/^(kept|rejected)$/)
  const [own, start] = [last?.experiment ?? '', last?.parent ?? ''].map((id) => modelOf(id).tokens)
  expect(own).toBeGreaterThan(start ?? Number.NaN)
})
