/** Whether the two checkouts of a slot are apart: what is built in one must not change what the other measures. */

import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { removeTree } from '../disk/remove.ts'
import { fileText } from '../files.ts'
import type { Pinned } from '../git/store.ts'
import type { Sample } from '../ledger/events.ts'
import { sampleIn } from '../measure/session.ts'
import { type LeasedSlot, type Placed, placeCandidate } from '../measure/slot.ts'
import { readFacts } from '../measure/slot-facts.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { isFarFromBaseline, itemsToAnswer } from './baseline-samples.ts'
import { sourcesOf } from './sources.ts'

/** The baseline in the other checkout, before a different tree is built in the one that holds candidates. */
export interface Twin {
  placed: Placed
  folder: string
  /** As the clock of files counts. */
  since: number
  /** As `itemsToAnswer`. */
  items: string[] | undefined
}

/** Where a sample whose outputs go to `folder` looks for artifacts when nothing else is said. */
const artifactsBeside = (folder: string): string => join(folder, 'artifacts')

/** That folder, for a build that makes artifacts for such a sample: nothing of an earlier build is in it. */
export function emptyArtifacts(folder: string): string {
  const own = artifactsBeside(folder)
  removeTree(own)
  mkdirSync(own, { recursive: true })
  return own
}

/** null without a build: then nothing is made that could lie elsewhere. `above`: what the canary leaves is there. */
export async function placeTwin(
  run: OpenRun,
  leased: LeasedSlot,
  base: Pinned,
  above: string,
): Promise<Result<Twin | null>> {
  if (!run.spec.worktree.build && !run.spec.worktree.setup) return ok(null)
  const folder = join(above, 'twin')
  mkdirSync(join(folder, 'samples'), { recursive: true })
  const since = Date.now()
  const artifacts = { own: emptyArtifacts(folder), environment: {} }
  const placed = await placeCandidate(run, leased, 'a', base, { outputs: folder, rebuild: true, artifacts })
  if (!placed.ok) return placed
  const items = await itemsToAnswer(run, base.tree)
  if (!items.ok) return items
  const { setup, build } = placed.value
  return ok(setup || build ? null : { placed: placed.value, folder, since, items: items.value })
}

/**
 * After the emptied tree was built in the other checkout: samples the twin again without a build. Problem `shared_build`
 * when that changed its value, and a build of its own brings it back. Otherwise a warning when the build wrote to a place
 * outside of the checkout, else null.
 */
export async function lookApart(
  run: OpenRun,
  leased: LeasedSlot,
  { base, folder, twin, before }: { base: Pinned; folder: string; twin: Twin; before: readonly Sample[] },
): Promise<Result<string | null>> {
  run.tell({ type: 'preparing', what: 'one sample of the baseline beside the emptied files' })
  const sample = await sampleOf(run, leased, twin, before)
  if (sample.fault?.reason === 'aborted') return fail(interrupted)
  const places = writtenOutside(run, twin)
  if (!isFarFromBaseline(sample, before)) {
    if (places.length > 0) return ok(suspected(places))
    return ok(leftNothing(run, leased, twin) ? NOTHING_LEFT : null)
  }
  // All digits: two trainings of one model may differ in the last ones only.
  const value = String(before[0]?.value ?? 'unknown')
  const said = sample.fault?.message ?? `${run.spec.metric.name} = ${sample.value ?? 'unknown'}`
  const again = await placeTwin(run, leased, base, folder)
  if (!again.ok) return again
  const rebuilt = again.value && (await sampleOf(run, leased, again.value, before))
  if (rebuilt?.fault?.reason === 'aborted') return fail(interrupted)
  if (rebuilt && !isFarFromBaseline(rebuilt, before)) return fail(shared(said, places))
  return ok(
    `the two checkouts of a slot do not measure the same: the baseline gives ${value} in one, and in the other: ${said}. If worktree.build makes different things of the same files (a training without fixed seeds), make it repeatable; else each confirmation gives a different value`,
  )
}

function sampleOf(run: OpenRun, leased: LeasedSlot, twin: Twin, before: readonly Sample[]): Promise<Sample> {
  const at = { stage: 'check', side: 'parent', pair: 0, seed: before[0]?.seed ?? 1 } as const
  return sampleIn(run, leased, twin.placed, { ...at, folder: twin.folder, items: twin.items })
}

