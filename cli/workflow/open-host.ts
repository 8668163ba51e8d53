/** The host that the spec names, ready to be called. */
import { readBlob } from '../git/files.ts'
import type { Host } from '../hosts/host.ts'
import { HOSTS, type HostName } from '../hosts/registry.ts'
import { parseParameters, type TuneParameter, type TuneTrial } from '../hosts/tune.ts'
import { type Experiment, lastJudged } from '../ledger/state.ts'
import { fail, ok, type Result, unreachable } from '../result.ts'
import type { OpenRun } from '../run/open.ts'

export interface OpenHost {
  host: Host
  /** Its calls cost something that is to be recorded. */
  metered: boolean
}

export async function openHost(run: OpenRun): Promise<Result<OpenHost>> {
  const { agent } = run.spec
  if (!agent) {
    return fail({
      kind: 'refused',
      code: 'no_agent',
      message: 'the spec of this run names no agent, so a loop has nobody to ask',
      hint: 'a run keeps the spec that it began with: add agent: { host: … } to assay.yaml (assay guide spec), then assay init --new; or work by hand: assay new, edit, assay run',
    })
  }
  if (agent.host === 'command') {
    const entry = await HOSTS.command.load()
    return ok({ host: entry.open({ command: agent.command ?? [] }), metered: true })
  }
  const entry = await HOSTS.tune.load()
  const { parameters } = agent.tune
  const history = trialReader(run, parameters)
  return ok({
    host: entry.open({ parameters, prefix: run.started.prefix, seed: run.started.seed, history }),
    metered: entry.usage !== 'none',
  })
}

/** A host by its name, for a workflow without a run. Fails with `needs_command` and `needs_run`. */
export async function openNamed(name: HostName, command: string | null): Promise<Result<Host>> {
  switch (name) {
    case 'command': {
      if (command !== null) return ok((await HOSTS.command.load()).open({ command }))
      const message = 'the host "command" needs the command that answers prompts'
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
