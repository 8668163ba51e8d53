/** What the page says of one experiment: what `show` answers, with what its pairs were worth, its brief, and its diff. */
import { join } from 'node:path'
import { tailOf } from '../evaluate/command.ts'
import { duration, shown } from '../evaluate/figure.ts'
import { Bets, residual, ScaleWindow } from '../evaluate/paired.ts'
import { changesBetween, patchBetween } from '../git/trees.ts'
import type { Machine, Sample } from '../ledger/events.ts'
import { BASELINE, type Experiment, lastAttempt, lastJudged, roundAt } from '../ledger/state.ts'
import { readSteps } from '../ledger/steps.ts'
import { gatesWithOrigin } from '../measure/gates.ts'
import { recordedSamples } from '../measure/steps.ts'
import { baseOf } from '../measure/worktree.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { machineOf } from '../run/machine.ts'
import type { OpenRun } from '../run/open.ts'
import { plain, verbatim } from '../text.ts'
import { attributionView, placeOf, togetherLines, worthOf } from './attribution.ts'
import { explainVerdict } from './explain.ts'
import { logPartsOf } from './log.ts'
import { showData } from './node.ts'
import type { PageDiff, PageNode, PagePatch, PageStage, PageTask } from './page-model.ts'
import { predictionOf } from './predictions.ts'
import { readdedLines } from './readded.ts'

const said = (text: string, max = 4000): string => plain(text, max)

export async function pageNode(run: OpenRun, node: Experiment): Promise<PageNode> {
  const data = showData(run, node)
  const judged = lastJudged(node)
  const { spec } = run
  const other = judged?.against ? run.ledger.state.experiments.get(judged.against) : undefined
  const results = new Map(data.gates.map((gate) => [`${gate.phase} ${gate.name}`, gate.passed]))
  const diff = await pageDiff(run, node, node.parent)
  const parts = attributionView(run.ledger.state, node.id)
  const predicted = predictionOf(run.ledger.state, node, run.started.metric.direction)
  return {
    experiment: node.id,
    message: data.message === null ? null : said(data.message),
    explained: (judged
      ? explainVerdict(judged, data.comparisons, spec.metric, spec.noise.pairs.max)
      : []
    ).map((line) => said(line)),
    why: data.why === null ? null : said(data.why),
    doubt: data.doubt === null ? null : said(data.doubt),
    lost_to: data.lost_to,
    fix: data.fix === null ? null : said(data.fix),
    flagged: data.flagged,
    against: judged?.against ?? null,
    parent_value: data.parent_value,
    improvement_abs: data.improvement_abs,
    samples: judged?.samples ?? null,
    gates: gatesWithOrigin(run, node.id).map(({ name, phase, from }) => ({
      name: said(name, 80),
      phase,
      passed: results.get(`${phase} ${name}`) ?? null,
      from,
    })),
    constraints: spec.constraints.map(({ metric, op, value }) => said(`${metric} ${op} ${value}`, 120)),
    protected: spec.protected.map(({ metric }) => said(metric, 80)),
    held_out: run.started.holdout ? judged?.held_out === true : null,
    metrics: named(data.metrics),
    parent_metrics: named((other && lastJudged(other)?.metrics) ?? {}),
    tasks: tasksOf(run, node, other),
    ...(predicted && {
      predicted: { ...predicted, text: predicted.text === null ? null : said(predicted.text, 300) },
    }),
    stages: judged ? stagesOf(run, node, judged.attempt) : [],
    ...(data.judged_items && { judged_items: data.judged_items }),
    ...(parts && {
      parts: {
        parent: parts.parent,
        summary: said(parts.summary),
        parts: parts.parts.map((part) => ({
          id: part.id,
          worth: said(worthOf(part), 300),
          dead: part.state === 'dead_weight',
          lines: part.lines,
          place: said(placeOf(part), 300),
          edits: part.edits.map((edit) => ({ ...edit, path: said(edit.path, 300) })),
        })),
        together: togetherLines(parts).map((line) => said(line, 300)),
      },
    }),
    ...brokeOf(run, node),
    annotations: data.annotations.map(({ at, task, tag, text }) => ({
      at,
      task: task === null ? null : said(task, 80),
      tag: tag === null ? null : said(tag, 40),
      text: said(text),
    })),
    brief: briefOf(run, node),
    artifacts: Object.entries(data.artifacts).map(([label, { path, bytes, sha256 }]) => ({
      label: said(label, 80),
      path: said(path, 300),
      bytes,
      sha256,
    })),
    attempts: data.attempts.map((attempt) => ({
      attempt: attempt.attempt,
      status: attempt.status,
      reason: attempt.reason,
      value: attempt.value,
      message: attempt.message === null ? null : said(attempt.message),
      started: attempt.started,
      finished: attempt.finished,
      ...attempt.diffstat,
      samples: attempt.measurements.length,
      confirmations: attempt.confirmations.map(({ at, against, passed, message }) => ({
        at,
        against,
        passed,
        message: message === null ? null : said(message),
      })),
      audits: attempt.audits.map(({ outcome, findings }) => ({
        outcome,
        findings: findings.map(({ message }) => said(message, 500)),
      })),
    })),
    environment: environmentOf(run, node),
    commit: data.candidate?.commit ?? null,
    ref: data.candidate?.ref ?? null,
    commands: commandsOf(run, node),
    diff: diff.ok ? diff.value : null,
  }
}

