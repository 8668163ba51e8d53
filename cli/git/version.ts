import { ok, type Result } from '../result.ts'
import { gitText } from './git.ts'

/** `2.39.5`. Problems: those of `git`. */
export async function gitVersion(): Promise<Result<string>> {
  const said = await gitText(['version'])
  return said.ok ? ok(/\d+(\.\d+)+/.exec(said.value)?.[0] ?? said.value) : said
}
