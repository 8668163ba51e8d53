import { openExecutor } from '../../executor/open.ts'
import { liveSpec } from '../../run/open.ts'
import type { Spec } from '../../spec/spec.ts'
import { type DoctorCheck, type FixableFinding, fine, problem, warning } from '../check.ts'

const HISTORY = /\bgit\b[^;&|]*\b(?:describe|log|rev-list|shortlog|blame)\b/

/** What runs on a node. */
const commandsOf = ({ measure, gates, worktree }: Spec): string[] =>
  [measure, ...gates, worktree.setup, worktree.build].flatMap((one) =>
    one === null ? [] : [typeof one.command === 'string' ? one.command : one.command.join(' ')],
  )

/** Whether the newest run whose attempts are jobs can submit them. */
export const executors: DoctorCheck = {
  name: 'executor',
  async look({ runs, env }) {
    for (const { run, paths, state, spec } of [...runs].reverse()) {
      if (state === null || spec === null) continue
      const { executor: config } = liveSpec({ begun: spec, ledger: { state } })
      if (config === undefined) continue
      const asksHistory = commandsOf(spec).find((command) => HISTORY.test(command))
      const history =
        asksHistory === undefined
          ? []
          : [
              warning('executor', {
                what: `${run}: a command asks git for the history of the repository: ${asksHistory.slice(0, 200)}`,
                cause: 'a node gets files only, so git answers otherwise there than here',
                repair: 'write what it needs into a file of the repository; or remove the section executor',
              }),
            ]
      const found = await openExecutor({ env, config }).probe(config.folder ?? paths.folder)
      return [
        ...history,
        ...found.map(
          ({ what, problem: wrong, hint }): FixableFinding =>
            wrong === null
              ? fine('executor', `${run}, ${config.kind}: ${what}`)
              : problem('executor', {
                  what: `${run}, ${config.kind}: ${wrong}`,
                  cause: 'attempts of this run are measured by jobs',
                  repair: hint,
                }),
        ),
      ]
    }
    return []
  },
}
