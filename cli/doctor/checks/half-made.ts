import { rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { shellQuote } from '../../evaluate/command.ts'
import { namesIn } from '../../files.ts'
import type { State } from '../../ledger/state.ts'
import { seeLock } from '../../lock.ts'
import { experimentFolder, initLockOf, isExperimentId } from '../../paths.ts'
import { ok } from '../../result.ts'
import {
  type DoctorCheck,
  type FixableFinding,
  problem,
  type RunScene,
  type Scene,
  warning,
} from '../check.ts'

/** A command writes the event milliseconds after it made the folder; a folder younger than this may still get its event. */
const YOUNG_MS = 10_000

/** Folders of commands that ended before they wrote their event. */
export const halfMade: DoctorCheck = {
  name: 'half-made',
  look: (scene) => [...runsHalfMade(scene), ...scene.runs.flatMap((run) => experimentsHalfMade(run, scene))],
}

function runsHalfMade({ site, runs, env }: Scene): FixableFinding[] {
  if (!site || seeLock(initLockOf(env, site)).state === 'alive') return []
  return runs
    .filter(({ ledger }) => ledger.unreadable === null && (ledger.bytes?.length ?? 0) === ledger.tail)
    .map(({ run, paths }) =>
      namesIn(paths.experiments).some((name) => namesIn(join(paths.experiments, name)).length > 0)
        ? problem('ledger_missing', {
            what: `${run} has experiments, but no ledger`,
            cause: 'it was deleted, moved or emptied; without it no command finds the run',
            repair: `put it back from a backup; the candidates are still in the store: git --git-dir .assay/.git for-each-ref refs/assay/${run}`,
            at: paths.ledger,
          })
        : warning('run_half_made', {
            what: `${run} has a folder, but never began`,
            cause: 'an assay init was killed in its first moments',
            repair: `nothing: commands skip it; to delete it: rm -r ${shellQuote(paths.folder)}`,
            at: paths.folder,
          }),
    )
}

function experimentsHalfMade({ run, paths, state }: RunScene, { clock }: Scene): FixableFinding[] {
  if (!state) return []
  const known = knownIds(state)
  const now = clock().getTime()
  return namesIn(paths.experiments).flatMap((name) => {
    const experiment = `exp_${name}`
    if (!isExperimentId(experiment) || known.has(experiment)) return []
    const folder = experimentFolder(paths, experiment)
    if (now - ageStamp(folder, now) < YOUNG_MS) return []
    const empty = namesIn(folder).length === 0
    return [
      warning('experiment_half_made', {
        what: `${experiment} of ${run} has a folder, but no event`,
        cause: 'an assay new was refused or killed after it had claimed the number',
        repair: empty
          ? 'nothing: the number just stays unused'
          : `look what is in it, then: rm -r ${shellQuote(folder)}`,
        at: folder,
        ...(empty
          ? {
              fix: async () => {
                // Fails if the folder is no longer empty.
                rmdirSync(folder)
                return ok(`removed the empty folder of ${experiment}`)
              },
            }
          : {}),
      }),
    ]
  })
}

/** Also those that the briefs of a round reserved. */
function knownIds(state: State): Set<string> {
  const reserved = [...state.rounds].flatMap(
    ({ briefed }) => briefed?.lanes.map(({ experiment }) => experiment) ?? [],
  )
  return new Set([...state.experiments.keys(), ...reserved])
}

function ageStamp(folder: string, now: number): number {
  try {
    return statSync(folder).mtimeMs
  } catch {
    return now
  }
}
