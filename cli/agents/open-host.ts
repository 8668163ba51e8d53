/** The host that the spec names, ready to be called. */

import { readBlob } from '../git/trees.ts'
import { type Host, isInsideAgent } from '../hosts/host.ts'
import { type Chain, chain, HOSTS, type HostName, isProgramName } from '../hosts/registry.ts'
import { parseParameters, type TuneParameter, type TuneTrial } from '../hosts/tune.ts'
import { canonical } from '../json.ts'
import { type Experiment, lastJudged } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Result, unreachable } from '../result.ts'
import { isUncapped } from '../run/budget.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import type { AgentConfig } from '../spec/spec.ts'

export interface OpenHost {
  chain: Chain
  /** Their calls have a cost that must be recorded. */
  metered: boolean
  /** The first host that does not report what its calls use; null when all report it, or use nothing. */
  silent: string | null
}

/** The hosts of a loop. */
export interface Hosts {
  /** The hosts for a call that begins now; opened again when `agent` of the spec has changed. Fails like `openHosts`. */
  now(): Promise<Result<OpenHost>>
}

/** Fails when the spec names no host, or none that may be asked: see `openHost` and `isBounded`. */
export async function openHosts(run: OpenRun, uncapped: boolean): Promise<Result<Hosts>> {
  const open = async (): Promise<Result<OpenHost>> => {
    const host = await openHost(run)
    const bounded = host.ok ? isBounded(run, host.value, uncapped) : host
    return bounded.ok ? host : bounded
  }
  let named = namesIn(run)
  let opened = open()
  const first = await opened
  if (!first.ok) return first
  return ok({
    now: async () => {
      const names = namesIn(run)
      if (names !== named) {
        named = names
        opened = open()
      }
      const host = await opened
      // A missing program may be installed before the next call.
      if (!host.ok && named === names) named = ''
      return host
    },
  })
}

/** The parts of the spec that decide which hosts are opened, and how. */
function namesIn(run: OpenRun): string {
  const { host, command, permissions, silenceMs, fallback, tune } = liveSpec(run).agent ?? {}
  return canonical({ host, command, permissions, silenceMs, fallback, tune })
}

export async function openHost(run: OpenRun): Promise<Result<OpenHost>> {
  const { agent } = liveSpec(run)
  if (!agent) {
    return fail({
      kind: 'refused',
      code: 'no_agent',
      message:
        'the spec of this run names no agent program (agent.host), so a loop cannot ask for candidates',
      hint: next`name one: ${call('config set', 'agent.host', 'HOST', '--reason', 'TEXT')} (${call('guide', 'spec', 'agent')}); or work by hand: ${call('new')}, edit, ${call('run')}`,
    })
  }
  if (agent.host !== 'tune' && isInsideAgent(run.env)) {
    return fail({
      kind: 'refused',
      code: 'inside_agent',
      message:
        'an agent that Assay started called this command, and such an agent must not start other agents',
      hint: 'do the work that the prompt asks for; the loop that started the agent continues by itself',
    })
  }
  const fallback = await Promise.all(agent.fallback.map((name) => openOfRun(run, agent, name)))
  return ok({
    chain: chain([await openOfRun(run, agent, agent.host), ...fallback]),
    metered: isMetered(agent),
    silent: await silentAmong([agent.host, ...agent.fallback]),
  })
}

/** Agents with a cost are asked only under a limit that can be enforced, or when the user allowed agents without one. */
function isBounded(run: OpenRun, { metered, silent }: OpenHost, uncapped: boolean): Result<void> {
  const { state } = run.ledger
  if (metered && !uncapped && isUncapped(state)) {
    return fail({
      kind: 'refused',
      code: 'uncapped',
      message: 'the agents of this loop have no cost limit',
      hint: next`set a cap, for example: ${call('config set', 'budget.experiments', '50', '--reason', 'TEXT')}; or allow agents without a cost limit: ${call('loop', '--uncapped')}`,
    })
  }
  const cap = (['tokens', 'usd'] as const).find((one) => (state.knobs?.[one] ?? null) !== null)
  if (cap !== undefined && silent !== null && state.knobs?.unknown !== 'allow') {
    return fail({
      kind: 'refused',
      code: 'usage_unknown',
      message: `budget.${cap} cannot be enforced: the host ${silent} does not report what its calls use`,
      hint: next`limit experiments or hours instead, or accept the unknown cost: ${call('config set', 'budget.unknown', 'allow', '--reason', 'TEXT')}`,
    })
  }
  return ok(undefined)
}

