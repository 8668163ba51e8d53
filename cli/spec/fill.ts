import type { Key, Kind } from './kind.ts'
import { accepts, isScalar, readScalar, type Written } from './scalar.ts'

/** What an absent key is read as: its default through the same reader as the user's own words, else null. */
export function fill(key: Key): unknown {
  return key.presence === 'default' ? read(key.kind, key.written) : null
}

function read(kind: Kind, written: Key['written']): unknown {
  if (kind.is === 'either') {
    const member = kind.of.find((one) => accepts(one, formOf(written).form))
    if (member) return read(member, written)
  }
  if (isScalar(kind)) {
    const scalar = readScalar(kind, formOf(written), 'a default', String(written))
    if ('value' in scalar) return scalar.value
  }
  if (kind.is === 'list' && Array.isArray(written)) return []
  if (kind.is === 'map') return {}
  if (kind.is === 'keys') {
    const entries = Object.entries(kind.keys).filter(([, key]) => key.presence !== 'later')
    return Object.fromEntries(entries.map(([name, key]) => [name, fill(key)]))
  }
  throw new Error(`a declared default does not hold: ${JSON.stringify(written)}`)
}

function formOf(written: Key['written']): Written {
  if (typeof written === 'string') return { form: 'text', value: written }
  if (typeof written === 'number') return { form: 'number', value: written }
  if (typeof written === 'boolean') return { form: 'boolean', value: written }
  return { form: Array.isArray(written) ? 'list' : 'mapping' }
}
