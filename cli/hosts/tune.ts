/**
 * The built-in host without a model: it moves the numeric parameters that the spec declares tunable. It runs the
 * demo, the tests and CI without a key, and is a tuner of constants in its own right.
 */
import { join } from 'node:path'
import { isRecord } from '../json.ts'
import { fail, ok, type Result } from '../result.ts'
import { type Host, type HostAnswer, type HostCall, type HostEntry, NO_USAGE } from './host.ts'
import { readTaskCard, type TaskCard } from './task-card.ts'
import { parameterName, readParameters, writeParameters } from './tune/places.ts'
import { focusOf, proposeStep, type TuneTrial } from './tune/propose.ts'
import { shape } from './tune/shape.ts'
import type { TuneParameter } from './tune/space.ts'

export { parseParameters, readParameters } from './tune/places.ts'
export { proposeStep, type TuneTrial } from './tune/propose.ts'
export type { TuneParameter } from './tune/space.ts'

export interface TuneSetup {
  parameters: TuneParameter[]
  /** Folder of the spec in the repository, `''` for its root: parameters' files are relative to it. */
  prefix: string
  /** The run's seed. Equal seed, round, lane, depth and trials give equal proposals. */
  seed: number
  /**
   * The experiments of the card's run. Of the card's own round only those of its own lane are used, so what other
   * lanes do meanwhile has no influence. A score is null when it must not be learnt from (failed, or a gate or
   * constraint was broken).
   */
  history(card: TaskCard): Promise<TuneTrial[]>
}

export const tune: HostEntry<TuneSetup> = {
  name: 'tune',
  usage: 'none',
  open: (setup): Host => ({ name: 'tune', call: (request) => answer(setup, request) }),
}

async function answer(setup: TuneSetup, request: HostCall): Promise<HostAnswer> {
  const card = readTaskCard(request.prompt)
  if (!card) return refused('tune answers only prompts that end with a task card')
  if (request.signal.aborted) return failed('cancelled')
  try {
    const reply = await replyTo(setup, card, request.cwd)
    if (!reply.ok) return refused(reply.problem.message)
    const object = shape(reply.value, request.schema ?? card.answer)
    return { outcome: 'ok', text: JSON.stringify(object), object, usage: NO_USAGE }
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  }
}

type Reply = Record<string, unknown>

async function replyTo(setup: TuneSetup, card: TaskCard, cwd: string): Promise<Result<Reply>> {
  switch (card.role) {
    case 'implement':
    case 'revise':
      return edit(setup, card, cwd)
    case 'brief':
      return ok({ briefs: briefs(setup, card) })
    case 'scan':
    case 'audit':
      return ok({ findings: [] })
    case 'ideate':
      return ok({ ideas: [] })
    case 'verify':
      return ok({ passed: true, findings: [] })
    case 'collect':
      return ok({ learnings: [], suggestions: [] })
    default:
      return ok({})
  }
}

/** Proposes new values, writes them into the worktree, and says what changed. */
async function edit(setup: TuneSetup, card: TaskCard, cwd: string): Promise<Result<Reply>> {
  const { parameters } = setup
  const folder = join(card.worktree ?? cwd, setup.prefix)
  const current = readParameters(folder, parameters)
  if (!current.ok) return current
  const trials = await setup.history(card)
  // The worktree may hold an earlier proposal: of a call that is made again, or of an attempt to be repaired.
  const from = trials.find((t) => t.experiment === parentOf(card, trials))?.values ?? current.value
  const before = trials.filter((t) => t.experiment !== card.experiment || card.role === 'revise')
  const values = proposeStep({
    parameters,
    parent: from,
    current: card.role === 'revise' ? current.value : from,
    history: before.filter((t) => t.round === null || card.round === null || t.round < card.round),
    lane: before.filter((t) => t.round !== null && t.round === card.round && t.lane === card.lane),
    seed: setup.seed,
    round: card.round ?? 0,
    laneNumber: card.lane ?? 0,
    depth: card.depth ?? 0,
  })
  if (values === null) {
    return fail({
      kind: 'refused',
      code: 'exhausted',
      message: 'exhausted: every combination of the tunable parameters was tried',
      hint: 'widen a range or declare another parameter under agent.tune',
    })
  }
  const written = writeParameters(folder, parameters, values)
  if (!written.ok) return written
  const moves = parameters.flatMap((p, i) =>
    values[i] === from[i] ? [] : [`${parameterName(p)} ${from[i]} → ${values[i]}`],
  )
  return ok({
    hypothesis: moves.join(', '),
    summary: `Moved ${moves.length} of ${parameters.length} parameters in ${written.value.join(', ')}.`,
    predicted: 'better than its parent',
  })
}

function parentOf(card: TaskCard, trials: TuneTrial[]): unknown {
  const own = trials.find((t) => t.experiment === card.experiment)?.parent
  return own ?? (isRecord(card.brief) ? card.brief.parent : null)
}

/**
 * As many briefs as the round is wide, dealt to its parents in turn. Each favours other parameters and says so in
 * its kind, so that two briefs of one parent differ.
 */
function briefs(setup: TuneSetup, card: TaskCard): Reply[] {
  const { parameters, seed } = setup
  const asked = [card.brief, card.capsule.open].find((v) => isRecord(v) && Array.isArray(v.parents))
  const { parents, width } = isRecord(asked) ? asked : {}
  const ids = (Array.isArray(parents) ? parents : []).flatMap((p: unknown) =>
    isRecord(p) && typeof p.experiment === 'string' ? [p.experiment] : [],
  )
  const lanes = ids.length === 0 ? 0 : typeof width === 'number' ? width : ids.length
  const files = [...new Set(parameters.map((p) => p.file))]
  return Array.from({ length: lanes }, (_, i) => {
    const parent = ids[i % ids.length]
    const focus = focusOf(parameters.length, seed, card.round ?? 0, i + 1)
    const names = focus.flatMap((at) => parameters[at] ?? []).map(parameterName)
    return {
      parent,
      kind: ['tune', ...names].join('-'),
      objective: `Tune ${names.join(' and ')} first, around ${parent} (start ${i + 1} of ${lanes})`,
      boundaries: [],
      pointers: files,
      hard: false,
    }
  })
}

const refused = (message: string): HostAnswer => ({ outcome: 'refused', message, usage: NO_USAGE })
const failed = (message: string): HostAnswer => ({
  outcome: 'failed',
  message,
  again: false,
  usage: NO_USAGE,
})
