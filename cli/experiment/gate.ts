/** `gate add | remove | check`: gates that are added while a run lives, inherited down the tree. */

import type { GateResult, GateRule } from '../ledger/events.ts'
import { answered } from '../ledger/ledger.ts'
import { BASELINE, type Experiment, lastJudged } from '../ledger/state.ts'
import { bashOnly } from '../measure/bash-only.ts'
import { doErrand, type ErrandDone, type ErrandKind } from '../measure/errand.ts'
import { gatesOn } from '../measure/gates.ts'
import type { GateDone } from '../measure/session.ts'
import {
  currentCandidate,
  measureWithoutAttempt,
  numberedFolder,
  preparationProblem,
} from '../measure/without-attempt.ts'
import { call, next } from '../next.ts'
import { gateChecksFolder } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'

export interface GateAnswer {
  experiment: string
  gate: string
  /** The experiment on whose candidate it was seen to pass. */
  passed_on: string
  repeated?: true
}

export interface GateCheckAnswer {
  experiment: string
  /** Name of the machine, where a job ran them; absent = this one. */
  node?: string
  passed: boolean
  gates: (Pick<GateResult, 'name' | 'phase' | 'passed' | 'exit' | 'timed_out' | 'wall_ms'> & {
    output: string
  })[]
}

const TAIL = 2000

/**
 * Adds a gate after it has passed on what the next candidates start from: a gate that fails there would reject each of
 * them. For an experiment that was kept, that is its own candidate, so the gate may hold what that one has just won;
 * for any other, its parent.
 */
export async function addGate(
  run: OpenRun,
  experiment: string,
  { gate, why, key }: { gate: GateRule; why: string; key: string | null },
): Promise<Result<GateAnswer>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const subject = subjectOf(node.value)
  if (run.ledger.answeredBefore(['gate_added'], key) === null) {
    const fits = await mayBeAdded(run, node.value, subject, gate)
    if (!fits.ok) return fits
  }
  const recorded = run.ledger.record<'gate_added'>(
    { type: 'gate_added', experiment, gate, why: why.slice(0, 1000) },
    run.clock(),
    key,
  )
  return answered(recorded, (event) => ({
    experiment: event.experiment,
    gate: event.gate.name,
    passed_on: subject,
  }))
}

/** By its verdict, which stays, so that a repeated call names the same one. */
const subjectOf = (node: Experiment): string =>
  lastJudged(node)?.status === 'kept' ? node.id : (node.parent ?? BASELINE)

async function mayBeAdded(
  run: OpenRun,
  node: Experiment,
  tested: string,
  gate: GateRule,
): Promise<Result<void>> {
  if (node.status === 'running') {
    return fail({
      kind: 'refused',
      code: 'is_running',
      message: `cannot add a gate to ${node.id}: it is being judged`,
      hint: next`wait for it: ${call('wait', '--for', node.id)}`,
    })
  }
  if (gatesOn(run, node.id).some(({ name }) => name === gate.name)) {
    return fail({
      kind: 'refused',
      code: 'gate_exists',
      message: `a gate ${gate.name} binds ${node.id} already`,
      hint: next`${call('gate list', node.id)}`,
    })
  }
  const subject = nodeFor(run, tested)
  if (!subject.ok) return subject
  const tried = await tryGates(run, subject.value, [gate], node.id)
  if (!tried.ok) return tried
  const [result] = tried.value.found
  if (result?.passed) return ok(undefined)
  return fail({
    kind: 'refused',
    code: 'gate_fails',
    message: `gate ${gate.name} does not pass on ${tested}: ${howItEnded(result)}`,
    hint:
      bashOnly(result?.output ?? '')?.hint ??
      (tested === node.id
        ? 'a gate must pass on the candidate that was kept; repair its command'
        : 'a gate must pass there before it can be added; repair its command, or add it to the kept experiment that makes it pass'),
    at: `${[gate.command].flat().join(' ')}\n${result?.output.slice(-TAIL).trim() ?? ''}`.trim(),
    data: result && { exit: result.exit, signal: result.signal, timed_out: result.timed_out },
  })
}

export function removeGate(
  run: OpenRun,
  experiment: string,
  { name, why, key }: { name: string; why: string; key: string | null },
): Result<{ experiment: string; gate: string; repeated?: true }> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  if (run.spec.gates.some((gate) => gate.name === name)) {
    return fail({
      kind: 'refused',
      code: 'gate_of_spec',
      message: `gate ${name} is part of the spec, which is frozen for this run`,
      hint: next`take it out of assay.yaml and start a new run: ${call('init', '--new')}`,
    })
  }
  const recorded = run.ledger.record<'gate_removed'>(
    { type: 'gate_removed', experiment, name, why: why.slice(0, 1000) },
    run.clock(),
    key,
  )
  return answered(recorded, (event) => ({
    experiment: event.experiment,
    gate: event.name,
  }))
}

/** Runs every gate that binds the experiment, on the candidate that it has now. */
export async function checkGates(run: OpenRun, experiment: string): Promise<Result<GateCheckAnswer>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const tried = await tryGates(run, node.value, gatesOn(run, experiment), experiment)
  if (!tried.ok) return tried
  const { found, job } = tried.value
  return ok({
    experiment,
    ...(job?.placed && { node: job.placed.node }),
    passed: found.every(({ passed }) => passed),
    gates: found.map(({ name, phase, passed, exit, timed_out, wall_ms, output }) => ({
      name,
      phase,
      passed,
      exit,
      timed_out,
      wall_ms: Math.round(wall_ms),
      output: passed ? '' : output.slice(-TAIL),
    })),
  })
}

async function tryGates(
  run: OpenRun,
  subject: Experiment,
  gates: readonly GateRule[],
  recordedAt: string,
): Promise<Result<ErrandDone<GateDone[]>>> {
  const looked = await currentCandidate(run, subject)
  if (!looked.ok) return looked
  const home = numberedFolder(gateChecksFolder(run.paths, recordedAt)).folder
  const { commit, tree } = looked.value
  const given = { node: subject, asked: gates, candidates: [{ commit, tree }] }
  return doErrand(run, GATES, { ...given, home, about: `the gates of ${recordedAt}` })
}

export const GATES: ErrandKind<readonly GateRule[], GateDone[]> = {
  name: 'gates',
  take: (run, { node, asked: gates, candidates: [candidate], folder }) =>
    measureWithoutAttempt(run, { folder, about: node.id }, async ({ session, put }) => {
      if (!candidate) throw new Error('gates need a candidate')
      const seat = await put({ experiment: node.id, ...candidate }, 'b')
      if (!seat.ok) return seat
      const problem = preparationProblem(seat.value)
      if (problem) return fail(problem)
      const done: GateDone[] = []
      for (const gate of gates) done.push(await session.gate(seat.value, gate))
      return ok(done)
    }),
}

const howItEnded = (result: GateDone | undefined): string =>
  result?.timed_out ? 'it ran into its time limit' : `exit ${result?.exit ?? result?.signal ?? 'unknown'}`
