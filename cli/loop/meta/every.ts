/** How often the meta controller is asked. */
import { liveSpec, type OpenRun } from '../../run/open.ts'

/** In ms; null = the controller is off, as in runs of before it was on by default. */
export function lookEvery(run: OpenRun): number | null {
  const { meta } = liveSpec(run).loop
  return meta && meta.on !== false ? meta.every : null
}
