/** `loop`: runs rounds of experiments, and pauses, continues or stops the loop that runs. */
import { BASELINE } from '../ledger/state.ts'
import { driveLoop } from '../loop/drive.ts'
import { approvalLines } from '../loop/parked.ts'
import { call, next, type Said } from '../next.ts'
import { ensurePageServer } from '../page/record.ts'
import { fail, ok, type Result } from '../result.ts'
import { type Driver, resumeLoop, startDriving } from '../run/driver.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { continueLoop, type HoldData, pauseLoop, stopLoop } from '../run/steer.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { showLoop } from '../terminal/loop-view.ts'
import { LEAVING } from '../terminal/progress.ts'
import { chartLines } from '../terminal/run-chart.ts'
import { describePlan, planLoop } from '../view/loop-plan.ts'
import { statusOf } from '../view/run.ts'
import type { FoundScript } from '../workflow/scripts.ts'
import { onRun } from './verb.ts'

export const run = onRun(async (opened, args, context) => {
  const [action] = args.positionals
  if (action !== undefined) return hold(opened, action, args)
  const ready = isReady(opened)
  if (!ready.ok) return ready
  const script = await scriptOf(opened)
  if (!script.ok) return script
  if (args.on('dry-run')) {
    const plan = planLoop(opened, { rounds: args.integer('rounds') })
    return ok({ data: plan, text: () => describePlan(plan), wrap: true })
  }
  const served = args.on('serve') ? await ensurePageServer(opened) : null
  if (served?.ok === false) return served
  const driver = startDriving(opened, 'assay loop', args.on('take-over'))
  if (!driver.ok) return driver
  const view = await showLoop(opened, context, args.json)
  try {
    if (served) context.tell({ type: 'log', message: `the page of this run: ${served.value}` })
    resumeLoop(opened)
    context.onLeave(() => {
      const tell = args.json ? context.tell : view.tell
      tell(LEAVING)
      const stopped = stopLoop(opened, 'Ctrl-C')
      if (!stopped.ok) tell({ type: 'warning', message: stopped.problem.message })
    })
    const driving = { ...opened, tell: view.tell }
    const outcome =
      script.value === null
        ? await driveOurs(driving, driver.value, args)
        : await driveScript(driving, driver.value, args, script.value)
    if (!outcome.ok) return outcome
    return await answerOf(opened, context, outcome.value)
  } finally {
    driver.value.stop()
    view.close()
  }
})

/** The result of the rounds, with any driver. */
interface Driven {
  /** Why it ended early; null when it did not. */
  error: string | null
  /** A person stopped it while it waited. */
  left: boolean
  logs: string[]
  result: object
}

/** Its script is for hosts with a workflow tool; here the CLI itself drives the rounds. */
const OURS = ['optimize', 'assay:optimize']

/** The script that drives the rounds; null = the CLI itself. */
async function scriptOf(run: OpenRun): Promise<Result<FoundScript | null>> {
  const { workflow } = liveSpec(run).loop
  if (OURS.includes(workflow)) return ok(null)
  const { loopScript } = await import('../loop/named-script.ts')
  return loopScript(workflow, run.started.checkout)
}

async function driveOurs(run: OpenRun, driver: Driver, args: Parsed): Promise<Result<Driven>> {
  const rounds = args.integer('rounds')
  const outcome = await driveLoop(run, { rounds, uncapped: args.on('uncapped'), driver })
  if (!outcome.ok) return outcome
  const { error, left, logs, driven, usage, ...told } = outcome.value
  const { best, baseline, counts, knobs } = statusOf(run)
  const result = {
    ...told,
    ...(driven === null ? {} : { driven }),
    ...{ best, baseline, counts, knobs },
    usage: { agents: usage.agents, output_tokens: usage.tokens_out ?? 0, looks: usage.looks },
  }
  return ok({ error, left, logs, result })
}

