/** Older files of Python that name packages: setup.py, setup.cfg, Pipfile with its lock, pip.conf, and environments of conda. */
import { parse as parseToml } from 'smol-toml'
import { parse } from 'yaml'
import { recordOf } from '../json.ts'
import { itemsOf, type NamedPackage, type ReadPackages, textOf } from './file.ts'
import { addressIn, indexes, nameOf, readRequirements, requirement, tablesIn } from './python.ts'

const KEYS = ['install_requires', 'setup_requires', 'tests_require', 'extras_require', 'dependency_links']

/**
 * The texts in the lists that setuptools reads. Where a list is computed, each text of the file that could be a requirement counts,
 * and that it is computed: code can put a package together in ways that nobody sees.
 */
export const readSetupPy: ReadPackages = (text) => {
  const code = text.replace(/(^|\s)#.*$/gm, '')
  const named: NamedPackage[] = []
  for (const { index, 0: whole, 1: key } of code.matchAll(LIST)) {
    const list = bracketed(code.slice(index + whole.length))
    if (list === null) named.push({ name: `${key} that is computed`, from: null }, ...textsIn(code))
    else named.push(...textsIn(list))
  }
  return { named }
}

const LIST = new RegExp(`\\b(${KEYS.join('|')})\\b["']?\\s*[=:]\\s*`, 'g')

/** Keys of mappings, as those of extras_require, are no packages. */
const textsIn = (code: string): NamedPackage[] =>
  [...code.matchAll(/(["'])((?:(?!\1)[^\n\\])*)\1(\s*:)?/g)].flatMap(({ 2: said = '', 3: isKey }) =>
    isKey === undefined && (/^[A-Za-z][\w.-]*\s*(?:[[<>=!~;@(].*)?$/.test(said) || said.includes('://'))
      ? requirement(said)
      : [],
  )

/** From an opening bracket to the one that closes it; null when none stands at the start, or words are between its texts. */
function bracketed(code: string): string | null {
  let depth = 0
  for (const { index, 0: part } of code.matchAll(/(["'])(?:(?!\1)[^\n\\])*\1|[[\](){}]|\S/g)) {
    if (/^[[({]$/.test(part)) depth++
    else if (/^[\])}]$/.test(part)) depth--
    else if (depth === 0 || !/^(?:["'].*|[,:])$/s.test(part)) return null
    if (depth === 0) return code.slice(0, index)
  }
  return null
}

export const readSetupCfg: ReadPackages = (text) => {
  const named: NamedPackage[] = []
  let section = ''
  let key = ''
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*([#;]|$)/.test(line)) continue
    const begun = /^\[(.*)\]/.exec(line)?.[1]
    if (begun !== undefined) {
      section = begun.trim()
      key = ''
      continue
    }
    const [, word, first = ''] = /^([\w.-]+)\s*[=:]\s*(.*)$/.exec(line) ?? []
    if (word !== undefined) key = word.replaceAll('-', '_').toLowerCase()
    const counts = section === 'options.extras_require' || (section === 'options' && KEYS.includes(key))
    const said = (word === undefined ? line : first).trim()
    if (counts && said !== '')
      named.push(
        ...(said.startsWith('file:')
          ? [{ name: `${key} ${said}`, from: null }]
          : // On the line of the key, a semicolon separates; below it begins a marker.
            (word === undefined ? [said] : said.split(/\s*;\s*/)).flatMap(requirement)),
      )
  }
  return { named }
}

/** Every table of packages has a name of its own. */
const NO_PACKAGES = ['source', 'requires', 'pipenv', 'scripts', '_meta']

const inPipfile = (file: unknown, locked: boolean): NamedPackage[] =>
  Object.entries(recordOf(file)).flatMap(([table, packages]) =>
    NO_PACKAGES.includes(table)
      ? []
      : Object.entries(recordOf(packages)).flatMap(([name, wanted]) =>
          tablesIn(wanted)
            .filter(({ path, editable }) => textOf(path) === null && editable !== true)
            .map((one) => ({
              name: nameOf(name),
              from: textOf(one.git) ?? textOf(one.file) ?? (locked ? null : addressIn(one)),
              ...(locked ? { locked: true as const } : {}),
            })),
        ),
  )

export const readPipfile: ReadPackages = (text) => {
  const file = parseToml(text)
  return { named: [...inPipfile(file, false), ...indexes(tablesIn(file.source).map(({ url }) => url))] }
}

export const readPipfileLock: ReadPackages = (text) => {
  const file = recordOf(JSON.parse(text))
  const sources = tablesIn(recordOf(file._meta).sources).map(({ url }) => url)
  return { named: [...inPipfile(file, true), ...indexes(sources)] }
}

/** pip.conf: options of pip, as in a file of requirements. */
export const readPipConf: ReadPackages = (text) => {
  const options = text.split(/\r?\n/).flatMap((line) => {
    const [, key, value] =
      /^\s*(index[-_]url|extra[-_]index[-_]url|find[-_]links)\s*[=:]\s*(.+)$/.exec(line) ?? []
    return key === undefined
      ? []
      : (value ?? '').split(/\s+/).map((one) => `--${key.replaceAll('_', '-')} ${one}`)
  })
  return readRequirements(options.join('\n'))
}

/** environment.yml of conda: packages of conda and of pip, and where they come from. */
export const readConda: ReadPackages = (text) => {
  const file = recordOf(parse(text))
  const channels = itemsOf(file.channels).flatMap((one) => textOf(one) ?? [])
  return {
    named: [
      ...itemsOf(file.dependencies).flatMap((one) =>
        typeof one === 'string'
          ? requirement(one.replace(/^[\w./:-]+::/, ''))
          : itemsOf(recordOf(one).pip).flatMap((line) => readRequirements(textOf(line) ?? '').named),
      ),
      ...channels.map((one) => ({ name: `channel ${one}`, from: null })),
    ],
  }
}
