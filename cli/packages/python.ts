/** requirements.txt, pyproject.toml, uv.lock and poetry.lock. */
import { parse } from 'smol-toml'
import { itemsOf, type Members, membersOf, type NamedPackage, type ReadPackages, textOf } from './file.ts'

/** As PEP 503 compares names. */
const nameOf = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-')

const NAME = /^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:@\s*(\S+))?/

/** One requirement as PEP 508 writes it; a file of the repository is none. */
function requirement(text: string): NamedPackage[] {
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
  const toml = membersOf(parse(text))
  const project = membersOf(toml.project)
  const tool = membersOf(toml.tool)
  const poetry = membersOf(tool.poetry)
  const uv = membersOf(tool.uv)
  const lists = [
    project.dependencies,
    ...Object.values(membersOf(project['optional-dependencies'])),
    ...Object.values(membersOf(toml['dependency-groups'])),
    membersOf(toml['build-system']).requires,
    uv['dev-dependencies'],
    ...Object.values(membersOf(membersOf(tool.pdm)['dev-dependencies'])),
    ...Object.values(membersOf(membersOf(tool.hatch).envs)).flatMap((one) => [
      membersOf(one).dependencies,
      membersOf(one)['extra-dependencies'],
    ]),
  ]
  // In these, a package is only replaced by one from another address.
  const replaced = [uv['override-dependencies'], uv['constraint-dependencies']].flatMap((list) =>
    itemsOf(list).flatMap((one) => requirement(textOf(one) ?? '').filter(({ from }) => from !== null)),
  )
  // Further places to get packages from.
  const indexes = [
    uv['index-url'],
    ...itemsOf(uv['extra-index-url']),
    ...itemsOf(uv['find-links']),
    ...[uv.index, poetry.source].flatMap((list) => tablesIn(list).map(({ url }) => url)),
  ].flatMap((one) => textOf(one) ?? [])
  const tables = [
    poetry.dependencies,
    poetry['dev-dependencies'],
    poetry['requires-plugins'],
    ...Object.values(membersOf(poetry.group)).map((group) => membersOf(group).dependencies),
  ]
  return {
    named: [
      ...lists.flatMap((list) => itemsOf(list).flatMap((one) => requirement(textOf(one) ?? ''))),
      ...replaced,
      ...tables.flatMap((table) =>
        Object.entries(membersOf(table)).flatMap(([name, one]) => ofPoetry(name, one)),
      ),
      ...Object.entries(membersOf(uv.sources)).flatMap(([name, wanted]) =>
        tablesIn(wanted).flatMap((one) => {
          const from = addressIn(one)
          return from === null ? [] : [{ name: nameOf(name), from }]
        }),
      ),
      ...indexes.map((address) => ({ name: `index ${address}`, from: null })),
    ],
  }
}

/** One, or a list of which each holds on other platforms. */
const tablesIn = (wanted: unknown): Members[] =>
  Array.isArray(wanted) ? wanted.map(membersOf) : [membersOf(wanted)]

function ofPoetry(name: string, wanted: unknown): NamedPackage[] {
  if (name === 'python') return []
  return tablesIn(wanted)
    .filter(({ path }) => textOf(path) === null)
    .map((table) => ({ name: nameOf(name), from: addressIn(table) }))
}

const addressIn = (source: Members): string | null =>
  textOf(source.git) ?? textOf(source.url) ?? textOf(source.index) ?? textOf(source.source)

/** uv.lock and poetry.lock. */
export const readPythonLock: ReadPackages = (text) => {
  const named: NamedPackage[] = []
  const needs = new Map<string, string[]>()
  for (const one of itemsOf(membersOf(parse(text)).package).map(membersOf)) {
    const name = nameOf(textOf(one.name) ?? '')
    const source = membersOf(one.source)
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
function neededBy(one: Members): string[] {
  const lists = [
    one.dependencies,
    ...Object.values(membersOf(one['optional-dependencies'])),
    ...Object.values(membersOf(one['dev-dependencies'])),
  ]
  return lists
    .flatMap((list) =>
      Array.isArray(list)
        ? list.map((each) => textOf(membersOf(each).name) ?? '')
        : Object.keys(membersOf(list)),
    )
    .map(nameOf)
}
