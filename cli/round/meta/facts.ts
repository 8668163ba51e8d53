/** What the meta controller may have to look at, as facts that the record and the machine show. */
import { redact } from '../../redact.ts'
import type { OpenRun } from '../../run/open.ts'
import { acceleratorFacts } from './accelerators.ts'
import type { Fact } from './fact.ts'
import { recordFacts } from './record-facts.ts'
import { warningFacts } from './warnings.ts'

const MOST = 20

/** All that hold now, told before or not. Short work: the newest outputs are read to a bound, nothing is waited for. */
export async function factsOf(run: OpenRun): Promise<Fact[]> {
  const facts = [
    ...recordFacts(run.ledger.state, run.clock()),
    ...warningFacts(run),
    ...(await acceleratorFacts(run)),
  ]
  return facts.slice(0, MOST).map((fact) => ({ ...fact, message: redact(fact.message) }))
}
