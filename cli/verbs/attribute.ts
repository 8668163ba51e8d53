/** `attribute`: which parts of a kept experiment's diff pay, and the smaller diff that gives the same gain. */
import { attribute, planAttribution } from '../experiment/attribute.ts'
import { ok, type Result } from '../result.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { describeAttribution, describeOutlook, viewOfAttribution } from '../view/attribution.ts'
import { theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const asked = {
    experiment: args.positionals[0] ?? null,
    pairs: args.integer('pairs'),
    careful: args.on('careful'),
    interactions: args.on('interactions'),
  }
  if (args.on('dry-run')) {
    const plan = await planAttribution(opened.value, asked)
    return plan.ok ? ok({ data: plan.value, text: () => describeOutlook(plan.value), wrap: true }) : plan
  }
  let leaving = false
  context.onLeave(() => {
    leaving = true
    context.tell({ type: 'log', message: 'stops after this test; Ctrl-C again stops at once' })
  })
  const found = await attribute(opened.value, asked, () => leaving)
  if (!found.ok) return found
  const view = viewOfAttribution(opened.value.ledger.state, found.value)
  return ok({ data: view, text: () => describeAttribution(view), wrap: true })
}
