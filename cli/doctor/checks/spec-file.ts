import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, ok } from '../../result.ts'
import { specHash } from '../../spec/hash.ts'
import { readSpecFile } from '../../spec/read.ts'
import type { Spec } from '../../spec/spec.ts'
import { type DoctorCheck, type FixableFinding, fine, problem, type RunScene } from '../check.ts'

/** The frozen spec of each run against the hash in its ledger. */
export const specFile: DoctorCheck = {
  name: 'spec',
  look: ({ runs }) => runs.flatMap(specOf),
}

function specOf({ run, paths, state, spec }: RunScene): FixableFinding[] {
  const expected = state?.run?.spec_hash
  if (expected === undefined) return []
  if (hashOf(spec) === expected)
    return [fine('spec', `${run}: the frozen spec is the one that it started with`)]
  const isThere = existsSync(paths.spec)
  const copy = remade(paths.folder, expected)
  return [
    problem(isThere ? 'spec_changed' : 'spec_missing', {
      what: isThere
        ? `spec.json of ${run} is not the spec that it started with`
        : `spec.json of ${run} is gone, so no command can work on that run`,
      cause: isThere ? 'it was edited; a run measures under one frozen spec' : 'it was deleted',
      repair: copy
        ? `${isThere ? 'move it away; then ' : ''}assay doctor --fix makes it again from the assay.yaml beside it, which has the right hash`
        : `restore ${paths.spec} from a backup`,
      at: paths.spec,
      ...(copy && !isThere
        ? {
            fix: async () => {
              if (existsSync(paths.spec))
                return fail({ kind: 'refused', code: 'spec_there', message: 'spec.json is there by now' })
              writeFileSync(`${paths.spec}.new`, JSON.stringify(copy))
              renameSync(`${paths.spec}.new`, paths.spec)
              return ok(`made spec.json of ${run} again from its assay.yaml; the hash agrees`)
            },
          }
        : {}),
    }),
  ]
}

/** The spec from the user's own text in the run's folder, when its hash proves that it is the same. */
function remade(folder: string, expected: string): Spec | null {
  const read = readSpecFile(join(folder, 'assay.yaml'))
  return read.ok && hashOf(read.value.spec) === expected ? read.value.spec : null
}

function hashOf(spec: Spec | null): string | null {
  try {
    return spec && specHash(spec)
  } catch {
    return null
  }
}
