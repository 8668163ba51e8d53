/** `backlog`: the ideas of a run and where each stands; what a person decides about them is a decision. */
import { backlogOf, type IdeaStanding } from '../ledger/backlog.ts'
import { approvalLines, waitingIdea } from '../loop/parked.ts'
import { call, next, type Said } from '../next.ts'
import { ok } from '../result.ts'
import { painter } from '../terminal/colour.ts'
import { cell } from '../terminal/lines.ts'
import { table } from '../terminal/table.ts'
import { ideaRow, isOver } from '../view/backlog.ts'
import { onRun } from './verb.ts'

export const run = onRun(async (opened, args, context) => {
  const all = backlogOf(opened.ledger.state)
  const shown = args.on('all') ? all : all.filter((one) => !isOver(one))
  const paint = await painter(context.colour)
  return ok({
    data: { ideas: shown.map(ideaRow), hidden: all.length - shown.length },
    text: () => [
      ...(shown.length === 0 ? [] : lines(shown, context.columns).map(paint)),
      ...closing(all, shown),
    ],
  })
})

function lines(shown: readonly IdeaStanding[], width: number) {
  const columns = [
    { title: 'idea' },
    { title: 'status' },
    { title: 'priority' },
    { title: 'kind' },
    { title: 'hypothesis', flexible: true },
  ]
  const rows = shown.map(({ idea, status, missing, experiment, outcome }) => {
    const more = status === 'parked' ? `needs ${missing.join(', ')}` : (outcome ?? '')
    const by = experiment === null ? '' : ` ${experiment}`
    return [
      cell(idea.id),
      cell(`${status}${by}`),
      cell(idea.priority ?? ''),
      cell(idea.kind ?? ''),
      cell(`${idea.hypothesis}${more === '' ? '' : ` (${more})`}`),
    ]
  })
  return table(columns, rows, width)
}

function closing(all: readonly IdeaStanding[], shown: readonly IdeaStanding[]): Said[] {
  if (all.length === 0) return [next`the backlog has no idea; add some: ${call('propose')}`]
  const hidden = all.length - shown.length
  return [
    ...(hidden === 0 ? [] : [next`${hidden} done or dropped: ${call('backlog', '--all')}`]),
    ...approvalLines(shown.filter(({ status }) => status === 'parked').map(waitingIdea)),
  ]
}
