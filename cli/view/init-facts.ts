/** What `init` reports before the run costs anything. */

import { type CanaryFact, canaryFact } from '../diagnose/canary.ts'
import { exposedCommands } from '../diagnose/exposed.ts'
import type { Exposure } from '../diagnose/exposure.ts'
import { counted, duration } from '../evaluate/figure.ts'
import { fewestPairs } from '../evaluate/paired.ts'
import { filesWith, listTree } from '../git/trees.ts'
import type { ItemSetName } from '../judge/items.ts'
import type { IsolationRule } from '../ledger/events.ts'
import { BASELINE } from '../ledger/state.ts'
import { type Cost, costOf } from '../measure/cost.ts'
import { scopeOfRun } from '../measure/data.ts'
import { hasWorktree, judgedCommit } from '../measure/worktree.ts'
import { worktreePath } from '../paths.ts'
import { type OpenRun, specFileOf } from '../run/open.ts'
import type { Preconditions } from '../run/preconditions.ts'
import type { GlobReport } from '../spec/globs.ts'
import { type GlobMatch, matchGlobs, scopeOf } from '../spec/rules.ts'
import { forecastLine, judgingLine, judgingOf } from './judging.ts'
import type { JudgingData } from './page-model.ts'

export interface GlobFact {
  glob: string
  files: number
  /** The first few of them. */
  first: string[]
}

export interface InitFacts {
  scope: { mutable: GlobFact[]; immutable: GlobFact[]; changeable: number }
  data: { globs: GlobFact[]; files: number; bytes: number }
  gates: number
  constraints: number
  /** null until the baseline is judged. */
  canary: CanaryFact | null
  /** What judges and may be changed by a candidate, or runs it in its own process. A search, no proof. */
  exposed: Exposure[]
  /** Whether the command or a file of the benchmark names ASSAY_SEED; null while the benchmark is still to be built. */
  reads_seed: boolean | null
  /** null without `--holdout`; `read`: the same about ASSAY_HOLDOUT. */
  holdout: { bytes: number; read: boolean | null } | null
  /** Under noise, when `noise.pairs.max` is too small for any keep in a session this long: the least that is not. */
  pairs_needed: number | null
  /** null until the baseline is judged. */
  candidate: Cost | null
  /** How what is measured is kept apart from the machine; null for a run of a version without isolation. */
  isolation: { method: 'bubblewrap' | null; without: IsolationRule[]; allow: string[] } | null
  /** Absent when no judge scores; `sets`: how many items each of the three sets has. */
  judging?: JudgingData & { sets: Record<ItemSetName, number> }
}

const FIRST = 3
const MOST_GLOBS = 20

export async function initFacts(run: OpenRun, ground: Preconditions): Promise<InitFacts> {
  const { data, dataGlobs, spec, site } = ground
  const { tree, paths, globs } = await filesOfBaseline(run, ground)
  const immutable = [...new Set(globs.immutable.flatMap(({ matched }) => matched))]
  const command = JSON.stringify(spec.measure.command)
  const named = paths.filter((path) => command.includes(path))
  const built = run.ledger.state.experiments.get(BASELINE)?.status === 'kept'
  const names = async (variable: string): Promise<boolean | null> => {
    if (command.includes(variable)) return true
    if (!built) return null
    const found = await filesWith(site, tree, variable, [...named, ...immutable])
    return found.ok && found.value.length > 0
  }
  const { holdout } = run.started
  return {
    scope: {
      mutable: globs.mutable.slice(0, MOST_GLOBS).map(globFact),
      immutable: globs.immutable.slice(0, MOST_GLOBS).map(globFact),
      changeable: globs.files.length,
    },
    data: {
      globs: dataGlobs.slice(0, MOST_GLOBS).map(globFact),
      files: data.length,
      bytes: data.reduce((sum, file) => sum + file.bytes, 0),
    },
    gates: spec.gates.length,
    constraints: spec.constraints.length,
    canary: canaryFact(run),
    exposed: exposedCommands({
      top: topWithBenchmark(run, ground),
      spec,
      prefix: ground.prefix,
      areaOf: scopeOfRun(run),
      paths,
    }),
    reads_seed: await names('ASSAY_SEED'),
    holdout: holdout ? { bytes: holdout.bytes, read: await names('ASSAY_HOLDOUT') } : null,
    pairs_needed: pairsNeeded(run),
    candidate: costOf(run),
    isolation: isolationFact(run),
    ...judgingFact(run, ground),
  }
}

function judgingFact(run: OpenRun, { items }: Preconditions): Pick<InitFacts, 'judging'> {
  const judging = judgingOf(run)
  if (judging === null || items === null) return {}
  const { judge, confirm, holdout } = items
  const sets = { judge: judge.length, confirm: confirm.length, holdout: holdout.length }
  return { judging: { ...judging, sets } }
}

