import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { assay, dataOf } from '../rig/assay.ts'
import { look, missingBrowser } from '../rig/browser.ts'
import { makeTemp } from '../rig/temp.ts'

interface Demo {
  folder: string
  baseline: { value: number }
  best: { experiment: string; value: number }
  stop: string
  held_out: { mean: { best_fit: number; heuristic: number; cut_percent: number } }
}
interface Shown {
  round: number | null
  lane: number | null
  depth: number | null
  parent: string | null
  status: string
  value: number | null
}

/** Ids depend on which lane is quicker; the place in the rounds does not. */
async function treeOf(folder: string): Promise<string[]> {
  const run = async <T>(...args: string[]) => dataOf(await assay<T>([...args, '--json'], { cwd: folder }))
  const { nodes } = await run<{ nodes: { experiment: string }[] }>('tree', '--limit', '200')
  const shown = new Map<string, Shown>()
  for (const { experiment } of nodes) shown.set(experiment, await run<Shown>('show', experiment))
  const place = (id: string | null) => {
    const node = id === null ? undefined : shown.get(id)
    return node === undefined ? '' : `${node.round}.${node.lane}.${node.depth}`
  }
  return [...shown].map(([id, { parent, value }]) => `${place(id)} < ${place(parent)}: ${value}`).sort()
}

test('the demo finds nothing that helps elsewhere, or a different tree for the same seed, or its page asks for something', async () => {
  const demo = async (folder: string) =>
    dataOf(await assay<Demo>(['demo', folder, '--seed', '3', '--json'], { cwd: makeTemp('anywhere') }))
  const [one, two] = [join(makeTemp('demo'), 'one'), join(makeTemp('demo'), 'two')]
  const first = await demo(one)
  expect(first).toMatchObject({ folder: one, stop: 'budget', baseline: { value: 4.6448874437099485 } })
  expect(first.best.value).toBeLessThan(3)
  expect(first.held_out.mean.cut_percent).toBeGreaterThan(33)
  if (missingBrowser() === null) {
    const file = pathToFileURL(join(one, '.assay', 'report.html')).href
    const { page, requests, trouble } = await look(file)
    expect(await page.locator('.headline').textContent()).toContain('64 of 64 experiments')
    expect({ requests, trouble }).toEqual({ requests: [], trouble: [] })
  }
  const tree = await treeOf(one)
  expect(tree.length).toBe(65)
  rmSync(one, { recursive: true })
  expect((await demo(two)).best.value).toBe(first.best.value)
  expect(await treeOf(two)).toEqual(tree)
})
