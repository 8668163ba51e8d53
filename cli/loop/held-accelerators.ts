/** Tells a person which processes of others hold memory of an accelerator. The loop and `round next` ask when a round opens. */
import { acceleratorHolders, strangerOf } from '../process.ts'
import type { OpenRun } from '../run/open.ts'
import { recordAlert } from '../run/steer.ts'

/** Less than this may be a desktop or an idle service, and is not reported. */
const MUCH_MIB = 4096

/**
 * What a person should know of processes that hold much memory of an accelerator and belong to no measurement of Assay. Each
 * process is recorded once in a run; the answer has those that are new.
 */
export async function alertOfHeldAccelerators(run: OpenRun): Promise<string[]> {
  const { alerts } = run.ledger.state.meta
  const said: string[] = []
  for (const { pid, mib } of await acceleratorHolders(run)) {
    const command = mib >= MUCH_MIB ? strangerOf(pid) : null
    if (command === null) continue
    const name = `process ${pid} (${command}) holds`
    if (alerts.some((text) => text.startsWith(name))) continue
    const text = `${name} ${mib} MiB of an accelerator and belongs to no measurement: what is measured beside it may be slow, or fail for want of memory`
    recordAlert(run, { role: 'loop', experiment: null, paths: [], text })
    said.push(text)
  }
  return said
}
