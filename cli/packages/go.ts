/** go.mod and go.sum. */
import type { NamedPackage, ReadPackages } from './file.ts'

export const readGoMod: ReadPackages = (text) => {
  const named: NamedPackage[] = []
  let block: string | null = null
  for (const line of text.split(/\r?\n/)) {
    const [said = '', remark = ''] = line.split('//').map((part) => part.trim())
    if (block !== null && said.startsWith(')')) {
      block = null
      continue
    }
    const opened = /^(\w+)\s*\($/.exec(said)?.[1]
    if (opened !== undefined) {
      block = opened
      continue
    }
    const [verb, ...words] = block === null ? said.split(/\s+/) : [block, ...said.split(/\s+/)]
    if (verb === 'require') named.push(...moduleIn(words, /^indirect\b/.test(remark)))
    const arrow = words.indexOf('=>')
    if (verb === 'replace' && arrow >= 0) named.push(...moduleIn(words.slice(arrow + 1), false))
  }
  return { named }
}

/** A folder of the repository is no module of somebody else. */
function moduleIn([path = '']: readonly string[], locked: boolean): NamedPackage[] {
  const name = path.replace(/^["`]|["`]$/g, '').toLowerCase()
  if (name === '' || /^\.{0,2}\//.test(name) || /^\.+$/.test(name)) return []
  return [{ name, from: null, ...(locked ? { locked: true as const } : {}) }]
}

export const readGoSum: ReadPackages = (text) => ({
  named: text.split(/\r?\n/).flatMap((line) => moduleIn(line.trim().split(/\s+/), true)),
})
