/** Which files of a tree contain a text. */
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { gitFields } from './git.ts'
import { asJudge } from './judge.ts'

const MOST = 2000

/** Of these paths (the first 2,000 of them), the text files whose committed content has `text`, word for word. */
export async function filesWith(
  site: Site,
  tree: string,
  text: string,
  paths: readonly string[],
): Promise<Result<string[]>> {
  if (paths.length === 0) return ok([])
  const found = await gitFields(
    ['--literal-pathspecs', 'grep', '-l', '-I', '-F', '-z', '-e', text, tree, '--', ...paths.slice(0, MOST)],
    { ...asJudge(site), okCodes: [0, 1] },
  )
  return found.ok ? ok(found.value.map((line) => line.slice(tree.length + 1))) : found
}
