/** `audit`: takes the findings of an auditor about a judged experiment. */
import { audit, findingCode } from '../experiment/audit.ts'
import type { Finding } from '../ledger/events.ts'
import { clearing } from '../ledger/state.ts'
import { next } from '../next.ts'
import { ok } from '../result.ts'
import { idOf, listOf, onRun, readInput, textField } from './verb.ts'

const SHAPE = '{"findings":[{"code":"hash|task_set|path|opinion","message":"…","path":"…"}]}'

export const run = onRun(async (opened, args, context) => {
  const input = await readInput(context, args, SHAPE)
  if (!input.ok) return input
  const findings = listOf(input.value, 'findings', SHAPE, readFinding)
  if (!findings.ok) return findings
  const done = await audit(opened, idOf(args), findings.value, args.key)
  if (!done.ok) return done
  const { experiment, status, flagged, outcome } = done.value
  const node = opened.ledger.state.experiments.get(experiment)
  return ok({
    data: done.value,
    text: () => [
      `${experiment}: ${outcome}; it is ${status}${flagged ? ', in doubt' : ''}`,
      ...(flagged && node ? [next`Next: ${clearing(node)}`] : []),
    ],
  })
})

function readFinding(item: Record<string, unknown>): Finding | string {
  const message = textField(item, 'message')
  if (message === null) return 'it needs a "message"'
  const code = findingCode(textField(item, 'code'))
  const path = textField(item, 'path')
  return { code, message, ...(path === null || path === '' ? {} : { path }) }
}
