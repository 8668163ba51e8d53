/**
 * Errands: what is measured for no attempt and recorded by no event of its own, such as gates that are checked, or the benchmark with
 * emptied files. A slot of this machine does them, or a job where an executor measures; both by the same function.
 */
import type { AttemptJob, Experiment } from '../ledger/state.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { errandByJob, executorOfErrand, notForJobs } from './dispatch.ts'
import type { Errand } from './parcel.ts'

interface Given<Asked> extends Errand<Asked> {
  node: Experiment
  /** Where it leaves what it makes: all of it is brought to the home of the errand. */
  folder: string
}

/** What is asked and what is found are data, which a job gets and leaves as JSON. */
export interface ErrandKind<Asked = unknown, Found = unknown> {
  /** By which a node finds it. */
  name: string
  take(run: OpenRun, given: Given<Asked>): Promise<Result<Found>>
}

export interface ErrandDone<Found> {
  found: Found
  /** The job that did it; null = a slot of this machine. */
  job: AttemptJob | null
}

/** `home`: a folder of this errand alone; one that a process died in is gone on with there. */
export async function doErrand<Asked, Found>(
  run: OpenRun,
  kind: ErrandKind<Asked, Found>,
  {
    home,
    about,
    wanted = () => true,
    ...given
  }: Omit<Given<Asked>, 'folder'> & { home: string; about: string; wanted?: () => boolean },
): Promise<Result<ErrandDone<Found>>> {
  const config = executorOfErrand(run, home)
  if (!config) {
    const found = await kind.take(run, { ...given, folder: home })
    return found.ok ? ok({ found: found.value, job: null }) : found
  }
  const unfit = notForJobs(run)
  if (unfit) return fail(unfit)
  const { node, asked, candidates } = given
  const order = { name: kind.name, about, wanted, asked, candidates }
  const done = await errandByJob(run, order, { node, home, config })
  return done.ok ? ok({ found: done.value.found as Found, job: done.value.job }) : done
}
