/** What differs between two trees. Renames are a deletion and an addition: scope rules are about paths. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { git, gitFields } from './git.ts'
import { asJudge, judgeFolder } from './judge.ts'

export interface Change {
  /** Relative to the top of the tree, `/` between parts, never quoted. */
  path: string
  /** Added, modified (content or mode), deleted, or of another type (file, symbolic link, submodule). */
  status: 'A' | 'M' | 'D' | 'T'
  /** Six octal digits; `000000` when there is none. */
  oldMode: string
  newMode: string
  oldOid: string
  newOid: string
  /** Lines; null for a binary file. */
  added: number | null
  removed: number | null
}

/**
 * The changes from tree (or commit) `a` to `b`, in path order. `asText`: the lines of binary files are counted, too; one
 * NUL makes a file binary to git, and must not hide its lines from a limit.
 */
export async function changesBetween(
  site: Site,
  a: string,
  b: string,
  { asText = false }: { asText?: boolean } = {},
): Promise<Result<Change[]>> {
  const before = asText ? ['-c', `core.attributesFile=${await textForAll(site)}`] : []
  const flags = ['--no-renames', '--no-abbrev', '--no-textconv', '--no-ext-diff']
  const out = await gitFields(
    [...before, 'diff-tree', '-r', '-z', '--raw', '--numstat', ...flags, a, b, '--'],
    asJudge(site),
  )
  return out.ok ? ok(parseChanges(out.value)) : out
}

/** A file of attributes by which every file is text for a diff. */
async function textForAll(site: Site): Promise<string> {
  const file = join(judgeFolder(site.store), 'text-for-all')
  if ((await readFile(file, 'utf8').catch(() => '')) !== TEXT_FOR_ALL) await writeFile(file, TEXT_FOR_ALL)
  return file
}

const TEXT_FOR_ALL = '* diff\n'

/** Reads the output of `--raw --numstat -z`: first every raw entry (two fields), then every count (one field). */
export function parseChanges(output: readonly string[]): Change[] {
  const changes = new Map<string, Change>()
  let at = 0
  for (; output[at]?.startsWith(':'); at += 2) {
    const [oldMode, newMode, oldOid, newOid, letter] = (output[at] ?? '').slice(1).split(' ')
    const path = output[at + 1]
    const status = statusOf(letter)
    if (!oldMode || !newMode || !oldOid || !newOid || path === undefined || !status) {
      throw new Error(`unexpected line of git diff-tree: ${output[at]}`)
    }
    changes.set(path, { path, status, oldMode, newMode, oldOid, newOid, added: null, removed: null })
  }
  for (; at < output.length; at++) {
    const count = /^(-|\d+)\t(-|\d+)\t(.*)$/s.exec(output[at] ?? '')
    const change = changes.get(count?.[3] ?? '')
    if (!count || !change) throw new Error(`unexpected line of git diff-tree: ${output[at]}`)
    change.added = count[1] === '-' ? null : Number(count[1])
    change.removed = count[2] === '-' ? null : Number(count[2])
  }
  return [...changes.values()]
}

function statusOf(letter: string | undefined): Change['status'] | null {
  return letter === 'A' || letter === 'M' || letter === 'D' || letter === 'T' ? letter : null
}

export interface PatchOptions {
  /** Only these paths, literally. */
  paths?: readonly string[]
  /** Lines of context, 3 by default. */
  context?: number
}

/**
 * A patch from `a` to `b` that `git apply` takes (binary files included). Bytes that are not UTF-8 are replaced.
 * Problem `git_output_too_large` beyond 64 MiB.
 */
export async function patchBetween(
  site: Site,
  a: string,
  b: string,
  { paths = [], context = 3 }: PatchOptions = {},
): Promise<Result<string>> {
  const flags = ['--no-renames', '--full-index', '--binary', '--no-color', '--no-textconv', '--no-ext-diff']
  const out = await git(
    ['--literal-pathspecs', 'diff-tree', '-r', '-p', `-U${context}`, ...flags, a, b, '--', ...paths],
    asJudge(site),
  )
  return out.ok ? ok(out.value.toString('utf8')) : out
}
