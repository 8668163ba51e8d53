/** What a candidate did to tests, compared with its parent: determined once, and kept with the attempt. */
import { type Changed, looksLikeTest, type TestFinding, testsGone } from '../evaluate/tests-gone.ts'
import { patchBetween, type TreeChange } from '../git/trees.ts'
import { ok, type Result } from '../result.ts'
import type { RunRecord } from '../run/open.ts'
import type { Seal } from './seal.ts'
import type { AttemptRecord } from './steps.ts'

/** Changes of more files than this are not examined; a person would not read them either. */
const MOST_FILES = 400
/** Lines of one file. */
const MOST_LINES = 20_000
/** Context of a patch, so that it holds both files whole. */
const WHOLE = 1_000_000
const KEPT = 50
const SOURCE =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|rb|rs|go|java|kt|scala|groovy|cs|fs|swift|php|c|cc|cpp|cxx|h|hh|hpp|zig|d|dart|ex|exs|lua|jl|pl|r|sh|bash)$/i

/**
 * The tests that a candidate removed or weakened against its parent. If an earlier process of this attempt recorded findings,
 * they are the answer; else the patch is read, and what it shows is recorded. A patch that is too large gives no findings.
 */
export async function lookAtTests(
  run: RunRecord,
  { parentTree, tree, changes }: Pick<Seal, 'parentTree' | 'tree' | 'changes'>,
  record: AttemptRecord,
): Promise<Result<TestFinding[]>> {
  const known = testsIn(record)
  if (known.length > 0) return ok(known)
  const telling = changes.filter(isTelling).slice(0, MOST_FILES)
  if (telling.length === 0) return ok([])
  const paths = telling.map(({ path }) => path)
  const patch = await patchBetween(run.site, parentTree, tree, { paths, context: WHOLE })
  // A patch that is too large to be read gives no findings.
  if (!patch.ok) return patch.problem.code === 'git_output_too_large' ? ok([]) : patch
  const found = testsGone(wholeFiles(patch.value, telling)).slice(0, KEPT)
  if (found.length > 0) record.decide({ is: 'tests', tests: found })
  return ok(found)
}

/** The recorded findings; none for attempts that were judged by a version that did not look for them. */
export function testsIn(record: AttemptRecord): TestFinding[] {
  return record.decided('tests')[0]?.tests ?? []
}

/** Text, and a test, a configuration, or code that could end its process. */
const isTelling = ({ path, status, added, removed }: TreeChange): boolean =>
  status !== 'T' &&
  added !== null &&
  removed !== null &&
  added + removed > 0 &&
  added < MOST_LINES &&
  (looksLikeTest(path) || SOURCE.test(path) || /\.(?:ini|toml|json|ya?ml|xml)$|(?:^|\/)\.\w+$/.test(path))

/** Both sides of a patch that has the whole of each file as its context, in the order of `changes`. */
function wholeFiles(patch: string, changes: readonly TreeChange[]): Changed[] {
  const sections = patch.split(/^diff --git /m).slice(1)
  if (sections.length !== changes.length)
    throw new Error(`a patch of ${changes.length} files has ${sections.length} parts`)
  return changes.map(({ path, status }, index): Changed => {
    const [, ...hunks] = (sections[index] ?? '').split(/^@@ .*$/m)
    const lines = hunks.join('').split('\n').slice(1)
    const side = (sign: string) =>
      lines.flatMap((line) => (line[0] === ' ' || line[0] === sign ? [line.slice(1)] : [])).join('\n')
    return {
      path,
      before: status === 'A' ? null : side('-'),
      after: status === 'D' ? null : side('+'),
    }
  })
}
