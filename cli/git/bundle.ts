/** Carries trees of the store to another machine: their files and the rules by which git writes them, and no history. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { withLock } from '../lock.ts'
import { type Site, worktreeLock } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { git, gitText } from './git.ts'
import { judgeFolder, rulesFolder, storeOptions } from './judge-folder.ts'
import { pinRef } from './refs.ts'

export interface PackedStore {
  /** Tree → a commit of it without parents, which is in the bundle. Equal trees have equal commits. */
  commits: Record<string, string>
  /** Files of the judge's folder, and of the run's rules in it: path → bytes (latin1). */
  files: Record<string, string>
}

const JUDGES = ['HEAD', 'config']
const RULES = ['HEAD', 'config', 'info/attributes', 'info/exclude', 'info/exclude-origins.json']

const jobRefs = (key: string): string => `refs/assay/jobs/${key}`

/**
 * Writes a git bundle with these trees. `key`: names what is made meanwhile. Problem `filters_not_carried` when a filter of
 * the repository needs keys, which are not sent.
 */
export async function packTrees(
  site: Site,
  trees: readonly string[],
  { key, file }: { key: string; file: string },
): Promise<Result<PackedStore>> {
  const files = filesOfJudge(site)
  if (!files.ok) return files
  const commits: Record<string, string> = {}
  const refs: string[] = []
  try {
    for (const tree of new Set(trees)) {
      const made = await gitText(['commit-tree', '-m', 'A tree that is measured', tree], {
        ...storeOptions(site),
        date: new Date('2000-01-01T00:00:00Z'),
      })
      if (!made.ok) return made
      const ref = `${jobRefs(key)}/${refs.length}`
      const pinned = await pinRef(site, ref, made.value)
      if (!pinned.ok) return pinned
      refs.push(ref)
      commits[tree] = made.value
    }
    const bundled = await git(['bundle', 'create', '--quiet', file, ...refs], storeOptions(site))
    return bundled.ok ? ok({ commits, files: files.value }) : bundled
  } finally {
    for (const ref of refs) await git(['update-ref', '-d', ref], storeOptions(site))
  }
}

function filesOfJudge(site: Site): Result<Record<string, string>> {
  const rules = rulesFolder(site)
  const judge = judgeFolder(site.store)
  const below = rules === judge ? '' : `${site.rules}/`
  const link = readdirSync(rules).find((name) => lstatSync(join(rules, name)).isSymbolicLink())
  if (link !== undefined)
    return fail({
      kind: 'refused',
      code: 'filters_not_carried',
      message: `git reads files of this repository through ${link}, whose keys Assay does not send to other machines`,
      hint: 'measure on this machine: remove the section executor',
    })
  const files: Record<string, string> = {}
  const take = (folder: string, names: readonly string[], prefix: string) => {
    for (const name of names)
      if (existsSync(join(folder, name))) files[prefix + name] = readFileSync(join(folder, name), 'latin1')
  }
  take(judge, JUDGES, '')
  take(rules, RULES, below)
  return ok(files)
}

/** Makes the store of a site where there is none, and brings the trees of a bundle into it. Checks that each is what its name says. */
export async function unpackTrees(
  site: Site,
  { commits, files }: PackedStore,
  { key, file }: { key: string; file: string },
): Promise<Result<void>> {
  mkdirSync(site.state, { recursive: true })
  return withLock(worktreeLock(site), async () => {
    const judge = judgeFolder(site.store)
    if (!existsSync(site.store)) {
      const made = `${site.store}-new-${process.pid}`
      const format = Object.keys(commits)[0]?.length === 64 ? ['--object-format=sha256'] : []
      const begun = await git(['init', '--bare', '--quiet', '--template=', ...format, made])
      if (!begun.ok) return begun
      const head = await git(['symbolic-ref', 'HEAD', 'refs/heads/assay'], { gitDir: made })
      if (!head.ok) return head
      renameSync(made, site.store)
    }
    for (const folder of [judge, rulesFolder(site)])
      for (const name of ['refs', 'objects', 'info']) mkdirSync(join(folder, name), { recursive: true })
    for (const [name, text] of Object.entries(files)) lay(join(judge, name), text)
    const brought = await git(['bundle', 'unbundle', file], storeOptions(site))
    if (!brought.ok) return brought
    for (const [at, [tree, commit]] of Object.entries(commits).entries()) {
      const found = await gitText(['rev-parse', '--verify', `${commit}^{tree}`], storeOptions(site))
      if (!found.ok) return found
      if (found.value !== tree) return fail(otherTree(tree, found.value))
      const whole = await git(['rev-list', '--objects', '--quiet', commit], storeOptions(site))
      if (!whole.ok) return whole
      const pinned = await pinRef(site, `${jobRefs(key)}/${at}`, commit)
      if (!pinned.ok) return pinned
    }
    return ok(undefined)
  })
}

/** A node that was killed, or had no space left, may have kept half of the file. */
function lay(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'latin1') === text) return
  writeFileSync(`${path}.new`, text, 'latin1')
  renameSync(`${path}.new`, path)
}

const otherTree = (wanted: string, found: string) => ({
  kind: 'failed' as const,
  code: 'bundle_damaged',
  message: `the bundle of the job holds the tree ${found} in the place of ${wanted}`,
  hint: 'the folder of the job was damaged on its way: run the experiment again',
})
