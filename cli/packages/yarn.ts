/** The lock files of yarn and bun, and what says from where they get packages. */
import { parse as parseToml } from 'smol-toml'
import { parse } from 'yaml'
import { recordOf } from '../json.ts'
import { itemsOf, type NamedPackage, type PackageFile, type ReadPackages, textOf } from './file.ts'
import { inSections, LOCAL, sourceOf } from './npm.ts'

/** `a@^1.0.0`; `b@npm:a@^1.0.0` is a under another name. */
const DESCRIPTOR = /^(?:@?[^@]+@npm:(?=@?[^@/]+(?:\/[^@]+)?@))?(@?[^@]+)@(.*)$/

export const readYarnLock: ReadPackages = (text) => (/^__metadata:/m.test(text) ? newer(text) : older(text))

/** `linkType` tells a folder of the repository from a package. */
function newer(text: string): PackageFile {
  const found: Required<PackageFile> = { named: [], needs: new Map() }
  for (const [key, one] of Object.entries(recordOf(parse(text)))) {
    if (key === '__metadata') continue
    const entry = recordOf(one)
    const [, name = key, from = ''] = DESCRIPTOR.exec(textOf(entry.resolution) ?? key) ?? []
    if (/^(?:workspace|link|portal):/.test(from)) continue
    const elsewhere = /^(?:npm|patch|file):/.test(from) ? null : from.replace(/#.*$/, '')
    add(found, { name, from: elsewhere }, Object.entries(recordOf(entry.dependencies)))
  }
  return found
}

/** Version 1 has a format of its own: a key, and indented below it words in pairs. */
function older(text: string): PackageFile {
  const found: Required<PackageFile> = { named: [], needs: new Map() }
  for (const block of text.split(/^(?=[^\s#])/m)) {
    const [key = '', ...lines] = block.split(/\r?\n/)
    if (!/^[^\s#].*:\s*$/.test(key)) {
      if (/^[^\s#]/.test(key)) throw new Error(`no key of yarn.lock: ${key.slice(0, 80)}`)
      continue
    }
    const first = unquoted(key.replace(/:\s*$/, '').split(/,\s*/)[0] ?? '')
    const [, name = first, wanted = ''] = DESCRIPTOR.exec(first) ?? []
    const pairs = lines.map((line) => /^( +)("[^"]*"|\S+)\s+(.+)$/.exec(line) ?? [])
    const resolved = pairs.find(([, indent, word]) => indent?.length === 2 && word === 'resolved')?.[3]
    if (resolved === undefined && LOCAL.test(wanted)) continue
    const needed = pairs.flatMap(([, indent = '', word = '', value = '']): [string, string][] =>
      indent.length > 2 ? [[unquoted(word), unquoted(value)]] : [],
    )
    add(found, { name, from: sourceOf(resolved === undefined ? null : unquoted(resolved)) }, needed)
  }
  return found
}

const unquoted = (word: string): string => word.trim().replace(/^"(.*)"$/, '$1')

function add(
  { named, needs }: Required<PackageFile>,
  { name: said, from }: NamedPackage,
  needed: readonly [name: string, wanted: unknown][],
): void {
  const name = said.toLowerCase()
  named.push({ name, from, locked: true })
  const names = needed.map(([as, wanted]) => DESCRIPTOR.exec(`${as}@${textOf(wanted)}`)?.[1] ?? as)
  needs.set(name, [...(needs.get(name) ?? []), ...names.map((one) => one.toLowerCase())])
}

const registry = (address: unknown): NamedPackage[] => {
  const said = textOf(address) ?? textOf(recordOf(address).url)
  return said === null ? [] : [{ name: `registry ${said}`, from: null }]
}

/** .yarnrc.yml: registries, plugins, and what packages need whatever their own manifests say. */
export const readYarnrc: ReadPackages = (text) => {
  const file = recordOf(parse(text))
  const scopes = [file, ...Object.values(recordOf(file.npmScopes)).map(recordOf)]
  const plugins = itemsOf(file.plugins).map((one) => textOf(one) ?? textOf(recordOf(one).spec))
  return {
    named: [
      ...scopes.flatMap((one) => registry(one.npmRegistryServer)),
      ...plugins.flatMap((one) =>
        one === null || LOCAL.test(one) ? [] : [{ name: `plugin ${one}`, from: null }],
      ),
      ...Object.values(recordOf(file.packageExtensions)).flatMap((one) => inSections(recordOf(one))),
    ],
  }
}

/** .yarnrc of yarn 1: a word and its value in each line. */
export const readOlderYarnrc: ReadPackages = (text) => ({
  named: text
    .split(/\r?\n/)
    .flatMap((line) => registry(/^\s*"?(?:@[^\s:"]+:)?registry"?\s+"?([^\s"]+)"?\s*$/.exec(line)?.[1])),
})

/** JSON with commas behind last members, which YAML allows, too. Each package: `["a@1.0.0", registry, { dependencies }, …]`. */
export const readBunLock: ReadPackages = (text) => {
  const found: Required<PackageFile> = { named: [], needs: new Map() }
  for (const one of Object.values(recordOf(recordOf(parse(text)).packages)).map(itemsOf)) {
    const [, name = '', version = ''] = DESCRIPTOR.exec(textOf(one[0]) ?? '') ?? []
    if (LOCAL.test(version)) continue
    const address = /[:/]/.test(version) ? version.replace(/#.*$/, '') : textOf(one[1]) || null
    const more = recordOf(one.find((part) => typeof part === 'object'))
    const needed = [more.dependencies, more.optionalDependencies, more.peerDependencies].flatMap((section) =>
      Object.entries(recordOf(section)),
    )
    add(found, { name, from: address }, needed)
  }
  return found
}

export const readBunfig: ReadPackages = (text) => {
  const install = recordOf(recordOf(parseToml(text)).install)
  return {
    named: [install.registry, ...Object.values(recordOf(install.scopes))].flatMap(registry),
  }
}

export const readBinaryLock: ReadPackages = () => {
  throw new Error('it is binary: let bun write bun.lock (bun install --save-text-lockfile)')
}
