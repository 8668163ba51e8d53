/** `attribute`: which parts of a kept experiment's diff pay, and the smaller diff that gives the same gain. */
import { attribute, planAttribution } from '../experiment/attribute.ts'
import { ok } from '../result.ts'
import { describeAttribution, describeOutlook, viewOfAttribution } from '../view/attribution.ts'
import { onRun } from './verb.ts'

export const run = onRun(async (opened, args, context) => {
  const asked = {
    experiment: args.positionals[0] ?? null,
    pairs: args.integer('pairs'),
    careful: args.on('careful'),
    interactions: args.on('interactions'),
  }
  if (args.on('dry-run')) {
    const plan = await planAttribution(opened, asked)
    return plan.ok ? ok({ data: plan.value, text: () => describeOutlook(plan.value), wrap: true }) : plan
  }
  let leaving = false
  context.onLeave(() => {
    leaving = true
    context.tell({ type: 'log', message: 'stops after this test; Ctrl-C again stops at once' })
  })
  const found = await attribute(opened, asked, () => leaving)
  if (!found.ok) return found
  const view = viewOfAttribution(opened.ledger.state, found.value)
  return ok({ data: view, text: () => describeAttribution(view), wrap: true })
})
