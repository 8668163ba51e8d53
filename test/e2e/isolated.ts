import { beforeEach, describe } from 'vitest'
import { missingProgram } from '../rig/needs.ts'
import { makeRepo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { type Files, type Project, projectIn } from './project.ts'

/** Why tests of isolation cannot run; null when they can. */
export const noBubblewrap = missingProgram('bubblewrap', 'bwrap --unshare-pid --ro-bind / / true'.split(' '))

export const ISOLATIONS = ['none', ...(noBubblewrap === null ? ['strict'] : [])]

/** A group of tests that need bubblewrap: where it is missing, each is skipped with the reason. */
export function isolated(name: string, tests: () => void): void {
  describe(name, () => {
    beforeEach(({ skip }) => skip(noBubblewrap !== null, noBubblewrap ?? ''))
    tests()
  })
}

export const HONEST = "printf '%099d\\n' 7\n"

/** The benchmark runs `src/main.sh` in a child, looks at its answer, and prints `n`, the size of what it wrote. */
const BENCH = `sh src/main.sh > "$TMPDIR/out" || exit 1
sh bench/check.sh "$TMPDIR/out" || { echo wrong >&2; exit 1; }
echo "METRIC n=$(wc -c < "$TMPDIR/out" | tr -d ' ')"
`

export interface Measure {
  [key: string]: unknown
}

/** A project that is measured in isolation, unless `measure` says otherwise. */
export function isolatedProject({
  measure = {},
  worktree,
  noise = { mode: 'deterministic', calibrate: 2 },
  gates = [],
  files = {},
}: {
  measure?: Measure
  worktree?: unknown
  gates?: unknown[]
  noise?: unknown
  files?: Files
} = {}): Project {
  const spec = {
    version: 1,
    name: 'small',
    goal: 'Print less.',
    scope: { mutable: ['src/**'], immutable: ['bench/**'] },
    measure: { command: 'sh bench/run.sh', timeout: '30s', ...measure },
    ...(worktree === undefined ? {} : { worktree }),
    metric: { name: 'n', direction: 'minimize' },
    noise,
    gates,
  }
  const repo = makeRepo({
    files: {
      'assay.yaml': JSON.stringify(spec, null, 2),
      'bench/run.sh': BENCH,
      'bench/check.sh': 'grep -q "$(cat bench/expected.txt)" "$1"\n',
      'bench/expected.txt': '7\n',
      'src/main.sh': HONEST,
      ...files,
    },
  })
  return projectIn(repo, makeTemp('control'))
}
