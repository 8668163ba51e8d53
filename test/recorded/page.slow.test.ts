/** The page of each recorded run says what the terminal's verbs say of it: the same values, words and order. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  type PackedRow,
  type PageHead,
  type PageNode,
  type PageRunLine,
  packRow,
  unpackRow,
} from '../../cli/view/page-model.ts'
import { assay, dataOf } from '../rig/assay.ts'
import { KINDS } from './kinds.ts'
import { unpack } from './unpack.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of many verbs, compared as they are
type Anything = any

function blocksOf<T>(html: string, kind: string): T[] {
  const found = html.matchAll(
    new RegExp(`<script type="application/json" data-kind="${kind}">(.*?)</script>`, 'gs'),
  )
  return [...found].map(([, text]) => JSON.parse(text ?? 'null'))
}

test.each(Object.keys(KINDS))('%s: page and terminal say different things of a run', async (kind) => {
  const { repo, env } = unpack(kind)
  const ask = async (...args: string[]): Promise<Anything> =>
    dataOf(await assay([...args, '--json'], { cwd: repo, env }))
  const file = join(repo, 'page.html')
  await ask('report', '--html', file, '--full')
  const html = readFileSync(file, 'utf8')
  const [{ head, runs }] = blocksOf<{ head: PageHead; runs: PageRunLine[] }>(html, 'head') as [Anything]
  const rows = blocksOf<PackedRow[]>(html, 'rows').flat().map(unpackRow)
  const [nodes] = blocksOf<Record<string, PageNode>>(html, 'nodes')
  const [status, report, tree] = [await ask('status'), await ask('report'), await ask('tree')]

  expect(head).toMatchObject({
    run: status.run,
    metric: status.metric,
    baseline: status.baseline,
    counts: status.counts,
    budget: status.budget,
    stop: status.stop,
    stop_cause: status.stop_cause,
    epoch: status.epoch,
    gain: report.gain,
    interval: report.interval,
    against: report.against,
    bests: report.bests,
    spend: report.spend,
    arms: report.arms,
    left: { repairable: report.left.repairable, retests: report.left.retests },
  })
  const ideas = (of: Anything) => of.map(({ id, status: now }: Anything) => `${id} ${now}`).sort()
  expect(ideas(head.backlog?.ideas ?? [])).toEqual(ideas((await ask('backlog', '--all')).ideas))
  expect(head.judging).toEqual(status.judging)
  expect(head.judged_items).toEqual(report.judged_items)
  expect(head.best && { experiment: head.best.experiment, value: head.best.value }).toEqual(status.best)
  expect(head.path).toEqual(
    report.path.map(({ experiment, value, hypothesis }: Anything) => ({ experiment, value, hypothesis })),
  )
  expect(head.doubts.map(({ experiment }: Anything) => experiment)).toEqual(status.flagged)
  const said = (of: string) =>
    head.texts.filter((text: Anything) => text.kind === of).map(({ text }: Anything) => text)
  expect(said('learning')).toEqual(report.learnings)
  expect(runs[0]).toMatchObject({ best: status.best, baseline: status.baseline.value, gain: report.gain })

  const same = ({ experiment, parent, status: now, reason, value, hypothesis, epoch }: Anything) => ({
    experiment,
    parent,
    status: now,
    reason,
    value,
    hypothesis,
    epoch,
  })
  expect(rows.map(same)).toEqual(tree.nodes.map(same))
  expect(rows.map(packRow).map(unpackRow)).toEqual(rows)
  // A mark refines the status; only the page tells a confirmed one apart from what was kept.
  const markIn = ({ status: now, reason, flagged, parents }: Anything) =>
    now === 'kept' && flagged
      ? 'flagged'
      : now === 'kept' && parents
        ? 'merged'
        : reason === 'inconclusive'
          ? reason
          : now
  expect(rows.map(({ mark }) => (mark === 'confirmed' ? 'kept' : mark))).toEqual(tree.nodes.map(markIn))

  for (const row of rows) {
    const shown = await ask('show', row.experiment)
    const node = nodes?.[row.experiment] as PageNode
    expect(node.explained, row.experiment).toEqual(shown.explained)
    expect(node.message).toBe(shown.message)
    expect(node.doubt).toBe(shown.doubt)
    expect(node.attempts.map(({ status: now, reason, value }) => ({ now, reason, value }))).toEqual(
      shown.attempts.map(({ status: now, reason, value }: Anything) => ({ now, reason, value })),
    )
    // What the bets were worth is drawn from the record, so the last of it is what decided.
    for (const [i, stage] of node.stages.entries()) {
      const { inputs } = shown.comparisons[i].comparison
      expect(stage.differences).toEqual(inputs.differences)
      expect(stage.evidence?.at(-1)).toBeCloseTo(inputs.e, 6)
    }
    if (row.parent !== null && shown.attempts.length > 0) {
      const diff = await ask('diff', row.experiment)
      expect(node.diff?.files.map(({ path, added, removed }) => ({ path, added, removed }))).toEqual(
        diff.files.map(({ path, added, removed }: Anything) => ({ path, added, removed })),
      )
    }
  }
})