/** The host `tune` asks no model. */
export const isMetered = ({ host, fallback }: AgentConfig): boolean => host !== 'tune' || fallback.length > 0

async function silentAmong(names: readonly HostName[]): Promise<string | null> {
  for (const name of names) if ((await HOSTS[name].load()).usage === 'unknown') return name
  return null
}

async function openOfRun(run: OpenRun, agent: AgentConfig, name: HostName): Promise<Host> {
  if (isProgramName(name)) {
    const { permissions, silenceMs } = agent
    return (await HOSTS[name].load()).open({ permissions, silenceMs })
  }
  if (name === 'command') return (await HOSTS.command.load()).open({ command: agent.command ?? [] })
  const { parameters } = agent.tune
  return (await HOSTS.tune.load()).open({
    parameters,
    prefix: run.started.prefix,
    seed: run.started.seed,
    history: trialReader(run, parameters),
  })
}

/** The same as a spec's default. */
const SILENCE_MS = 900_000

/** A host by its name, for a workflow without a run. Fails with `needs_command` and `needs_run`. */
export async function openNamed(name: HostName, command: string | null): Promise<Result<Host>> {
  if (isProgramName(name)) {
    return ok((await HOSTS[name].load()).open({ permissions: 'safe', silenceMs: SILENCE_MS }))
  }
  switch (name) {
    case 'command': {
      if (command !== null) return ok((await HOSTS.command.load()).open({ command }))
      const message = 'the host "command" needs a command that answers prompts'
      return fail({ kind: 'usage', code: 'needs_command', message, hint: "add --command 'CMD'" })
    }
    case 'tune': {
      const message = 'the host "tune" moves the parameters of a run; a workflow of its own has none'
      const hint = "use assay loop, or name a command: --host command --command 'CMD'"
      return fail({ kind: 'usage', code: 'needs_run', message, hint })
    }
    default:
      return unreachable(name)
  }
}

/** The run's experiments with the parameters that their candidates have; each candidate is read once. */
function trialReader(run: OpenRun, parameters: TuneParameter[]): () => Promise<TuneTrial[]> {
  const known = new Map<string, number[] | null>()
  const sign = run.started.metric.direction === 'maximize' ? 1 : -1
  return async () => {
    run.ledger.refresh()
    const trials: TuneTrial[] = []
    for (const node of run.ledger.state.experiments.values()) {
      const tree = node.attempts.at(-1)?.sealed.tree
      if (tree !== undefined && !known.has(tree)) known.set(tree, await valuesIn(run, tree, parameters))
      trials.push(trial(node, tree === undefined ? null : (known.get(tree) ?? null), sign))
    }
    return trials
  }
}

function trial(node: Experiment, values: number[] | null, sign: number): TuneTrial {
  const judged = lastJudged(node)
  const compared = judged?.status === 'kept' || judged?.reason === 'not_better' || judged?.reason === 'tie'
  const { round, lane, depth } = node.created
  return {
    experiment: node.id,
    parent: node.parent,
    round,
    lane,
    depth,
    values,
    score: compared && judged?.value != null ? sign * judged.value : null,
    status: node.status,
  }
}

async function valuesIn(run: OpenRun, tree: string, parameters: TuneParameter[]): Promise<number[] | null> {
  const contents = new Map<string, string>()
  for (const file of new Set(parameters.map((one) => one.file))) {
    const path = [run.started.prefix, file].filter(Boolean).join('/')
    const blob = await readBlob(run.site, tree, path)
    if (!blob.ok || blob.value === null) return null
    contents.set(file, blob.value.toString('utf8'))
  }
  const values = parseParameters((file) => contents.get(file) ?? null, parameters)
  return values.ok ? values.value : null
}
