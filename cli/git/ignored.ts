/** Ignored files that the author of a candidate may take for a part of it. */
import { readFileSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { ok, type Result } from '../result.ts'
import { fields, type GitOptions, git, gitFields, nulTerminated } from './git.ts'
import { ORIGINS } from './rules.ts'

export interface IgnoredFile {
  path: string
  /** `.gitignore:3`, `/home/me/.config/git/ignore:1` */
  rule: string
}

const MOST = 20

/** Ignored files at paths that `inScope` takes, created or changed after `since`; 20 at most, with the rule of each. */
export async function ignoredSince(
  options: GitOptions,
  inScope: (path: string) => boolean,
  since: Date,
): Promise<Result<IgnoredFile[]>> {
  const listed = await gitFields(['ls-files', '-z', '-o', '-i', '--exclude-standard'], options)
  if (!listed.ok) return listed
  const newer: string[] = []
  for (const path of listed.value) {
    if (!inScope(path)) continue
    // Not mtime: a copy that keeps times is new all the same.
    const found = await lstat(join(options.workTree ?? '', path)).catch(() => null)
    if (found && found.ctimeMs > since.getTime()) newer.push(path)
    if (newer.length === MOST) break
  }
  if (newer.length === 0) return ok([])
  const asked = await git(['check-ignore', '-v', '-z', '--stdin'], {
    ...options,
    input: nulTerminated(newer),
    okCodes: [0, 1],
  })
  if (!asked.ok) return asked
  const origins = originsOf(options)
  return ok(
    parseRules(fields(asked.value)).map(({ path, file, line }) => ({
      path,
      rule: (file === origins.file ? origins.rules[line - 1] : null) ?? `${file}:${line}`,
    })),
  )
}

/** The rules of the user and Assay's own lie in one file of the judge, whose path tells a person nothing. */
function originsOf({ gitDir = '' }: GitOptions): { file: string; rules: string[] } {
  const info = join(gitDir, 'info')
  try {
    const rules = JSON.parse(readFileSync(join(info, ORIGINS), 'latin1')) as string[]
    return { file: join(info, 'exclude'), rules }
  } catch {
    return { file: '', rules: [] }
  }
}

/** Four fields each: file with the rule, its line, the pattern, the path. */
function parseRules(parts: readonly string[]): { path: string; file: string; line: number }[] {
  const found: { path: string; file: string; line: number }[] = []
  for (let at = 0; at + 3 < parts.length; at += 4) {
    found.push({ path: parts[at + 3] ?? '', file: parts[at] ?? '', line: Number(parts[at + 1]) })
  }
  return found
}

/** Which of these paths the user's own ignore rules name. */
export async function ignoredAmong(top: string, paths: readonly string[]): Promise<Result<Set<string>>> {
  const asked = await git(['check-ignore', '-z', '--stdin'], {
    dir: top,
    config: 'user',
    input: nulTerminated(paths),
    okCodes: [0, 1],
  })
  return asked.ok ? ok(new Set(fields(asked.value))) : asked
}
