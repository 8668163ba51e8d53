import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { splitLines } from '../../ledger/append.ts'
import type { Judged } from '../../ledger/events.ts'
import { attemptFolder, stepsFile } from '../../paths.ts'
import { type DoctorCheck, type FixableFinding, fine, problem, type RunScene } from '../check.ts'

/** If a run has more verdicts than this, so many of them are checked, evenly spread. */
const MOST = 200
const SHOWN = 20

/** Compares the recorded steps of each attempt with the digest in its verdict. */
export const steps: DoctorCheck = {
  name: 'steps',
  look: ({ runs }) => runs.flatMap(stepsOf),
}

function stepsOf({ run, paths, state }: RunScene): FixableFinding[] {
  if (!state) return []
  const judged = [...state.experiments.values()].flatMap(({ attempts }) =>
    attempts.flatMap(({ judged: verdict }) => (verdict ? [verdict] : [])),
  )
  const some = spread(judged, MOST)
  const bad = some.flatMap((verdict) => {
    const file = stepsFile(attemptFolder(paths, verdict.experiment, verdict.attempt))
    return matches(file, verdict.steps) ? [] : [{ verdict, file }]
  })
  if (bad.length === 0) {
    const share = some.length < judged.length ? ` (${some.length} of ${judged.length} looked at)` : ''
    return [fine('steps', `${run}: the recorded steps of ${some.length} verdicts are unchanged${share}`)]
  }
  return bad.slice(0, SHOWN).map(({ verdict, file }) =>
    problem('steps_changed', {
      what: `${run}: the steps of attempt ${verdict.attempt} of ${verdict.experiment} are not those that its verdict rests on`,
      cause: 'the file was edited, cut or deleted after the verdict',
      repair: `restore it from a backup, or measure it again: assay confirm ${verdict.experiment}`,
      at: file,
    }),
  )
}

function spread(all: Judged[], most: number): Judged[] {
  if (all.length <= most) return all
  return Array.from({ length: most }, (_, index) => all[Math.floor((index * all.length) / most)]).filter(
    (one) => one !== undefined,
  )
}

/** Lines behind those of the verdict are allowed: a later measurement may write there. */
function matches(file: string, { sha256, lines }: Judged['steps']): boolean {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch {
    bytes = Buffer.alloc(0)
  }
  const end = lines === 0 ? 0 : splitLines(bytes, 0)[lines - 1]?.end
  return [bytes, ...(end === undefined ? [] : [bytes.subarray(0, end)])].some(
    (part) => createHash('sha256').update(part).digest('hex') === sha256,
  )
}
