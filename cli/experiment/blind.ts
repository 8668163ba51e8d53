/** Why a benchmark may measure the user's own checkout in place of the candidate. Found by looking, never by running. */
import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, delimiter, dirname, join, relative } from 'node:path'
import { filesWith, listTree } from '../git/files.ts'
import { STATE_FOLDER, slotPath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import type { Bench } from './bench.ts'
import { scopeOfRun } from './scope.ts'

export interface Cause {
  message: string
  hint: string
}

/** The first of the usual causes that is there; null when none is. */
export async function blindCause(run: OpenRun, bench: Bench, tree: string): Promise<Result<Cause | null>> {
  const checkout = run.started.checkout
  const written = await absolutePath(run, tree, checkout)
  if (!written.ok || written.value) return written
  const slot = slotPath(run.site, bench.slot, 'b')
  return ok(
    (await editableInstall(bench.environment, checkout, slot)) ??
      (await workspaceLink(checkout, slot, run.started.prefix)) ??
      variable(bench.environment, checkout),
  )
}

/** Path of the checkout in the command, or in a file that no candidate may change. */
async function absolutePath(run: OpenRun, tree: string, checkout: string): Promise<Result<Cause | null>> {
  const hint = `write it relative to the folder that the benchmark runs in, or as {worktree} in measure.command`
  if (JSON.stringify(run.spec.measure.command).includes(checkout))
    return ok({ message: `measure.command names your own checkout, ${checkout}`, hint })
  const files = await listTree(run.site, tree)
  if (!files.ok) return files
  const scope = scopeOfRun(run)
  const paths = files.value.map(({ path }) => path).filter((path) => scope(path) !== 'mutable')
  const found = await filesWith(run.site, tree, checkout, paths)
  if (!found.ok) return found
  const named = found.value.find((path) => basename(path) !== 'assay.yaml')
  return ok(named ? { message: `${named} names your own checkout, ${checkout}`, hint } : null)
}

const MOST_ENTRIES = 5000
const IN_STATE = `/${STATE_FOLDER}/`

/** Python: `pip install -e` leaves the path of the checkout in site-packages. */
async function editableInstall(
  environment: Record<string, string>,
  checkout: string,
  slot: string,
): Promise<Cause | null> {
  const roots = [environment.VIRTUAL_ENV, environment.CONDA_PREFIX]
  for (const top of [slot, checkout]) roots.push(...['.venv', 'venv', 'env'].map((name) => join(top, name)))
  for (const folder of (environment.PATH ?? '').split(delimiter)) roots.push(dirname(folder))
  roots.push(environment.HOME && join(environment.HOME, '.local'))
  for (const root of new Set(roots)) {
    if (!root) continue
    const lib = join(root, 'lib')
    for (const python of (await names(lib)).filter((name) => name.startsWith('python'))) {
      const packages = join(lib, python, 'site-packages')
      for (const name of await names(packages)) {
        if (!/\.(pth|egg-link)$|^__editable__/.test(name)) continue
        const text = await readFile(join(packages, name), 'utf8').catch(() => '')
        if (!pointsInto(text, checkout)) continue
        return {
          message: `an editable install points at your own checkout: ${join(packages, name)}`,
          hint: 'install in each checkout instead: make the virtual environment in worktree.setup, or put the folder of the sources first with PYTHONPATH: src under measure.environment.set',
        }
      }
    }
  }
  return null
}

/** Into the checkout, and not into the state folder in it, where candidates are. */
const pointsInto = (text: string, checkout: string): boolean =>
  text
    .split(checkout)
    .slice(1)
    .some((rest) => !rest.startsWith(IN_STATE))

/** Node: a link in `node_modules` that leads to the user's packages; without its own, node looks in the folders above. */
async function workspaceLink(checkout: string, slot: string, prefix: string): Promise<Cause | null> {
  const folders = [slot, join(slot, prefix), checkout, join(checkout, prefix)]
  for (const folder of new Set(folders)) {
    const modules = join(folder, 'node_modules')
    for (const link of await links(modules)) {
      const target = await realpath(join(modules, link)).catch(() => '')
      if (!target.startsWith(`${checkout}/`) || target.startsWith(`${checkout}${IN_STATE}`)) continue
      if (relative(checkout, target).split('/').includes('node_modules')) continue
      return {
        message: `node finds ${link} through ${join(modules, link)}, a link to ${relative(checkout, target)} in your own checkout`,
        hint: 'let each checkout have its own node_modules: worktree.setup: { command: npm ci, inputs: [package-lock.json] }',
      }
    }
  }
  return null
}

async function links(modules: string): Promise<string[]> {
  const found: string[] = []
  for (const name of (await names(modules)).slice(0, MOST_ENTRIES)) {
    const inner = name.startsWith('@')
      ? (await names(join(modules, name))).map((one) => `${name}/${one}`)
      : [name]
    for (const one of inner) {
      const entry = await lstat(join(modules, one)).catch(() => null)
      if (entry?.isSymbolicLink()) found.push(one)
    }
  }
  return found
}

/** Only the name is told, never the value. */
function variable(environment: Record<string, string>, checkout: string): Cause | null {
  const found = Object.entries(environment).find(
    ([name, value]) => name !== 'PWD' && name !== 'OLDPWD' && pointsInto(value, checkout),
  )
  if (!found) return null
  return {
    message: `the variable ${found[0]} names your own checkout`,
    hint: `give it another value under measure.environment.set, with a path that is relative to the benchmark's folder`,
  }
}

const names = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
