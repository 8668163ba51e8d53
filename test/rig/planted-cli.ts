import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTemp } from './temp.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const VERB_MODULES = /import\('\.\.\/([a-z]+)\.ts'\)/g

/**
 * A copy of the real launcher, main and parser in a fresh folder whose verbs do what the test plants: name → text of
 * the module. Verbs that are not planted answer null. Build it with `build({ root })`.
 */
export function plantCli(verbs: Record<string, string>): string {
  const root = makeTemp('cli')
  const commands = join(ROOT, 'cli', 'commands')
  const copy = (path: string) => cpSync(join(ROOT, path), join(root, path), { recursive: true })
  for (const path of ['package.json', 'package-lock.json', 'bin/assay.cjs', 'scripts/build.mjs']) copy(path)
  const names = new Set<string>()
  for (const file of readdirSync(join(commands, 'verbs'))) {
    const text = readFileSync(join(commands, 'verbs', file), 'utf8')
    for (const match of text.matchAll(VERB_MODULES)) if (match[1] !== undefined) names.add(match[1])
  }
  // The workflow's child is a second entry, with packages that the copy does not have.
  const workflow = join(ROOT, 'cli', 'workflow')
  cpSync(join(ROOT, 'cli'), join(root, 'cli'), { recursive: true, filter: (path) => path !== workflow })
  for (const name of names) {
    const file = join(root, 'cli', 'commands', `${name}.ts`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(
      file,
      verbs[name] ?? 'export const run = async () => ({ ok: true, value: { data: null, text: () => "" } })',
    )
  }
  return root
}
