import { PRESETS } from '../evaluate/presets/registry.ts'
import { POLICIES } from '../search/policies.ts'
import type { Key, Kind } from './kind.ts'
import { SPEC } from './schema.ts'

/** A key of the spec under its path: `metric.name`, `gates[].command`. */
export interface SpecKey {
  path: string
  key: Key
}

/** Every key in declaration order, the two that may be written in several ways too. */
export function specKeys(): SpecKey[] {
  const found: SpecKey[] = []
  const add = (kind: Kind, path: string): void => {
    if (kind.is === 'list') add(kind.of, `${path}[]`)
    if (kind.is === 'map') add(kind.of, `${path}.NAME`)
    if (kind.is === 'either') for (const member of kind.of) add(member, path)
    if (kind.is !== 'keys') return
    for (const [name, key] of Object.entries(kind.keys)) {
      const at = path === '' ? name : `${path}.${name}`
      found.push({ path: at, key })
      add(key.kind, at)
    }
  }
  add(SPEC, '')
  return found
}

/** Every key in declaration order as a Markdown table, for the guide. */
export function keyTable(): string {
  const all = specKeys()
  const rows = all.filter(({ key }) => key.presence !== 'later').map(row)
  const coming = all.filter(({ key }) => key.presence === 'later')
  const names = coming.map(({ path }) => `\`${path}\``).join(', ')
  const head = ['| key | value | default | meaning |', '|---|---|---|---|']
  return `${[...head, ...rows].join('\n')}\n\nKnown, but refused until a later release: ${names}.\n`
}

function row({ path, key }: SpecKey): string {
  const cells = [`\`${path}\``, writtenAs(key.kind), defaultOf(key), key.doc]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** As Markdown; empty for a mapping or a list of defaults. */
function defaultOf({ presence, written, unless }: Key): string {
  if (presence === 'required')
    return unless === undefined ? '**required**' : `**required** without \`${unless}\``
  if (presence === 'optional') return 'not set'
  return typeof written === 'object' ? '' : `\`${written}\``
}

/** What is written there, in words. */
export function writtenAs(kind: Kind): string {
  switch (kind.is) {
    case 'text':
      return kind.noun.replace(/^an? |^the /, '')
    case 'number':
      return `${kind.whole ? 'whole number' : 'number'}${boundsOf(kind.min, kind.max, kind.above)}`
    case 'boolean':
      return 'true, false'
    case 'choice':
      return kind.values.map((value) => `\`${value}\``).join(', ')
    case 'list':
      return kind.of.is === 'keys' ? 'list of mappings' : `list of ${writtenAs(kind.of)}`
    case 'map':
      return 'names with values'
    case 'keys':
      return 'mapping'
    case 'either':
      return kind.of.map(writtenAs).join(' or ')
  }
}

function boundsOf(min: number | null, max: number | null, above: boolean): string {
  if (min !== null && max !== null) return min === max ? ` ${min}` : ` ${min} to ${max}`
  if (min !== null) return above ? ` above ${min}` : ` from ${min}`
  return ''
}

/** Every policy of the registry as a Markdown table, for the guide. */
export function policyTable(): string {
  const rows = POLICIES.map(({ name, summary }) => `| \`${name}\` | ${summary} |`)
  return `${['| policy | picks |', '|---|---|', ...rows].join('\n')}\n`
}

/** Every tool whose output is read as it is, as a Markdown table for the guide. */
export function presetTable(): string {
  const rows = PRESETS.map(({ name, example, reads, metrics, more }) => {
    const named = metrics.map((metric) => `\`${metric.name}\`${inUnit(metric.unit)}`)
    return `| \`${name}\` | \`${example}\` | ${reads} | ${[...named, ...(more ? [more] : [])].join(', ')} |`
  })
  return `${['| preset | measure.command | what is read | metric.name |', '|---|---|---|---|', ...rows].join('\n')}\n`
}

const inUnit = (unit: string | null): string => (unit === null ? '' : ` (${unit})`)
