/** requirements.txt, pyproject.toml, uv.lock and poetry.lock. */
import { parse } from 'smol-toml'
import { type JsonObject, recordOf } from '../json.ts'
import { itemsOf, type NamedPackage, type ReadPackages, textOf } from './file.ts'

/** As PEP 503 compares names. */
export const nameOf = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-')

const NAME = /^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:@\s*(\S+))?/

/** One requirement as PEP 508 writes it; a file of the repository is none. */
export function requirement(text: string): NamedPackage[] {
  const address = /^(?:[a-z+]+:\/\/|git@)\S+/i.exec(text)?.[0]
  if (address !== undefined) {
    const egg = /[#&]egg=([^&[]+)/.exec(address)?.[1]
    return [{ name: egg === undefined ? address : nameOf(egg), from: withoutVersion(address) }]
  }
  if (/^\.{0,2}\//.test(text) || /^\.+(\[|$)/.test(text)) return []
  const [, name, from] = NAME.exec(text) ?? []
  if (name === undefined) return []
  return [{ name: nameOf(name), from: from === undefined ? null : withoutVersion(from) }]
}

const withoutVersion = (address: string): string =>
  address.replace(/#.*$/, '').replace(/(?<=.[^/])@[^@/]*$/, '')

export const isConstraints = (path: string): boolean =>
  /(^|\/)[\w.-]*constraints[\w.-]*\.(txt|in)$/.test(path)

export const isRequirements = (path: string): boolean =>
  /(^|\/)[\w.-]*requirements[\w.-]*\.(txt|in)$/.test(path) ||
  /(^|\/)requirements\/[^/]+\.(txt|in)$/.test(path)

export const readRequirements: ReadPackages = (text) => {
  const lines = text.replace(/\\\r?\n/g, ' ').split(/\r?\n/)
  const named = lines.flatMap((line) => {
    const said = line.replace(/(^|\s)#.*$/, '').trim()
    const option = /^(-\w|--[\w-]+)[\s=]*(\S*)/.exec(said)
    if (!option) return said === '' ? [] : requirement(said)
    const [, flag = '', value = ''] = option
    if (flag === '-e' || flag === '--editable') return requirement(value)
    // A file that nobody would read, or a further place to get packages from.
    if (flag === '-c' || flag === '--constraint')
      return isConstraints(value) || isRequirements(value) ? [] : [optionPackage(flag, value)]
    if (flag === '-r' || flag === '--requirement')
      return isRequirements(value) ? [] : [optionPackage(flag, value)]
    return ELSEWHERE.includes(flag) ? [optionPackage(flag, value)] : []
  })
  return { named }
}

const ELSEWHERE = ['-i', '--index-url', '--extra-index-url', '-f', '--find-links']
const optionPackage = (flag: string, value: string): NamedPackage => ({
  name: `${flag} ${value}`,
  from: null,
})

/** A constraint adds nothing, but it may say from where a package comes. */
export const readConstraints: ReadPackages = (text) => ({
  named: readRequirements(text).named.filter(({ name, from }) => from !== null || name.startsWith('-')),
})

export const readPyproject: ReadPackages = (text) => {
  const toml = recordOf(parse(text))
  const project = recordOf(toml.project)
  const tool = recordOf(toml.tool)
  const poetry = recordOf(tool.poetry)
  const lists = [
    project.dependencies,
    ...Object.values(recordOf(project['optional-dependencies'])),
    ...Object.values(recordOf(toml['dependency-groups'])),
    recordOf(toml['build-system']).requires,
    ...Object.values(recordOf(recordOf(tool.pdm)['dev-dependencies'])),
    ...Object.values(recordOf(recordOf(tool.hatch).envs)).flatMap((one) => [
      recordOf(one).dependencies,
      recordOf(one)['extra-dependencies'],
    ]),
  ]
  const tables = [
    poetry.dependencies,
    poetry['dev-dependencies'],
    poetry['requires-plugins'],
    ...Object.values(recordOf(poetry.group)).map((group) => recordOf(group).dependencies),
  ]
  return {
    named: [
      ...lists.flatMap((list) => itemsOf(list).flatMap((one) => requirement(textOf(one) ?? ''))),
      ...tables.flatMap((table) =>
        Object.entries(recordOf(table)).flatMap(([name, one]) => ofPoetry(name, one)),
      ),
      ...inUv(recordOf(tool.uv)),
      ...indexes(tablesIn(poetry.source).map(({ url }) => url)),
    ],
  }
}

/** What `[tool.uv]` says, and uv.toml. */
function inUv(uv: JsonObject): NamedPackage[] {
  // In these, a package is only replaced by one from another address.
  const replaced = [uv['override-dependencies'], uv['constraint-dependencies']].flatMap((list) =>
    itemsOf(list).flatMap((one) => requirement(textOf(one) ?? '').filter(({ from }) => from !== null)),
  )
  return [
    ...itemsOf(uv['dev-dependencies']).flatMap((one) => requirement(textOf(one) ?? '')),
    ...replaced,
    ...Object.entries(recordOf(uv.sources)).flatMap(([name, wanted]) =>
      tablesIn(wanted).flatMap((one) => {
        const from = addressIn(one)
        return from === null ? [] : [{ name: nameOf(name), from }]
      }),
    ),
    ...indexes([
      uv['index-url'],
      ...itemsOf(uv['extra-index-url']),
      ...itemsOf(uv['find-links']),
      ...tablesIn(uv.index).map(({ url }) => url),
    ]),
  ]
}

export const readUvToml: ReadPackages = (text) => {
  const uv = recordOf(parse(text))
  return { named: [...inUv(uv), ...inUv(recordOf(uv.pip))] }
}

const PYPI = /^https:\/\/pypi\.org\/simple\/?$/

/** Further places to get packages from. */
export const indexes = (addresses: readonly unknown[]): NamedPackage[] =>
  addresses.flatMap((one) => {
    const address = textOf(one)
    return address === null || PYPI.test(address) ? [] : [{ name: `index ${address}`, from: null }]
  })

/** One, or a list of which each holds on other platforms. */
export const tablesIn = (wanted: unknown): JsonObject[] =>
  Array.isArray(wanted) ? wanted.map(recordOf) : [recordOf(wanted)]

function ofPoetry(name: string, wanted: unknown): NamedPackage[] {
  if (name === 'python') return []
  return tablesIn(wanted)
    .filter(({ path }) => textOf(path) === null)
    .map((table) => ({ name: nameOf(name), from: addressIn(table) }))
}

export const addressIn = (source: JsonObject): string | null =>
  textOf(source.git) ?? textOf(source.url) ?? textOf(source.index) ?? textOf(source.source)

/** uv.lock, poetry.lock, pdm.lock and pylock.toml. */
export const readPythonLock: ReadPackages = (text) => {
  const named: NamedPackage[] = []
  const needs = new Map<string, string[]>()
  const file = recordOf(parse(text))
  for (const one of [...itemsOf(file.package), ...itemsOf(file.packages)].map(recordOf)) {
    const name = nameOf(textOf(one.name) ?? '')
    const source = recordOf(one.source)
    if (LOCAL.some((key) => Object.hasOwn(source, key)) || source.type === 'directory') continue
    const registry = textOf(source.registry)
    const from = registry === 'https://pypi.org/simple' ? null : (registry ?? addressIn(source))
    named.push({ name, from: from === null ? null : withoutVersion(from), locked: true })
    needs.set(name, [...(needs.get(name) ?? []), ...neededBy(one)])
  }
  return { named, needs }
}

const LOCAL = ['virtual', 'editable', 'directory', 'path']

/** uv lists tables with a name, poetry has a table by name. */
function neededBy(one: JsonObject): string[] {
  const lists = [
    one.dependencies,
    ...Object.values(recordOf(one['optional-dependencies'])),
    ...Object.values(recordOf(one['dev-dependencies'])),
  ]
  return lists
    .flatMap((list) =>
      Array.isArray(list)
        ? list.map((each) => textOf(recordOf(each).name) ?? NAME.exec(textOf(each) ?? '')?.[1] ?? '')
        : Object.keys(recordOf(list)),
    )
    .map(nameOf)
}
