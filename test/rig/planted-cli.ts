import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTemp } from './temp.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const VERB_MODULES = /import\('\.\/([a-z]+)\.ts'\)/g

/**
 * A copy of the real launcher, main and parser in a fresh folder whose verbs do what the test plants: name → text of
 * the module. Verbs that are not planted answer null. Build it with `build({ root })`.
 */
export function plantCli(verbs: Record<string, string>): string {
  const root = makeTemp('cli')
  const copy = (path: string) => cpSync(join(ROOT, path), join(root, path), { recursive: true })
  for (const path of [
    'package.json',
    'package-lock.json',
    'bin/assay.cjs',
    'bin/modules.cjs',
    'scripts/build.mjs',
  ])
    copy(path)
  const modules = readFileSync(join(ROOT, 'cli', 'verbs', 'modules.ts'), 'utf8')
  const names = [...modules.matchAll(VERB_MODULES)].flatMap((match) => match[1] ?? [])
  // The workflow's child is a second entry, with packages that the copy does not have.
  const workflow = join(ROOT, 'cli', 'workflow')
  cpSync(join(ROOT, 'cli'), join(root, 'cli'), { recursive: true, filter: (path) => path !== workflow })
  for (const name of names) {
    const file = join(root, 'cli', 'verbs', `${name}.ts`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(
      file,
      verbs[name] ?? 'export const run = async () => ({ ok: true, value: { data: null, text: () => "" } })',
    )
  }
  return root
}
