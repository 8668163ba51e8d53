/** Cargo.toml and Cargo.lock. */
import { parse } from 'smol-toml'
import { type JsonObject, recordOf } from '../json.ts'
import { itemsOf, type NamedPackage, type ReadPackages, textOf } from './file.ts'

/** Cargo takes both for the same crate. */
const nameOf = (name: string): string => name.toLowerCase().replaceAll('_', '-')

/** Cargo still reads the older names. */
const SECTIONS = [
  'dependencies',
  'dev-dependencies',
  'dev_dependencies',
  'build-dependencies',
  'build_dependencies',
]

export const readCargoToml: ReadPackages = (text) => {
  const toml = recordOf(parse(text))
  const tables = [toml, recordOf(toml.workspace), ...Object.values(recordOf(toml.target)).map(recordOf)]
  const sections = [
    ...tables.flatMap((table) => SECTIONS.map((section) => recordOf(table[section]))),
    ...Object.values(recordOf(toml.patch)).map(recordOf),
    recordOf(toml.replace),
  ]
  return {
    named: sections.flatMap((section) =>
      Object.entries(section).flatMap(([name, one]) => crate(name, recordOf(one))),
    ),
  }
}

/** `.cargo/config.toml`: it may patch crates, and say from where all of them come. */
export const readCargoConfig: ReadPackages = (text) => {
  const sources = Object.values(recordOf(recordOf(parse(text)).source)).map(recordOf)
  const addresses = sources.flatMap((one) => textOf(one.registry) ?? textOf(one.git) ?? [])
  return {
    named: [...readCargoToml(text).named, ...addresses.map((one) => ({ name: `source ${one}`, from: null }))],
  }
}

/** `workspace = true` stands for what the workspace names. */
function crate(name: string, wanted: JsonObject): NamedPackage[] {
  if (textOf(wanted.path) !== null || wanted.workspace === true) return []
  const from = textOf(wanted.git) ?? textOf(wanted.registry) ?? textOf(wanted['registry-index'])
  return [{ name: nameOf(textOf(wanted.package) ?? name.replace(/:.*$/, '')), from }]
}

const CRATES_IO =
  /^(registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index|sparse\+https:\/\/index\.crates\.io\/)/

export const readCargoLock: ReadPackages = (text) => {
  const named: NamedPackage[] = []
  const needs = new Map<string, string[]>()
  for (const one of itemsOf(recordOf(parse(text)).package).map(recordOf)) {
    const source = textOf(one.source)
    // A crate of the workspace itself.
    if (source === null) continue
    const name = nameOf(textOf(one.name) ?? '')
    named.push({ name, from: CRATES_IO.test(source) ? null : source.replace(/[?#].*$/, ''), locked: true })
    const needed = itemsOf(one.dependencies).map((each) => nameOf((textOf(each) ?? '').split(' ')[0] ?? ''))
    needs.set(name, [...(needs.get(name) ?? []), ...needed])
  }
  return { named, needs }
}
