/** `context`: what an agent reads first. */

import { figure, shown } from '../evaluate/figure.ts'
import { readBlob } from '../git/trees.ts'
import type { Experiment } from '../ledger/state.ts'
import { candidatesOf, pickParents } from '../loop/frontier.ts'
import { newestLearnings, patternsIn, rulesOf } from '../loop/open.ts'
import { artifactsFolder, worktreePath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { liveSpec, nodeFor, type OpenRun } from '../run/open.ts'
import { budgetText, STOPPED } from '../terminal/summary.ts'
import { plain } from '../text.ts'
import {
  type ContextFacts,
  type ContextInputs,
  contextFacts,
  digest,
  type Head,
  MOST,
  quoted,
} from '../view/context.ts'
import { type StatusData, statusOf } from '../view/run.ts'
import { onRun } from './verb.ts'

const PARENTS = 5

export const run = onRun(async (opened, args) => {
  const [id] = args.positionals
  const node = id === undefined ? ok(null) : nodeFor(opened, id)
  if (!node.ok) return node
  const facts = await factsOf(opened, node.value?.id ?? null)
  if (!facts.ok) return facts
  const status = statusOf(opened)
  const { metric, noise } = opened.spec
  const { goal, skills } = liveSpec(opened)
  const { run, epoch, baseline, counts, budget, stop } = status
  const best = isUnaware(node.value) ? null : status.best
  return ok({
    data: {
      run,
      goal,
      metric: { ...status.metric, min_improvement: metric.min_improvement },
      noise: noise.mode,
      epoch,
      baseline,
      best,
      counts,
      budget,
      stop,
      ...(skills.length > 0 && { skills }),
      ...facts.value,
    },
    text: () => digest(headOf(opened, status, node.value), facts.value),
  })
})

/** A lane of the baseline arm must not know the results of the search, nor where to read them. */
const isUnaware = (node: Experiment | null): boolean => node?.created.arm === 'baseline'

async function factsOf(run: OpenRun, id: string | null): Promise<Result<ContextFacts>> {
  const { state } = run.ledger
  const instructions = await instructionsOf(run)
  if (!instructions.ok) return instructions
  const candidates = candidatesOf(state)
  const picked = pickParents(run, { k: PARENTS, candidates })
  if (!picked.ok) return picked
  const given = {
    instructions: instructions.value,
    picks: picked.value.picks,
    eligible: picked.value.eligible,
    patterns: patternsIn(state, candidates),
    learnings: newestLearnings(state, MOST.texts),
    gates: run.spec.gates,
  }
  return ok(contextFacts(state, given, id))
}

/** The files as they are on the base: a candidate that changes one does not change what other lanes read. */
async function instructionsOf(run: OpenRun): Promise<Result<ContextInputs['instructions']>> {
  const { file, text } = liveSpec(run).instructions
  const rules = rulesOf(run)
  if (file === null) return ok({ text, file, rules })
  const files = [file].flat()
  const texts = text === null ? [] : [text]
  for (const one of files) {
    const path = [run.started.prefix, one].filter(Boolean).join('/')
    const blob = await readBlob(run.site, run.started.base.tree, path)
    if (!blob.ok) return blob
    texts.push(blob.value?.toString('utf8').trimEnd() ?? `(${one} is not on the base)`)
  }
  return ok({ text: texts.join('\n'), file: files.join(', '), rules })
}

function headOf(run: OpenRun, status: StatusData, node: Experiment | null): Head {
  const { metric, baseline, best, budget, epoch, stop } = status
  const { skills } = liveSpec(run)
  const { min_improvement: least } = run.spec.metric
  const step = 'relative' in least ? least.relative * 100 : least.absolute
  const gain = step === 0 ? 'any gain' : `a gain of ${shown(step)}${'relative' in least ? ' %' : ''} or more`
  const target = metric.target === null ? '' : `, target ${shown(metric.target)}`
  const counts = Object.entries(status.counts).flatMap(([name, count]) =>
    count > 0 ? [`${count} ${name}`] : [],
  )
  return {
    run: `${status.run} (${plain(run.started.name, 40)})${epoch > 1 ? `, epoch ${epoch}` : ''}`,
    lines: [
      `Goal: ${quoted(liveSpec(run).goal, 240)}`,
      `Metric: ${plain(metric.name, 60)}, ${metric.direction}${target}; ${gain} counts; noise: ${run.spec.noise.mode}`,
      isUnaware(node)
        ? `Baseline ${figure(baseline.value)}`
        : `Baseline ${figure(baseline.value)}; best ${best ? `${figure(best.value)} (${best.experiment})` : 'none yet'}`,
      `Experiments: ${counts.join(', ')}`,
      `Budget: ${budgetText(budget)}${stop === null ? '' : `; stopped: ${STOPPED[stop]}`}`,
      ...(skills.length > 0
        ? [
            `Load in full before you begin: ${plain(skills.join(', '), 200)}; one that your program does not have may be a guide of Assay (assay guide NAME)`,
          ]
        : []),
      ...(node
        ? [
            `Edit in ${worktreePath(run.site, run.run, node.id)}`,
            `Expensive outputs go into ${artifactsFolder(run.paths, node.id)}`,
          ]
        : []),
    ],
  }
}
