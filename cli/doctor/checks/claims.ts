import { lastAttempt } from '../../ledger/state.ts'
import { isAlive, isElsewhere, nameOfProcess } from '../../process.ts'
import { type DoctorCheck, type FixableFinding, fine, type RunScene, warning } from '../check.ts'

/** Experiments that are being judged, according to the ledger. */
export const claims: DoctorCheck = {
  name: 'claims',
  look: ({ runs }) => runs.flatMap(claimsOf),
}

function claimsOf({ run, state }: RunScene): FixableFinding[] {
  const running = [...(state?.experiments.values() ?? [])].filter(({ status }) => status === 'running')
  return running.map((node) => {
    const owner = lastAttempt(node)?.claim?.owner
    const again = `assay run ${node.id} --run ${run}`
    if (owner && isElsewhere(owner)) {
      return warning('claim_elsewhere', {
        what: `${node.id} of ${run} is being judged by ${nameOfProcess(owner)}`,
        cause: 'from here it cannot be proved dead, so no command takes it over',
        repair: `look on ${owner.host}; if that host is gone, assay abort ${node.id} --reason TEXT --run ${run}`,
      })
    }
    if (owner && isAlive(owner)) return fine('claim', `${run}: process ${owner.pid} is judging ${node.id}`)
    return warning('claim_dead', {
      what: `${node.id} of ${run} is running, and the process that judged it is gone`,
      cause: 'it was killed; what it had measured is kept',
      repair: `continue it: ${again}`,
      data: { run, experiment: node.id },
    })
  })
}
