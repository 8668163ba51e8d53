/** `merge`: kept experiments put together into one, as far as their gains add up. */
import { counted, shown } from '../evaluate/figure.ts'
import { type MergeAnswer, type MergeAttempt, merge } from '../experiment/merge.ts'
import { call, next, type Said } from '../next.ts'
import { ok } from '../result.ts'
import { plain } from '../text.ts'
import { onRun } from './verb.ts'

export const run = onRun(async (opened, args, context) => {
  let leaving = false
  context.onLeave(() => {
    leaving = true
    context.tell({ type: 'log', message: 'stops after this verdict; Ctrl-C again stops at once' })
  })
  const done = await merge(opened, args.positionals, () => leaving)
  return done.ok ? ok({ data: done.value, text: () => describe(done.value), wrap: true }) : done
})

function describe({ attempts, best, left }: MergeAnswer): Said[] {
  const tried = attempts.filter(({ status }) => status !== 'conflict')
  if (best === null)
    return [
      ...attempts.map(lineOf),
      `${counted(tried.length, 'set')} judged; none of these experiments can be merged any more: they were revoked, are in doubt, or are of an earlier epoch`,
      next`  look at them: ${call('tree')}`,
    ]
  return [
    ...attempts.map(lineOf),
    attempts.length === 0
      ? `nothing new to try: the possible merges were tried before, or their changes conflict; ${best} is the best of these experiments`
      : tried.length === 0
        ? `git could merge none of these sets; ${best} is the best of these experiments`
        : `${counted(tried.length, 'set')} judged; ${best} is the best of these experiments`,
    ...(left.length === 0 ? [] : [`  not in ${best}: ${left.join(', ')}`]),
    next`  look at it: ${call('show', best)}`,
  ]
}

function lineOf({ experiments, experiment, status, value, message }: MergeAttempt): string {
  if (experiment === null) return plain(message, 500)
  const at = status === 'kept' ? `, ${shown(value)}` : ''
  return `${experiment} merges ${experiments.join(', ')}: ${status}${at}; ${plain(message, 300)}`
}
