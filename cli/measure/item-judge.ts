/** Asks the judge of a run: opens its host, waits when that is busy, and records what each call cost. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { readAnswers, readItemAnswer } from '../evaluate/item-answers.ts'
import { outputNames } from '../evaluate/stored.ts'
import { type Host, type HostAnswer, NO_USAGE, sumUsage } from '../hosts/host.ts'
import { HOSTS } from '../hosts/registry.ts'
import { readAnchors, SWAP_BELOW } from '../judge/anchors.ts'
import type { SampleFault } from '../ledger/events.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { BASELINE, JUDGE } from '../ledger/state.ts'
import { redact, redactIn } from '../redact.ts'
import { ok, type Result } from '../result.ts'
import { judgeUnaffordable } from '../run/budget.ts'
import { readItems, samePrompt } from '../run/items.ts'
import type { RunRecord, Surroundings } from '../run/open.ts'
import type { JudgeConfig } from '../spec/spec.ts'
import type { ItemJudge, JudgeReply, JudgeRequest } from './trial.ts'

type AskingRun = Pick<Surroundings, 'env' | 'signal' | 'clock' | 'tell'> &
  Pick<RunRecord, 'site' | 'spec' | 'started'> & { ledger: Ledger }

/** How often a call is repeated: when its host says how long to wait, when it does not, and after a failure that may pass. */
const AGAIN = { told: 20, busy: 3, failed: 1 }
const BUSY_SECONDS = 30
/** A longer wait is left to a person. */
const LONGEST_WAIT_SECONDS = 6 * 3600
const SILENCE_MS = 900_000

/** null when the metric of the run is not judged. `tree`: of any candidate. `folder`: where samples are kept. */
export async function openItemJudge(
  run: AskingRun,
  { experiment, tree, folder }: { experiment: string; tree: string; folder: string },
): Promise<Result<ItemJudge | null>> {
  const { judge } = run.spec
  if (judge === undefined) return ok(null)
  const same = samePrompt(judge)
  if (!same.ok) return same
  const sets = await readItems({ site: run.site, tree, prefix: run.started.prefix }, judge)
  if (!sets.ok) return sets
  let host: Host | null = null
  return ok({
    sets: sets.value,
    answer: (sample, id) => readItemAnswer(join(folder, outputNames(sample).answers), id),
    holds: (sample, ids) => {
      const now = readAnswers(join(folder, outputNames(sample).answers), ids)
      return 'sha256' in now && now.sha256 === sample.answers?.sha256
    },
    // The first known answers are looked at together.
    refuses: (calls) => (experiment === BASELINE ? null : drift(run)) ?? unpaid(run, calls),
    paid: (call) => record(run, experiment, judge, call),
    ask: async (request) => {
      host ??= await openHost(judge)
      return ask(run, host, judge, request)
    },
  })
}

async function openHost({ host, command }: JudgeConfig): Promise<Host> {
  if (host === 'command') return (await HOSTS.command.load()).open({ command: command ?? [] })
  return (await HOSTS[host].load()).open({ permissions: 'safe', silenceMs: SILENCE_MS })
}

/** Why the judge may not be asked any more in this epoch: it gave wrong answers where the right one is known. */
function drift({ ledger, spec }: AskingRun): SampleFault | null {
  const read = ledger.refresh()
  if (!read.ok) return { reason: 'environment', message: read.problem.message }
  const { trouble, merit } = readAnchors(ledger.state.judge.anchors)
  if (trouble === null) return null
  const place =
    merit !== null && merit < SWAP_BELOW && spec.judge?.swap === false
      ? '; it seems to prefer a place, so judge.swap: true may help'
      : ''
  const message = `judge_drift: the judge cannot be trusted now: ${trouble}${place}; verdicts from before stay valid; look at the judge, begin an epoch (assay epoch open), then assay loop resume`
  return { reason: 'environment', message, judge_drift: true }
}

/** Why the judge may not be asked so many times more, because of its price. */
function unpaid({ ledger }: AskingRun, calls: number): SampleFault | null {
  const read = ledger.refresh()
  if (!read.ok) return { reason: 'environment', message: read.problem.message }
  const { state } = ledger
  const spent = judgeUnaffordable(state, calls)
  if (spent !== null) return { reason: 'environment', message: `the judge may not be asked: ${spent}` }
  const { knobs } = state
  const unpriced = state.costs.get(JUDGE)?.unknown.usd ?? 0
  if ((knobs?.judge_usd ?? null) !== null && unpriced > 0 && knobs?.unknown !== 'allow')
    return {
      reason: 'environment',
      message:
        'budget.judge_usd cannot be enforced: the host of the judge does not report what a call costs; write budget.unknown: allow to accept that',
    }
  return null
}

/** Appends the call to the ledger; the same call again changes nothing. */
function record(
  run: AskingRun,
  experiment: string,
  { host, model }: JudgeConfig,
  { key, usage, ms, outcome, unscored, anchor }: Parameters<ItemJudge['paid']>[0],
): Result<unknown> {
  return run.ledger.record<'usage'>(
    {
      type: 'usage',
      role: JUDGE,
      host,
      experiment,
      round: null,
      ...(model === null ? {} : { model }),
      ms: Math.round(ms),
      outcome,
      usage,
      ...(unscored ? { unscored: true as const } : {}),
      ...(anchor ? { anchor } : {}),
    },
    run.clock(),
    `judge ${key}`,
  )
}

async function ask(
  run: AskingRun,
  host: Host,
  judge: JudgeConfig,
  { prompt, schema }: JudgeRequest,
): Promise<JudgeReply> {
  const { signal } = run
  // An agent program must not find the repository, its record, or what candidates are about.
  const empty = judge.host === 'command' ? null : mkdtempSync(join(tmpdir(), 'assay-judge-'))
  const began = performance.now()
  let usage = NO_USAGE
  try {
    for (let tries = 1; ; tries++) {
      const answer: HostAnswer = redactIn(
        await host.call({
          prompt: redact(prompt),
          schema,
          role: JUDGE,
          cwd: empty ?? join(run.started.checkout, run.started.prefix),
          folders: [],
          timeoutMs: judge.timeoutMs,
          model: judge.model,
          effort: judge.effort,
          env: run.env,
          signal,
          repairs: 1,
        }),
      )
      if (signal.aborted) return { fault: { reason: 'aborted', message: 'it was interrupted' } }
      if (answer.outcome === 'retry_after') {
        const wait = answer.seconds ?? BUSY_SECONDS
        const most = answer.seconds === null ? AGAIN.busy : AGAIN.told
        if (tries > most || wait > LONGEST_WAIT_SECONDS)
          return { fault: { reason: 'environment', message: `the judge does not answer: ${answer.message}` } }
        run.tell({ type: 'log', message: `the judge: ${answer.message}; next try in ${wait} s` })
        await pause(Math.max(1, wait) * 1000, undefined, { signal }).catch(() => {})
        if (signal.aborted) return { fault: { reason: 'aborted', message: 'it was interrupted' } }
        continue
      }
      usage = sumUsage(usage, answer.usage)
      const ms = performance.now() - began
      if (answer.outcome === 'ok')
        return { answer: answer.object ?? null, usage, ms, outcome: 'ok', message: '' }
      if (answer.outcome === 'failed' && answer.again && tries <= AGAIN.failed) continue
      return { answer: null, usage, ms, outcome: answer.outcome, message: answer.message }
    }
  } finally {
    if (empty !== null) rmSync(empty, { recursive: true, force: true })
  }
}
