/** The items of a judged metric, as the files of a run have them. */

import { readBlob } from '../git/trees.ts'
import { type Item, type ItemSets, itemSets, parseItems } from '../judge/items.ts'
import { PROMPT_VERSION } from '../judge/prompt.ts'
import { call, next } from '../next.ts'
import type { Site } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { scopeOf } from '../spec/rules.ts'
import type { JudgeConfig, Spec } from '../spec/spec.ts'

/** A tree with the folder of the spec in it. */
export interface TreeOfItems {
  site: Site
  tree: string
  prefix: string
}

/** The file is immutable, so each tree of a run gives the same. */
export async function readItems(at: TreeOfItems, judge: JudgeConfig): Promise<Result<ItemSets>> {
  const path = [at.prefix, judge.items].filter(Boolean).join('/')
  const blob = await readBlob(at.site, at.tree, path)
  if (!blob.ok) return blob
  if (blob.value === null)
    return fail({
      kind: 'usage',
      code: 'judge_items',
      message: `judge.items names ${judge.items}, which is not in the base commit`,
      hint: 'write one JSON object a line, {"id": "m1", "input": "the text"}, and commit the file',
    })
  const items = parseItems(blob.value.toString('utf8'), judge.items)
  return items.ok ? itemSets(items.value, judge) : items
}

/** null = the spec names no judge. With `prepare` the file may still be missing. */
export async function itemsForInit(
  at: TreeOfItems,
  { judge, scope }: Pick<Spec, 'judge' | 'scope'>,
  paths: readonly string[],
  prepare: boolean,
): Promise<Result<ItemSets | null>> {
  if (judge === undefined) return ok(null)
  const path = [at.prefix, judge.items].filter(Boolean).join('/')
  if (scopeOf(scope, at.prefix)(path) === 'mutable')
    return fail({
      kind: 'usage',
      code: 'judge_items',
      message: `a candidate may change ${judge.items}, and so what it is judged on`,
      hint: 'name the file under scope.immutable',
    })
  if (prepare && !paths.includes(path)) return ok(null)
  return readItems(at, judge)
}

/** Each item is shown in one order, or in both. */
export const callsPerItem = (judge: Pick<JudgeConfig, 'swap'> | undefined): number => (judge?.swap ? 2 : 1)

/** Fails when this release asks with other words than those that the run began with. */
export function samePrompt({ prompt }: Pick<JudgeConfig, 'prompt'>): Result<void> {
  if (prompt === PROMPT_VERSION) return ok(undefined)
  return fail({
    kind: 'refused',
    code: 'judge_changed',
    message: `this release of Assay asks the judge in other words than the one that began the run (version ${PROMPT_VERSION}, not ${prompt}), so new verdicts could not be compared with the old ones`,
    hint: next`begin a new run: ${call('init', '--new')}; or use the release that began it`,
  })
}

/** In the order of the set, for a sample that no pair needs. */
export const firstItems = ({ judge, batch }: ItemSets): Item[] => judge.slice(0, batch)
