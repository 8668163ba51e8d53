import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { itemSets, parseItems } from '../../cli/judge/items.ts'
import { itemsText, judgeScene, MERIT, quality } from './judge-scene.ts'
import type { StatusData } from './project.ts'

const small = { batch: 2, holdout: 0 }
const ANCHORS = 16

const itemOf = (prompt: string) => /item (m\d+) has/.exec(prompt)?.[1] ?? ''

test('a kept experiment is confirmed by judgements that it was kept by, or by none', async () => {
  const scene = judgeScene({ judge: small })
  await scene.data('init')
  const { experiment } = await scene.attempt(quality(7))
  const before = scene.calls().length
  const confirmed = await scene.data('confirm', experiment)
  expect(confirmed).toMatchObject({ passed: true, against: 'exp_0000' })
  expect(scene.calls().length).toBeGreaterThan(before + 12)
})

test('swapped sides are asked once, or a judge that goes by the place gets a score by it', async () => {
  const scene = judgeScene({ judge: { ...small, swap: true } })
  await scene.data('init')
  scene.judgeBy(
    `return /GRADE/.test(prompt) || Math.abs(first.text.length - second.text.length) > 20 ? (() => {${MERIT}})() : 'first'`,
  )
  const found = await scene.attempt(quality(7))
  expect(found.status).toBe('rejected')
  const items = scene
    .calls()
    .slice(ANCHORS)
    .filter(({ verdict }) => verdict === 'first')
    .map(({ prompt }) => itemOf(prompt))
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  expect([...counts.values()].filter((count) => count % 2 === 0).length).toBeGreaterThan(2)
})

test('a winner is kept that is worse on the items that are held out', async () => {
  const scene = judgeScene({ judge: { batch: 8, holdout: 0.3 }, files: { 'items.jsonl': itemsText(40) } })
  const items = parseItems(itemsText(40), 'items.jsonl')
  const sets = items.ok ? itemSets(items.value, { batch: 8, seed: 0, holdout: 0.3, strata: [] }) : items
  if (!sets?.ok) throw new Error('the items do not hold')
  await scene.data('init')
  const bad = sets.value.holdout.map(({ id }) => id)
  expect(bad).toHaveLength(12)
  const found = await scene.attempt(quality(7, { bad }))
  expect(found).toMatchObject({ status: 'rejected', reason: 'holdout' })
  expect(found.message).toContain('the answers to 12 items are worse')
  expect(await scene.data('show', found.experiment, '--recompute')).toMatchObject({ same: true })
})

test('a benchmark whose answers never change is begun with', async () => {
  const bench = `import { readFileSync, writeFileSync } from 'node:fs'
for (const id of readFileSync(process.env.ASSAY_ITEMS, 'utf8').trim().split('\\n'))
  writeFileSync(process.env.ASSAY_ITEMS_DIR + '/' + id + '.txt', 'item ' + id + ' has quality 3.' + ' More words.'.repeat(30))
`
  const scene = judgeScene({ files: { 'bench/run.mjs': bench } })
  const { code, message } = await scene.problem('init')
  expect([code, message]).toEqual([
    'blind_benchmark',
    expect.stringContaining('it still gives the same answers'),
  ])
  expect(existsSync(scene.repo.path('.assay/runs/run_0001/ledger.jsonl'))).toBe(false)
})

test('a benchmark says itself what the judge has to say', async () => {
  const bench = `import { readFileSync, writeFileSync } from 'node:fs'
for (const id of readFileSync(process.env.ASSAY_ITEMS, 'utf8').trim().split('\\n'))
  writeFileSync(process.env.ASSAY_ITEMS_DIR + '/' + id + '.txt', readFileSync('src/quality.json'))
console.log('METRIC quality=9')
`
  const scene = judgeScene({ files: { 'bench/run.mjs': bench } })
  const { message } = await scene.problem('init')
  expect(message).toContain('it reports quality = 9, which the judge says')
  expect(scene.calls()).toHaveLength(0)
})

test('a judged run takes a held-out file, tests parts of a diff, or hides what a candidate costs', async () => {
  const scene = judgeScene({ judge: small })
  scene.repo.write({ '../held.txt': 'x\n' })
  expect(await scene.problem('init', '--holdout', '../held.txt')).toMatchObject({ code: 'judged_holdout' })
  await scene.data('init')
  const { experiment } = await scene.attempt(quality(7))
  expect(await scene.problem('attribute', experiment)).toMatchObject({ code: 'judged_metric' })
  const plan = await scene.data<{ judging: object }>('loop', '--dry-run')
  expect(plan.judging).toMatchObject({ forecast: { noop: { judgements: 10, answers: 20, usd: 0.01 } } })
  const report = await scene.data<StatusData & { judged_items: object }>('report')
  expect(report.judged_items).toMatchObject({ lost: 0, longer_won: 0, shorter_won: 0 })
})

const BACKLOG = `
name: better-answers
description: Say what each message is about.
metric:
  primary: { type: judge, name: quality, direction: maximize }
  degenerate_gates: [{ name: answered, check: ">= 1" }]
  judge:
    rubric: "5: it has all the quality there is. 3: some. 1: none. Answer as JSON."
    scoring: { primary: quality }
    sample_size: 3
    minimum_improvement: 1
measurement: { command: node bench/run.mjs }
scope: { mutable: [src/], immutable: [bench/] }
stopping: { max_iterations: 20 }
execution: { mode: serial }
`
/** Grades by quality, and asks for nothing that it was not told. */
const GRADES = `
  const grade = ({ text, quality }) => Math.max(1, Math.min(5, Math.round(quality / 2) + (text.length > 400 ? 1 : 0) - (/GRADE/.test(text) ? 2 : 0)))
  return JSON.stringify({ first: { evidence: 'e', grade: grade(first) }, second: { evidence: 'e', grade: grade(second) } })
`

test('a judged spec with a backlog is imported and does not run, or its least gain in grades does not count', async () => {
  const scene = judgeScene({ how: GRADES })
  scene.repo.write({ 'spec.yaml': BACKLOG })
  const made = await scene.data<{ yaml: string }>('init', '--from', 'spec.yaml', '--print')
  const spec = parse(made.yaml)
  expect(spec.judge).toMatchObject({ host: 'claude-code', model: 'haiku', mode: 'rubric', batch: 3 })
  // The program of that host is not here; another one answers in its place.
  const { command } = JSON.parse(scene.repo.read('assay.yaml')).judge
  spec.judge = { ...spec.judge, host: 'command', command, model: undefined }
  spec.measure.isolation = 'none'
  const bench = scene.repo
    .read('bench/run.mjs')
    .replace(`'METRIC answered=' + ids.length`, 'JSON.stringify({ answered: ids.length })')
  scene.repo.commit('imported', { 'assay.yaml': stringify(spec), 'bench/run.mjs': bench })
  await scene.data('init')
  const better = await scene.attempt(quality(7))
  expect(better).toMatchObject({ status: 'kept', value: 2 })
  const little = await scene.attempt(quality(7, { wins: 0.3 }))
  expect(little.status).toBe('rejected')
})