/** Caches that go by content, and places that are no outputs. */
const FINE =
  /^\/(?:usr|bin|sbin|lib\w*|etc|proc|dev|sys|run|nix|snap|System|Library|Applications)(?:\/|$)|ccache|sccache|go-build|\/\.(?:cache|npm|cargo|rustup|gradle|m2|nuget|bun|pnpm-store)(?:\/|$)/
const PATH = /(?:^|[\s'"=:(`])(\/[\w.@+~-]+(?:\/[\w.@+~-]+)*)/gm
const MOST = 200
const MOST_SHOWN = 3

/** Absolute paths outside of the checkouts that the build names and that were written since it began. */
function writtenOutside(run: OpenRun, { folder, placed, since }: Twin): string[] {
  const { build, setup } = run.spec.worktree
  const commands = [setup?.command, build?.command].flatMap((one) => (one === undefined ? [] : [one].flat()))
  const top = placed.folder
  const { files } = sourcesOf(top, [{ command: commands.join(' '), folder: top }])
  const texts = [
    ...commands,
    ...files
      .filter(({ language, path }) => language === 'shell' || path.endsWith('.json'))
      .map(({ text }) => text),
    ...['build.out', 'setup.out'].map((name) => (fileText(join(folder, name)) ?? '').slice(-65_536)),
  ]
  const named = texts.flatMap((text) => [...text.matchAll(PATH)].map(([, path = '']) => path))
  const root = realpathSync(run.site.root)
  const outside = [...new Set(named)].slice(0, MOST).filter((path) => {
    if (FINE.test(path) || !existsSync(path)) return false
    return relative(root, realpathSync(path)).startsWith('..')
  })
  const written = outside.filter((path) => writtenSince(path, since))
  const isFolderOfOther = (path: string) => written.some((other) => other.startsWith(`${path}/`))
  return written.filter((path) => !isFolderOfOther(path)).slice(0, MOST_SHOWN)
}

function writtenSince(path: string, since: number): boolean {
  try {
    const stat = lstatSync(path)
    if (!stat.isDirectory()) return stat.mtimeMs >= since
    // What others write into a folder that all programs share says nothing about this build.
    if (/^\/(?:tmp|var|home|root|Users)(?:\/[^/]*)?$/.test(path)) return false
    return (
      stat.mtimeMs >= since ||
      readdirSync(path)
        .slice(0, MOST)
        .some((name) => lstatSync(join(path, name)).mtimeMs >= since)
    )
  } catch {
    return false
  }
}

/** Go keeps what it builds by content, in a folder of the user's. */
const BY_CONTENT = /\bgo\s+(?:build|vet|install|test|run)\b/
const NOTHING_LEFT =
  'worktree.build left nothing in its checkout: if what it builds lies elsewhere (a folder of the machine, a container or service of a fixed name), both sides of a pair share that, and one may measure what the other built'

/** Neither files in the checkout nor artifacts. */
function leftNothing(run: OpenRun, leased: LeasedSlot, { folder }: Twin): boolean {
  const { build } = run.spec.worktree
  if (!build || BY_CONTENT.test([build.command].flat().join(' '))) return false
  const { built, afterSetup, afterBuild } = readFacts(leased, 'a')
  if (built === null) return false
  const wrote = Object.entries(afterBuild.files).some(([path, stamp]) => afterSetup.files[path] !== stamp)
  return !wrote && readdirSync(artifactsBeside(folder)).length === 0
}

const suspected = (places: readonly string[]): string =>
  `worktree.build writes ${places.join(', ')}, outside of its checkout: both sides of a pair share that, so one may measure what the other built. Build inside of the checkout (a relative path)`

const shared = (said: string, places: readonly string[]): Problem => ({
  kind: 'usage',
  code: 'shared_build',
  message: `the two sides of a comparison share what is built: after another tree was built in one checkout, the baseline in the other one said: ${said}${places.length > 0 ? `; the build writes ${places.join(', ')}, outside of its checkout` : ''}`,
  hint: `let worktree.setup and worktree.build write only into the folder that they run in (look for absolute paths, a build folder in the configuration of the build tool, an output base, a container or service of a fixed name)`,
  data: { places },
})

const interrupted: Problem = {
  kind: 'interrupted',
  code: 'interrupted',
  message: 'init was interrupted while it tested whether the two checkouts are independent',
  hint: next`run ${call('init')} again: what was measured is kept`,
}
