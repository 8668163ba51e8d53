import { PRESETS } from '../evaluate/presets/registry.ts'

/** Every tool whose output is read as it is, as a Markdown table for the guide. */
export function presetTable(): string {
  const rows = PRESETS.map(({ name, example, reads, metrics, more }) => {
    const named = metrics.map((metric) => `\`${metric.name}\`${inUnit(metric.unit)}`)
    return `| \`${name}\` | \`${example}\` | ${reads} | ${[...named, ...(more ? [more] : [])].join(', ')} |`
  })
  return `${['| preset | measure.command | what is read | metric.name |', '|---|---|---|---|', ...rows].join('\n')}\n`
}

const inUnit = (unit: string | null): string => (unit === null ? '' : ` (${unit})`)
