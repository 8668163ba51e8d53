/** The file of held-out data: found at `init`, and the same whenever it is used. */
import { createHash } from 'node:crypto'
import { createReadStream, realpathSync, statSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { HeldOutFile } from '../ledger/events.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'

/** `text` as the user gave it, from `cwd`. What lies inside `root` could be read by every candidate. */
export async function findHoldout(text: string, cwd: string, root: string): Promise<Result<HeldOutFile>> {
  let path: string
  try {
    path = realpathSync(resolve(cwd, text))
    if (!statSync(path).isFile()) return fail(refused(text, 'is not a file', 'pack the cases into one file'))
  } catch {
    return fail(refused(text, 'cannot be read', 'name a file that exists'))
  }
  const way = relative(realpathSync(root), path)
  if (!isAbsolute(way) && !way.startsWith(`..${sep}`)) {
    const hint = 'keep it in a folder outside of the repository, where no candidate reads it'
    return fail(refused(text, 'lies inside the repository', hint))
  }
  const { size } = statSync(path)
  return ok({ path, sha256: await digest(path), bytes: size })
}

/** False when it changed or is gone. */
export async function isSameHoldout({ path, sha256 }: HeldOutFile): Promise<boolean> {
  try {
    return (await digest(path)) === sha256
  } catch {
    return false
  }
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

const refused = (text: string, what: string, hint: string): Problem => ({
  kind: 'usage',
  code: 'bad_holdout',
  message: `the held-out file ${text} ${what}`,
  hint,
})
