/** When a metric was not found: what the output has instead, as clauses of the message. Pure. */

import type { ReadFrom } from './benchmark-answer.ts'
import { numbersIn, readToolJson } from './json.ts'
import { stripAnsi } from './lines.ts'
import { jsonIn } from './presets/preset.ts'
import { type PresetName, recognise, type Texts } from './presets/registry.ts'

const MOST = 8

export interface Hints {
  /** Clauses. */
  clauses: string[]
  /** The tool that `measure.read` should name. */
  preset: PresetName | null
}

export function hintsOn(texts: Texts, read: ReadFrom, metric: string): Hints {
  const known = recognise(texts)
  const using = typeof read === 'object' && 'preset' in read ? read.preset : null
  if (known && known.preset.name !== using) {
    const { preset, hint } = known
    const names = preset.metrics.map(({ name }) => name)
    const renamed = names.includes(metric)
      ? ''
      : `, and let metric.name be one of ${names.slice(0, 6).join(', ')}`
    const clauses = [
      `it looks like the output of ${preset.name}: write measure: { read: ${preset.name} }${renamed}${hint === null ? '' : `; ${hint}`}`,
    ]
    return { clauses, preset: preset.name }
  }
  if (known?.hint) return { clauses: [known.hint], preset: null }
  const csv = csvIn(texts.result ?? texts.stdout ?? '')
  return { clauses: [...numbers(texts, read), ...(csv === null ? [] : [csv])], preset: null }
}

function numbers(texts: Texts, read: ReadFrom): string[] {
  const pattern = typeof read === 'object' && 'regex' in read
  if (pattern) return []
  for (const [where, text] of [
    ['the result file', texts.result],
    ['standard output', texts.stdout],
  ] as const) {
    if (text === null) continue
    const whole = where === 'the result file' ? readToolJson(text) : { value: jsonIn(stripAnsi(text)) }
    const found = 'value' in whole ? numbersIn(whole.value, MOST + 1) : []
    if (found.length === 0) continue
    const shown = found.slice(0, MOST).map(({ pointer, value }) => `${pointer} = ${value}`)
    const [first] = found
    return [
      `JSON in ${where} has ${shown.join(', ')}${found.length > MOST ? ', …' : ''}: name one with measure: { read: { json: ${JSON.stringify(first?.pointer ?? '')} } }`,
    ]
  }
  return []
}

/** Two lines and more with the same number of commas, and a number in one of them. */
function csvIn(text: string): string | null {
  const lines = stripAnsi(text.slice(0, 20_000)).trim().split(/\r?\n/)
  const counts = lines.slice(0, 20).map((line) => line.split(',').length)
  if (lines.length < 2 || (counts[0] ?? 0) < 2 || new Set(counts).size > 1) return null
  if (!lines.slice(1).some((line) => /(?:^|,)\s*-?\d/.test(line))) return null
  return 'it looks like a table (CSV), which is not read: let the tool write JSON, or print METRIC name=value'
}