const named = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [said(name, 80), value]))

function briefOf(run: OpenRun, node: Experiment): PageNode['brief'] {
  const { round, lane } = node.created
  const found = roundAt(run.ledger.state, round ?? 0)?.briefed
  const brief = found?.lanes.find((one) => one.lane === lane)?.brief
  if (!brief) return null
  return {
    kind: said(brief.kind, 60),
    objective: said(brief.objective),
    boundaries: brief.boundaries.map((text) => said(text, 500)),
    pointers: brief.pointers.map((text) => said(text, 500)),
  }
}

/** The CLI's lines of it, for the run by name: a page is read in any folder of the repository. */
function commandsOf({ run }: OpenRun, { id, status }: Experiment): string[] {
  return [
    `assay show ${id} --run ${run}`,
    `assay diff ${id} --run ${run}`,
    ...(status === 'kept' || status === 'rejected' || status === 'pruned'
      ? [`assay show ${id} --recompute --run ${run}`]
      : []),
  ]
}

/** At most; more is in `show`. */
const TASKS = 200

function tasksOf(run: OpenRun, node: Experiment, other: Experiment | undefined): PageTask[] | null {
  const judged = lastJudged(node)
  if (!judged?.tasks) return null
  const before = (other && lastJudged(other)?.tasks) ?? {}
  const samples = recordedSamples(run, node.id, judged.attempt).filter(
    ({ side, stage }) => side === 'candidate' && stage !== 'holdout',
  )
  return Object.entries(judged.tasks)
    .slice(0, TASKS)
    .map(([name, score]) => {
      const all = samples.map(({ tasks }) => tasks?.[name]?.parts ?? {})
      const parts = [...new Set(all.flatMap((one) => Object.keys(one)))].map(
        (part): [string, number | null] => {
          const known = all.flatMap((one) => one[part] ?? [])
          return [
            said(part, 40),
            known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length,
          ]
        },
      )
      return {
        name: said(name, 80),
        score,
        before: before[name] ?? null,
        ...(parts.length > 0 && { parts: Object.fromEntries(parts) }),
      }
    })
}

// ---------------------------------------------------------------- pairs

interface Inputs {
  pairs?: number
  crowded?: number
  why?: string
  p?: number | null
  bounds?: { e: number; p: number }
  transform?: 'log' | 'linear'
  differences?: number[]
}

interface Began {
  stage: PageStage['stage']
  context?: { pool?: readonly number[] }
}

interface Ended {
  outcome?: string
  against?: string
  inputs?: Inputs
}

/** The stages of an attempt that was judged in pairs. */
function stagesOf(run: OpenRun, node: Experiment, attempt: number): PageStage[] {
  const found: PageStage[] = []
  let began: Began | null = null
  for (const line of readSteps(stepsFile(attemptFolder(run.paths, node.id, attempt)))) {
    const detail = 'detail' in line ? (line.detail as (Partial<Began> & Ended) | null) : null
    if (detail?.stage) began = detail as Began
    else if (detail?.inputs && began !== null) {
      found.push(stageOf(began, detail))
      began = null
    }
  }
  return found
}