function isolationFact({ ledger }: OpenRun): InitFacts['isolation'] {
  const { isolation } = ledger.state
  return isolation && { method: isolation.method, without: isolation.without, allow: isolation.allow }
}

/** Of the tree that was judged: with `--prepare` it has a benchmark that the base has not. */
async function filesOfBaseline(
  run: OpenRun,
  { site, spec, prefix, base, paths, globs }: Preconditions,
): Promise<{ tree: string; paths: string[]; globs: Pick<GlobReport, 'mutable' | 'immutable' | 'files'> }> {
  const { tree } = judgedCommit(run, BASELINE) ?? base
  const listed = tree === base.tree ? null : await listTree(site, tree)
  if (!listed?.ok) return { tree: base.tree, paths, globs }
  const own = listed.value.map(({ path }) => path)
  const areaOf = scopeOf(spec.scope, prefix, specFileOf(run))
  const mutable = matchGlobs(spec.scope.mutable, prefix, own)
  const immutable = matchGlobs(spec.scope.immutable, prefix, own)
  const files = own.filter((path) => areaOf(path) === 'mutable')
  return { tree, paths: own, globs: { mutable, immutable, files } }
}

/** With `--prepare` it was built in the worktree of the baseline. */
const topWithBenchmark = (run: OpenRun, { checkout }: Preconditions): string =>
  hasWorktree(run, BASELINE) ? worktreePath(run.site, run.run, BASELINE) : checkout.top

function pairsNeeded({ ledger, spec }: OpenRun): number | null {
  const { noise, knobs } = ledger.state
  const needed = fewestPairs('confirm', knobs?.experiments ?? 0)
  return noise.mode === 'paired' && needed > spec.noise.pairs.max ? needed : null
}

const globFact = ({ glob, matched }: GlobMatch): GlobFact => ({
  glob,
  files: matched.length,
  first: matched.slice(0, FIRST),
})

/** Lines for people. */
export function describeFacts(facts: InitFacts, { spec }: Preconditions): string[] {
  const { scope, data, canary, candidate } = facts
  const lines = [
    `May change: ${counted(scope.changeable, 'file')}. ${scope.mutable.map(matches).join('; ')}`,
    ...(scope.immutable.length > 0 ? [`Stays as it is: ${scope.immutable.map(matches).join('; ')}`] : []),
    ...(data.globs.length > 0 ? [`Data: ${data.globs.map(matches).join('; ')}`] : []),
  ]
  if (canary?.outcome === 'reads')
    lines.push(`The benchmark reads them: with all of them emptied, ${canary.why}`)
  if (canary?.outcome === 'skipped') lines.push(`Unknown: whether the benchmark reads them (${canary.why})`)
  if (candidate) lines.push(costLine(candidate, spec.budget))
  if (facts.judging) {
    const { sets, batch } = facts.judging
    lines.push(
      `Items: ${sets.judge} to judge, ${sets.confirm} to confirm, ${sets.holdout} held out; a pair judges ${batch}`,
      forecastLine(facts.judging),
      judgingLine(facts.judging),
    )
  }
  for (const { message } of facts.exposed) lines.push(`Note: ${message}`)
  if (facts.exposed.length > 0)
    lines.push(
      '  (Found by searching the text of the files, without running them: the list may be incomplete, or name harmless files.)',
    )
  if (facts.holdout && facts.holdout.read !== false)
    lines.push(`Held out: ${counted(facts.holdout.bytes, 'byte')}, used only to check each new best`)
  else if (facts.holdout)
    lines.push('Note: the benchmark does not use ASSAY_HOLDOUT, so the held-out data has no effect')
  if (facts.pairs_needed !== null)
    lines.push(
      `Note: with so many experiments, nothing can be kept unless noise.pairs.max is at least ${facts.pairs_needed} (it is ${spec.noise.pairs.max})`,
    )
  if (facts.reads_seed === false)
    lines.push('Note: the benchmark does not use ASSAY_SEED, which is fine if it draws no random numbers')
  return lines
}

function costLine(
  { best_ms, worst_ms, samples, buys }: Cost,
  budget: { experiments: number | null; hours: number | null },
): string {
  const caps = [
    ...(budget.experiments === null ? [] : [counted(budget.experiments, 'experiment')]),
    ...(budget.hours === null ? [] : [counted(budget.hours, 'hour')]),
  ]
  const bought =
    buys === null
      ? 'no budget is set'
      : `the budget of ${caps.join(' and ')} buys at least ${counted(buys, 'candidate')}`
  return `One candidate takes ${duration(best_ms)} to ${duration(worst_ms)} to judge (${samples.join(' to ')} samples); ${bought}`
}

const matches = ({ glob, files, first }: GlobFact): string =>
  `${glob} ${counted(files, 'file')}${files === 0 ? '' : ` (${first.join(', ')}${files > first.length ? ', …' : ''})`}`
