import { type BaselineAnswer, describeBaseline, judgeBaseline } from '../experiment/baseline.ts'
import { ensureWorktree } from '../experiment/worktree.ts'
import { BASELINE } from '../ledger/state.ts'
import { withLock } from '../lock.ts'
import { initLock, listRuns } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { digestOf } from '../run/data.ts'
import { type Ground, prepareGround } from '../run/ground.ts'
import { type OpenRun, open } from '../run/open.ts'
import { sealBase, startRun, withdrawRun } from '../run/start.ts'
import { frozenHash } from '../spec/hash.ts'
import { TEMPLATE } from '../spec/template.ts'
import type { Answer, Context, Parsed } from './command.ts'
import { figure } from './words.ts'

interface InitAnswer {
  run: string
  spec_hash: string
  base: string
  baseline: BaselineAnswer
  warnings: string[]
  worktree?: string
  repeated?: true
}

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  if (args.on('template')) return ok({ data: { template: TEMPLATE }, text: () => TEMPLATE })
  const prepare = args.on('prepare')
  const ground = await prepareGround(context, {
    spec: args.positionals[0] ?? null,
    includeDirty: args.on('include-dirty'),
    prepare,
  })
  if (!ground.ok) return ground
  const answer = await withLock(initLock(ground.value.site), () =>
    start(context, ground.value, { prepare, fresh: args.on('new') }),
  )
  if (!answer.ok) {
    if (listRuns(ground.value.site).length === 0) await ground.value.undo()
    return answer
  }
  return ok({ data: answer.value, text: () => describe(answer.value, ground.value) })
}

async function start(
  context: Context,
  ground: Ground,
  { prepare, fresh }: { prepare: boolean; fresh: boolean },
): Promise<Result<InitAnswer>> {
  const existing = fresh ? ok(null) : sameRun(context, ground)
  if (!existing.ok) return existing
  if (existing.value) return finish(existing.value, prepare, true)
  const started = startRun(context, { ...ground, checkout: ground.checkout.top, prepare })
  return started.ok ? finish(started.value, prepare, false) : started
}

/** Seals and judges the baseline, or opens its worktree; goes on where an interrupted `init` left off. */
async function finish(opened: OpenRun, prepare: boolean, repeated: boolean): Promise<Result<InitAnswer>> {
  const baseline = opened.ledger.state.experiments.get(BASELINE)
  if (prepare && baseline?.status !== 'kept') {
    const worktree = await ensureWorktree(opened, BASELINE)
    return worktree.ok ? ok(answerOf(opened, { repeated, worktree: worktree.value })) : worktree
  }
  if (baseline?.status === 'kept') return ok(answerOf(opened, { repeated }))
  const sealed = baseline?.attempts.length ? ok(opened) : await sealBase(opened)
  if (!sealed.ok) return sealed
  const judged = await judgeBaseline(opened)
  if (judged.ok) return ok(answerOf(opened, { repeated }))
  if (judged.problem.code === 'baseline_failed') withdrawRun(opened)
  return judged
}

/** The run that this `init` asks for again; another one in the way is a refusal. */
function sameRun(context: Context, ground: Ground): Result<OpenRun | null> {
  const runs = listRuns(ground.site)
  const wanted = frozenHash(ground.spec)
  for (const name of runs) {
    const opened = open(context, ground.site, name)
    if (!opened.ok) return opened
    const { frozen_hash, base, data } = opened.value.started
    const same = ground.data.length === 0 ? !data : data?.sha256 === digestOf(ground.data)
    if (frozen_hash === wanted && base.commit === ground.base.commit && same) return ok(opened.value)
  }
  if (runs.length === 0) return ok(null)
  return fail({
    kind: 'refused',
    code: 'run_exists',
    message: `${runs.join(', ')} ${runs.length === 1 ? 'is' : 'are'} here, of another spec, base commit or data`,
    hint: 'start one more beside it: assay init --new',
    at: ground.site.root,
    data: { runs },
  })
}

function answerOf(opened: OpenRun, more: { repeated: boolean; worktree?: string }): InitAnswer {
  const { run: name, started } = opened
  return {
    run: name,
    spec_hash: started.spec_hash,
    base: started.base.commit,
    baseline: describeBaseline(opened),
    warnings: started.warnings,
    ...(more.worktree === undefined ? {} : { worktree: more.worktree }),
    ...(more.repeated ? { repeated: true as const } : {}),
  }
}

function describe(answer: InitAnswer, { spec, base }: Ground): string[] {
  const { baseline } = answer
  const lines = [
    `${answer.run}  ${spec.name}, on ${base.commit.slice(0, 10)}${answer.repeated ? ' (it was here already)' : ''}`,
  ]
  if (answer.worktree) {
    lines.push(`Build the benchmark in ${answer.worktree}, then: assay run ${BASELINE}`)
  } else {
    lines.push(
      `Baseline: ${spec.metric.name} = ${figure(baseline.value)} (${baseline.samples} equal samples, ${spec.metric.direction})`,
    )
  }
  for (const warning of answer.warnings) lines.push(`Note: ${warning}`)
  if (!answer.worktree)
    lines.push(spec.agent ? 'Next: assay loop' : `Next: assay new -m "your idea", edit, then assay run ID`)
  return lines
}