function stageOf(
  { stage, context }: Began,
  { outcome = 'unknown', against = '', inputs = {} }: Ended,
): PageStage {
  const { differences = [], why = null, p = null, bounds = null, crowded = 0, transform = 'linear' } = inputs
  return {
    stage,
    against,
    outcome,
    why,
    differences,
    transform,
    evidence: context?.pool === undefined ? null : evidenceOf(differences, context.pool),
    bounds,
    p,
    crowded,
  }
}

/** What the bets were worth at most after each pair, by the rule that decided. */
function evidenceOf(differences: readonly number[], pool: readonly number[]): number[] {
  const window = new ScaleWindow(pool)
  const bets = new Bets()
  return differences.map((d, i) => {
    bets.settle(d, window.scale)
    const before = differences[i - 1]
    if (before !== undefined) window.add(residual(before, d))
    return bets.best
  })
}

// ---------------------------------------------------------------- the conditions of its samples

function environmentOf(run: OpenRun, node: Experiment): PageNode['environment'] {
  const attempt = node.attempts.findLast(({ claim }) => claim !== null)
  const samples = attempt ? recordedSamples(run, node.id, attempt.attempt) : []
  if (!attempt?.claim || samples.length === 0) return null
  const over = (read: (sample: Sample) => number | null | undefined) =>
    rangeOf(samples.flatMap((sample) => read(sample) ?? []))
  const on = machineOf(run.ledger.state, node)
  const told: Record<string, string | null> = {
    machine: said(attempt.claim.owner.host, 80),
    ...(on && machineFacts(on)),
    epoch: String(attempt.claim.epoch),
    'measured from': momentOf(samples[0]?.started),
    'measured until': momentOf(samples.at(-1)?.ended),
    samples: String(samples.length),
    'load at the start': over(({ load }) => load),
    'processors idle, %': over(({ processors }) => processors && 100 * processors.idle),
    'others on the processors, %': over(({ processors }) => processors && 100 * processors.others),
    'wall time': spanOf(samples.map(({ wall_ms }) => wall_ms)),
    'CPU time': spanOf(samples.flatMap(({ cpu_ms }) => cpu_ms ?? [])),
    'peak memory, MB': over(({ peak_mb }) => peak_mb),
  }
  return Object.fromEntries(
    Object.entries(told).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
  )
}

/** To the second, in UTC as the ledger has it. */
const momentOf = (at: string | undefined): string | null =>
  at === undefined ? null : `${at.slice(0, 19).replace('T', ' ')} UTC`

function rangeOf(values: readonly number[]): string | null {
  if (values.length === 0) return null
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) =>
    shown(Number(value.toPrecision(3))),
  )
  return low === high ? `${low}` : `${low} to ${high}`
}

function spanOf(values: readonly number[]): string | null {
  if (values.length === 0) return null
  const [low, high] = [duration(Math.min(...values)), duration(Math.max(...values))]
  return low === high ? low : `${low} to ${high}`
}

// ---------------------------------------------------------------- diffs, between sealed trees only

/** Files that tools write: their diff says nothing to a reader. */
const WRITTEN =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|go\.sum)$|\.(min\.(js|css)|map|snap|lock)$|(^|\/)(dist|vendor|node_modules|__snapshots__)\//

const FILES = 2000

/** The files that differ; `other` null = what the experiment was made from. */
export async function pageDiff(
  run: OpenRun,
  node: Experiment,
  other: string | null,
): Promise<Result<PageDiff>> {
  const trees = treesOf(run, node, other)
  if (!trees.ok) return trees
  const changes = await changesBetween(run.site, trees.value.from, trees.value.to)
  if (!changes.ok) return changes
  return ok({
    from: other ?? 'base',
    to: node.id,
    files: changes.value.slice(0, FILES).map(({ path, status, added, removed }) => ({
      path,
      status,
      added,
      removed,
      noise: WRITTEN.test(path),
    })),
  })
}

/** Bytes of a patch that a page shows; more is for a program that reads patches. */
const LONGEST_PATCH = 400_000

export async function pagePatch(
  run: OpenRun,
  node: Experiment,
  other: string | null,
  path: string,
): Promise<Result<PagePatch>> {
  const trees = treesOf(run, node, other)
  if (!trees.ok) return trees
  const patch = await patchBetween(run.site, trees.value.from, trees.value.to, { paths: [path] })
  if (!patch.ok) {
    if (patch.problem.code !== 'git_output_too_large') return patch
    return ok({
      missing: `the diff of this file is larger than 64 MiB: assay diff ${node.id} --run ${run.run}`,
    })
  }
  return ok(await patchOf(run, node, other, path, patch.value))
}

