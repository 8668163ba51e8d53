import { POLICIES } from '../search/policies.ts'

/** Every policy of the registry as a Markdown table, for the guide. */
export function policyTable(): string {
  const rows = POLICIES.map(({ name, summary, params }) => {
    const knobs = Object.entries(params).map(([param, { default: usual }]) => `\`${param}\` (${usual})`)
    return `| \`${name}\` | ${summary} | ${knobs.join(', ')} |`
  })
  return `${['| policy | picks | search.params |', '|---|---|---|', ...rows].join('\n')}\n`
}
