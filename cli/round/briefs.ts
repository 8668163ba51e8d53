/** `round briefs`: which written assignments become lanes, decided by rule, with a reason for each that does not. */

import { claimId } from '../experiment/create.ts'
import type { Brief, Lane, RoundBriefed } from '../ledger/events.ts'
import type { Round, State } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { patternsIn } from './facts.ts'
import { candidatesOf } from './frontier.ts'
import { alike } from './likeness.ts'
import { roundOf, staleToken } from './token.ts'

export interface BriefsAnswer {
  round: number
  token: string
  lanes: { lane: number; brief: Brief; parent: string; experiment: string }[]
  refused: RoundBriefed['refused']
  repeated?: true
}

/** A brief that cannot be read is text: why. It costs its own lane, not the round. */
export function takeBriefs(
  run: OpenRun,
  token: string,
  briefs: readonly (Brief | string)[],
): Result<BriefsAnswer> {
  const round = roundOf(run, token)
  if (!round.ok) return round
  if (round.value.briefed) return ok({ ...answer(round.value.briefed), repeated: true })
  if (round.value.closed) return staleToken(run)
  const { state } = run.ledger
  const { accepted, refused } = sift(briefs, round.value, state)
  const lanes: Lane[] = accepted.map((brief, index) => ({
    lane: index + 1,
    brief,
    parent: brief.parent,
    experiment: claimId(run.paths, state),
  }))
  const proposal = run.ledger.propose<'round_briefed'>(
    { type: 'round_briefed', round: round.value.round, token, lanes, refused },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  if (proposal.value.accepted) return ok(answer(proposal.value.event))
  return round.value.briefed ? ok({ ...answer(round.value.briefed), repeated: true }) : staleToken(run)
}

const answer = ({ round, token, lanes, refused }: RoundBriefed): BriefsAnswer => ({
  round,
  token,
  lanes,
  refused,
})

/** Pure. Parents must be on the frontier, briefs must differ in content, and the round's width is the limit. */
export function sift(
  briefs: readonly (Brief | string)[],
  round: Round,
  state: State,
): { accepted: Brief[]; refused: RoundBriefed['refused'] } {
  const parents = new Set(candidatesOf(state).map(({ id }) => id))
  const axis = patternsIn(state).find(({ kind }) => kind === 'axis_warning')
  const worn = new Set(axis?.experiments ?? [])
  const wornKinds = new Set(round.opened.parents.length > 0 ? kindsOf(state, worn) : [])
  const accepted: Brief[] = []
  const refused: RoundBriefed['refused'] = []
  for (const [index, brief] of briefs.entries()) {
    const refuse = (reason: string, message: string) => refused.push({ index, reason, message })
    if (typeof brief === 'string') {
      refuse('malformed', brief)
      continue
    }
    const twin = accepted.findIndex((other) => alike(other.objective, brief.objective))
    if (!parents.has(brief.parent))
      refuse('parent', `${brief.parent} is not on the frontier: see assay frontier`)
    else if (twin >= 0) refuse('duplicate', `it says the same as the brief of lane ${twin + 1}`)
    else if (accepted.length >= round.opened.width)
      refuse('width', `the round has ${round.opened.width} lanes`)
    else if (axis && lastPlace(accepted, round) && [...accepted, brief].every((b) => wornKinds.has(b.kind))) {
      refuse('axis', `${axis.message}: at least one brief must try something of another kind`)
    } else accepted.push(brief)
  }
  return { accepted, refused }
}

const lastPlace = (accepted: readonly Brief[], round: Round): boolean =>
  accepted.length > 0 && accepted.length === round.opened.width - 1

/** Kinds of the briefs that led to these experiments. */
function kindsOf(state: State, experiments: ReadonlySet<string>): string[] {
  return state.rounds.flatMap(({ round, briefed }) =>
    (briefed?.lanes ?? []).flatMap((lane) => {
      const used = [...experiments].some((id) => {
        const created = state.experiments.get(id)?.created
        return created?.round === round && created.lane === lane.lane
      })
      return used ? [lane.brief.kind] : []
    }),
  )
}