/** The patches of all files of a diff, by path, with one call of git. */
export async function patchesOf(
  run: OpenRun,
  node: Experiment,
  other: string | null,
  { files }: PageDiff,
): Promise<Result<[path: string, patch: PagePatch][]>> {
  const trees = treesOf(run, node, other)
  if (!trees.ok) return trees
  const whole = await patchBetween(run.site, trees.value.from, trees.value.to)
  if (!whole.ok) return whole
  // A line of content begins with a sign, so only a header begins like this; files come in the order of the list.
  const parts = whole.value.split(/^(?=diff --git )/m)
  const found: [string, PagePatch][] = []
  for (const [i, { path }] of files.entries()) {
    const part = parts[i]
    if (part !== undefined) found.push([path, await patchOf(run, node, other, path, part)])
  }
  return ok(found)
}

async function patchOf(
  run: OpenRun,
  node: Experiment,
  other: string | null,
  path: string,
  text: string,
): Promise<PagePatch> {
  const bytes = Buffer.byteLength(text)
  const lines = text.split('\n')
  if (bytes > LONGEST_PATCH) return { too_big: { lines: lines.length, bytes } }
  const again = other === null || other === node.parent ? await readdedLines(run, node, path, lines) : []
  return { patch: lines.map(verbatim).join('\n'), ...(again.length > 0 && { again }) }
}

function treesOf(run: OpenRun, node: Experiment, other: string | null): Result<{ from: string; to: string }> {
  const to = lastAttempt(node)?.sealed.tree
  const target = other === null || other === node.parent ? null : run.ledger.state.experiments.get(other)
  if (target === undefined) return noTree(other ?? BASELINE)
  if (to === undefined) return noTree(node.id)
  if (target === null) return ok({ from: baseOf(run, node.id).tree, to })
  const from = lastAttempt(target)?.sealed.tree
  return from === undefined ? noTree(target.id) : ok({ from, to })
}

const noTree = (id: string) =>
  fail({
    kind: 'refused',
    code: 'not_sealed',
    message: `${id} has no candidate yet`,
    hint: `pin what its worktree holds: assay seal ${id}`,
  })

// ---------------------------------------------------------------- the end of what its newest sample printed

const TAIL = 4096

/** What a gate, a sample, setup or build printed when it ended the attempt. Samples on held-out data are never shown. */
function brokeOf(run: OpenRun, node: Experiment): Pick<PageNode, 'broke'> {
  const attempt = node.attempts.findLast(({ claim }) => claim !== null)
  const part = attempt && logPartsOf(run, node, attempt).findLast(({ passed }) => passed === false)
  if (!part) return {}
  const text = tailOf(part.stdout, TAIL) + (part.stderr === null ? '' : tailOf(part.stderr, TAIL))
  const what = part.name === part.kind ? part.kind : `${part.kind} ${part.name}`
  return { broke: { what: said(what, 120), text: text.split('\n').map(verbatim).join('\n') } }
}

/** Lines that cannot act; null when nothing was printed yet. */
export function pageLog(run: OpenRun, node: Experiment): string | null {
  const attempt = node.attempts.findLast(({ claim }) => claim !== null)
  if (!attempt) return null
  const folder = attemptFolder(run.paths, node.id, attempt.attempt)
  const last = recordedSamples(run, node.id, attempt.attempt).findLast(({ stage }) => stage !== 'holdout')
  if (!last) return null
  const text = tailOf(join(folder, last.stdout), TAIL) + tailOf(join(folder, last.stderr), TAIL)
  return text === '' ? null : text.split('\n').map(verbatim).join('\n')
}

// ---------------------------------------------------------------- the machine of a measurement
// The machine of a measurement, as the page names its parts.

const short = (text: string): string => plain(text, 80)

export const machineFacts = ({ os, cpu, cores, memory_gb, governor, microcode, libc, node }: Machine) => ({
  kernel: short(os),
  processor: short(cpu),
  cores: String(cores),
  memory: `${memory_gb} GB`,
  governor: governor === undefined ? null : short(governor),
  microcode: microcode === undefined ? null : short(microcode),
  libc: libc === undefined ? null : short(libc),
  'Node of the CLI': short(node),
})
