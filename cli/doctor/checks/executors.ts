import { openExecutor } from '../../executor/open.ts'
import { liveSpec } from '../../run/open.ts'
import { type DoctorCheck, type FixableFinding, fine, problem } from '../check.ts'

/** Whether the newest run whose attempts are jobs can submit them. */
export const executors: DoctorCheck = {
  name: 'executor',
  async look({ runs, env }) {
    for (const { run, paths, state, spec } of [...runs].reverse()) {
      if (state === null || spec === null) continue
      const { executor: config } = liveSpec({ begun: spec, ledger: { state } })
      if (config === undefined) continue
      const found = await openExecutor({ env, config }).probe(config.folder ?? paths.folder)
      return found.map(
        ({ what, problem: wrong, hint }): FixableFinding =>
          wrong === null
            ? fine('executor', `${run}, ${config.kind}: ${what}`)
            : problem('executor', {
                what: `${run}, ${config.kind}: ${wrong}`,
                cause: 'attempts of this run are measured by jobs',
                repair: hint,
              }),
      )
    }
    return []
  },
}
