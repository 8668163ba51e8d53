/** Real repositories in fresh folders, with a home of their own. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect } from 'vitest'
import { type Checkout, inspectCheckout } from '../../cli/git/checkout.ts'
import { addExclude } from '../../cli/git/exclude.ts'
import { freezeRules } from '../../cli/git/rules.ts'
import { createStore, importCommit, type Pinned } from '../../cli/git/store.ts'
import { listTree } from '../../cli/git/trees.ts'
import { addWorktree } from '../../cli/git/worktrees.ts'
import { type Site, siteAt, worktreePath } from '../../cli/paths.ts'
import type { Result } from '../../cli/result.ts'

const made: string[] = []
const home = process.env.HOME

afterEach(() => {
  if (home === undefined) delete process.env.HOME
  else process.env.HOME = home
  for (const name of ['GIT_DIR', 'GIT_INDEX_FILE', 'GIT_WORK_TREE']) delete process.env[name]
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A fresh folder whose sub-folder `home` is HOME, with a user who has no say in our store. */
export function freshFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-git-')))
  made.push(folder)
  write(
    folder,
    'home/.gitconfig',
    '[user]\n\tname = User\n\temail = user@example.org\n[init]\n\tdefaultBranch = main\n',
  )
  process.env.HOME = join(folder, 'home')
  return folder
}

/** As the user or an agent in `dir` runs git. */
export function run(dir: string, ...args: string[]): string {
  const env = { ...process.env, LC_ALL: 'C' }
  for (const name of Object.keys(env)) if (name.startsWith('GIT_')) delete (env as NodeJS.ProcessEnv)[name]
  return execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

export function write(dir: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), content)
}

export const FILES: Record<string, string> = {
  'src/a.js': 'let a = 1\n',
  'src/b.js': 'let b = 1\n',
  'bench/run.js': 'console.log(1)\n',
  '.gitignore': 'node_modules/\n*.log\n',
}

/** A repository with one commit. */
export function repository(files: Record<string, string> = FILES): string {
  const dir = join(freshFolder(), 'repo')
  mkdirSync(dir)
  run(dir, 'init', '-q')
  for (const [path, content] of Object.entries(files)) write(dir, path, content)
  commitAll(dir, 'first')
  return dir
}

export function commitAll(dir: string, message: string): string {
  run(dir, 'add', '-A')
  run(dir, 'commit', '-q', '--allow-empty', '-m', message)
  return run(dir, 'rev-parse', 'HEAD').trim()
}

/** The value, or a failure of the test with the problem's words. */
export function must<T>(result: Result<T>): T {
  if (!result.ok) expect.fail(`${result.problem.code}: ${result.problem.message}`)
  return result.value
}

export function problemOf(result: Result<unknown>): string {
  if (result.ok) expect.fail('expected a problem')
  return result.problem.code
}

export interface Opened {
  site: Site
  checkout: Checkout
  base: Pinned
}

/** What `init` does: exclude line, store, base commit, rules of the run. */
export async function open(dir: string): Promise<Opened> {
  const checkout = must(await inspectCheckout(dir))
  const site = siteAt(checkout.top)
  must(await addExclude(checkout.commonDir))
  must(await createStore(site, checkout))
  const base = must(await importCommit(site, checkout))
  const files = must(await listTree(site, base.tree))
  return { site: { ...site, rules: must(await freezeRules(site, checkout, files)) }, checkout, base }
}

/** An edit worktree of the base. */
export async function worktree(opened: Opened, experiment = 'exp_0001'): Promise<string> {
  const path = worktreePath(opened.site, 'run_0001', experiment)
  must(await addWorktree(opened.site, path, opened.base.commit))
  return path
}

/** path → content hash, mode and time of everything below, `.assay` excepted. */
export function photograph(dir: string): Record<string, string> {
  const found: Record<string, string> = {}
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of readdirSync(join(dir, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (path === '.assay') continue
      const info = lstatSync(join(dir, path))
      if (info.isDirectory()) {
        folders.push(path)
        found[path] = 'folder'
      } else {
        // git refreshes the time of an object that it would write again, and ours are hard links.
        const time = path.startsWith('.git/objects/') ? '' : info.mtimeMs
        const content = info.isSymbolicLink() ? readlinkSync(join(dir, path)) : readFileSync(join(dir, path))
        found[path] = `${createHash('sha256').update(content).digest('hex')} ${info.mode} ${time}`
      }
    }
  }
  return found
}
