/** What is special about the user's repository, as far as it decides what a candidate gets to see. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ok, type Result } from '../result.ts'
import type { Checkout } from './checkout.ts'
import { git, gitFields, nulTerminated } from './git.ts'

export interface RepositoryKind {
  shallow: boolean
  /** Objects may be missing here and are fetched when they are needed. */
  partial: boolean
  sparse: boolean
  /** `true`, `input`, or null. */
  autocrlf: string | null
  /** Paths of submodules. */
  submodules: string[]
  /** Files that should be content and are pointers of git-lfs. At most 1,000 files under LFS are looked at. */
  lfsPointers: string[]
  lfsInstalled: boolean
}

const MOST = 1000
/** A pointer file is at most 1,024 bytes by its own specification. */
const POINTER_BYTES = 1024
const POINTER = 'version https://git-lfs.github.com/spec/'

export async function repositoryKind(checkout: Checkout): Promise<Result<RepositoryKind>> {
  const dir = checkout.top
  const listed = await gitFields(['config', '--list', '-z'], { dir, config: 'user' })
  if (!listed.ok) return listed
  const entries = await gitFields(['ls-files', '-z', '--stage'], { dir, config: 'user' })
  if (!entries.ok) return entries
  const settings = new Map(listed.value.map(keyAndValue))
  const files = entries.value.map((line) => ({
    mode: line.slice(0, 6),
    path: line.slice(line.indexOf('\t') + 1),
  }))
  const lfs = await lfsFiles(
    dir,
    files.filter(({ mode }) => mode.startsWith('100')).map(({ path }) => path),
  )
  if (!lfs.ok) return lfs
  const pointers = lfs.value.slice(0, MOST).filter((path) => isPointer(join(dir, path)))
  const installed = lfs.value.length === 0 ? ok(false) : await lfsInstalled(dir)
  return ok({
    shallow: checkout.shallow,
    partial: [...settings.keys()].some((key) =>
      /^(extensions\.partialclone|remote\..+\.promisor)$/.test(key),
    ),
    sparse: settings.get('core.sparsecheckout') === 'true',
    autocrlf: settings.get('core.autocrlf') ?? null,
    submodules: files.filter(({ mode }) => mode === '160000').map(({ path }) => path),
    lfsPointers: pointers,
    lfsInstalled: installed.ok && installed.value,
  })
}

function keyAndValue(entry: string): [string, string] {
  const cut = entry.indexOf('\n')
  return cut < 0 ? [entry, 'true'] : [entry.slice(0, cut), entry.slice(cut + 1)]
}

async function lfsFiles(dir: string, paths: string[]): Promise<Result<string[]>> {
  // Attributes of every path of a large repository cost a second; without the file there is no LFS.
  if (!paths.some((path) => path === '.gitattributes' || path.endsWith('/.gitattributes'))) return ok([])
  const told = await gitFields(['check-attr', '-z', '--stdin', 'filter'], {
    dir,
    config: 'user',
    input: nulTerminated(paths),
  })
  if (!told.ok) return told
  const found: string[] = []
  for (let at = 0; at + 2 < told.value.length; at += 3)
    if (told.value[at + 2] === 'lfs') found.push(told.value[at] ?? '')
  return ok(found)
}

async function lfsInstalled(dir: string): Promise<Result<boolean>> {
  const asked = await git(['lfs', 'version'], { dir, config: 'user', okCodes: [0, 1] })
  return asked.ok ? ok(/^git-lfs\//.test(asked.value.toString('utf8'))) : ok(false)
}

function isPointer(file: string): boolean {
  try {
    return (
      existsSync(file) &&
      statSync(file).size <= POINTER_BYTES &&
      readFileSync(file, 'latin1').startsWith(POINTER)
    )
  } catch {
    return false
  }
}