async function driveScript(
  run: OpenRun,
  driver: Driver,
  args: Parsed,
  script: FoundScript,
): Promise<Result<Driven>> {
  const rounds = args.integer('rounds')
  const { driveByScript } = await import('../loop/drive-by-script.ts')
  const { workflowFolders } = await import('../loop/named-script.ts')
  const outcome = await driveByScript(run, {
    script,
    entry: process.argv[1] ?? '',
    folders: workflowFolders(run.started.checkout),
    uncapped: args.on('uncapped'),
    driver,
    args: { run: run.run, launch: run.ledger.state.seq, ...(rounds === null ? {} : { rounds }) },
  })
  if (!outcome.ok) return outcome
  const { status, error, left, logs, result } = outcome.value
  const failed = status === 'failed' ? (error ?? 'no reason given') : null
  return ok({ error: failed, left, logs, result: result as object })
}

/** As many as `meta due` lists. */
const ALERTS = 100

const HELD: Readonly<Record<HoldData['state'], Said>> = {
  going: 'the loop may continue',
  paused: next`the loop finishes the work that has begun, and starts no agent and no lane. Continue with: ${call('loop', 'resume')}`,
  stopped: next`the loop finishes the work that has begun, then ends. ${call('loop')} starts it again`,
}

const HOLDS = { pause: pauseLoop, resume: continueLoop, stop: stopLoop }

/** `pause`, `resume`, `stop`: of the loop that runs, or of the next one. */
function hold(run: OpenRun, action: string, args: Parsed): Result<VerbAnswer> {
  if (action !== 'pause' && action !== 'resume' && action !== 'stop') {
    return fail({
      kind: 'usage',
      code: 'bad_action',
      message: `assay loop has no ${action}`,
      hint: 'one of: pause, resume, stop; without any it runs the loop',
    })
  }
  const done = HOLDS[action](run, args.text('reason') ?? `assay loop ${action}`)
  if (!done.ok) return done
  const { state } = done.value
  return ok({
    data: done.value,
    text: () => HELD[state],
  })
}

function isReady(run: OpenRun): Result<void> {
  if (run.ledger.state.experiments.get(BASELINE)?.status === 'kept') return ok(undefined)
  return fail({
    kind: 'refused',
    code: 'no_baseline',
    message: 'the baseline has no verdict yet',
    hint: next`judge it first: ${call('run', BASELINE)}`,
  })
}

async function answerOf(run: OpenRun, context: Context, outcome: Driven): Promise<Result<VerbAnswer>> {
  const read = run.ledger.refresh()
  if (!read.ok) return read
  if (context.signal.aborted) {
    return fail({
      kind: 'interrupted',
      code: 'interrupted',
      message: `the loop was interrupted; what was judged is in the ledger of ${run.run}`,
      hint: next`continue with: ${call('loop')}`,
    })
  }
  if (outcome.error !== null && !outcome.left) {
    return fail({
      kind: 'failed',
      code: 'workflow_failed',
      message: `the loop ended early: ${outcome.error}`,
      hint: next`what was judged is in the ledger; continue with: ${call('loop')}`,
      data: { logs: outcome.logs.slice(-20) },
    })
  }
  const lines = await chartLines(run, { width: context.columns, height: 20, colour: context.colour })
  const { stop, best, baseline, counts, knobs, parked } = statusOf(run)
  // A loop that was ended while it waited has no result of its own.
  const result = (outcome.left ? { rounds: null, best, baseline, counts, knobs } : outcome.result) as {
    alerts?: unknown
  } | null
  const said = Array.isArray(result?.alerts) ? result.alerts.map(String) : []
  // Also the edits of a run whose controller is off now.
  const alerts = [...new Set([...run.ledger.state.meta.alerts.slice(-ALERTS), ...said])]
  return ok({
    data: { stop, ...result, alerts, ...(parked ? { parked } : {}) },
    text: () => [...lines, ...approvalLines(parked ?? [])],
  })
}
