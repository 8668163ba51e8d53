/** The parts of this package that a host needs, as a folder of their own; and its skills as single files. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'

/**
 * Copies what the package would publish: a clone has much more, which some hosts would copy along. Without the lists of
 * dependencies, for which some hosts would start a package manager.
 */
export function stageBundle(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { devDependencies: _, scripts: __, ...pack } = packageOf(root)
  for (const name of [...(pack.files as string[]), 'LICENSE', 'README.md'])
    if (existsSync(join(root, name))) cpSync(join(root, name), join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(pack, null, 2)}\n`)
}

export const versionOf = (root: string): string => String(packageOf(root).version)

const packageOf = (root: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Name of a skill → its page, from the top of the package. Those of categories of tasks lie one folder deeper. */
export function skillPages(root: string): Map<string, string> {
  const files = readdirSync(join(root, 'skills'), { recursive: true, encoding: 'utf8' }).sort()
  return new Map(
    files
      .filter((file) => basename(file) === 'SKILL.md')
      .map((file) => [basename(dirname(file)), `skills/${file.split(sep).join('/')}`]),
  )
}

/** The program beside a plugin's skills, and what flag it is called with. */
const BESIDE = /`\.\.\/\.\.\/bin\/assay( --version)?`\s+from\s+the\s+folder\s+of\s+this\s+file/g

/**
 * Path below a folder of skills → text. Loose skills share that folder with others, so their names begin with `assay-`;
 * and they have no `../../bin` beside them, so the program is named by its path.
 */
export function looseSkills(root: string): Map<string, string> {
  return new Map(
    [...skillPages(root)].map(([name, page]) => [
      join(`assay-${name}`, 'SKILL.md'),
      readFileSync(join(root, page), 'utf8')
        .replace(/^name: .*$/m, `name: assay-${name}`)
        .replace(/\bskill `(\w+)`/g, 'skill `assay-$1`')
        .replace(BESIDE, `\`${join(root, 'bin', 'assay')}$1\``),
    ]),
  )
}
