/** How long the loop waits between two looks of the meta controller (`loop.meta.every`). A look asks its agent only if there are new facts. */
import { liveSpec, type OpenRun } from '../../run/open.ts'

/** In ms; null = the meta controller is off. It is also off in a run whose stored spec has no `loop.meta`: such a run is older than the default. */
export function lookInterval(run: OpenRun): number | null {
  const { meta } = liveSpec(run).loop
  return meta && meta.on !== false ? meta.every : null
}
