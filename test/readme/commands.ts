/** What a newcomer would copy from the README: the shell blocks of a section, in their order. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const README = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8')

/** A line `# Python: COMMAND` is what Python takes instead of the line above it. */
export function shellBlocks(section: string, language: 'node' | 'python'): string[] {
  const after = README.split(`\n## ${section}\n`)[1]?.split('\n## ')[0]
  if (after === undefined) throw new Error(`README.md has no section ${section}`)
  return [...after.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
    language === 'node' ? block : block.replace(/^.*\n# Python: (.*)$/gm, '$1'),
  )
}
