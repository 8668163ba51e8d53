import { isolationSupport } from '../../process.ts'
import { type DoctorCheck, fine, problem, warning } from '../check.ts'

/** Whether samples can be isolated on this machine, and whether a run needs that. */
export const isolation: DoctorCheck = {
  name: 'isolation',
  async look({ env, runs, hosts }) {
    const support = await isolationSupport(env)
    if (support.works) {
      const samples = fine('isolation', 'samples can be isolated: bubblewrap works here')
      const agents = fine(
        'agent_sandbox',
        'agents can be confined to their own worktree: agent: { sandbox: true }',
      )
      return hosts ? [samples, agents] : [samples]
    }
    const relying = runs.filter(({ state }) => state?.isolation?.method).map(({ run }) => run)
    const trouble = {
      what: `samples cannot be isolated: ${support.why}`,
      cause: 'without isolation, all samples share /tmp, caches, the network and your own checkout',
      repair: support.repair,
    }
    if (relying.length === 0) return [warning('isolation_missing', trouble)]
    const cause = `${relying.join(', ')} began with isolation, and cannot be measured without it`
    return [problem('isolation_missing', { ...trouble, cause, data: { runs: relying } })]
  },
}
