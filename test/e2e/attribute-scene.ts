import { type Files, hook, makeProject, type Project, type SpecParts } from './project.ts'

/** A file with so many switches, far enough from each other that git makes a hunk of each. `on`: those that are 1. */
export function switches(
  count: number,
  on: readonly number[] = [],
  more: Readonly<Record<number, string>> = {},
): Files {
  const blocks = Array.from({ length: count }, (_, i) => {
    const n = i + 1
    return [
      `part ${n} ${more[n] ?? (on.includes(n) ? 1 : 0)}`,
      ...Array.from({ length: 7 }, (_, k) => `# ${n}.${k}`),
    ]
  })
  return { 'src/parts.txt': `${blocks.flat().join('\n')}\n` }
}

export const all = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

/**
 * Its metric is 100 less `gain`, an awk expression of `p[1]` … `p[count]`. `breaks`: an awk expression; when it is true the
 * benchmark fails and prints `says`.
 */
export function switchProject(
  count: number,
  gain: string,
  {
    spec = {},
    breaks = '0',
    says = 'it does not work',
    env = {},
  }: { spec?: SpecParts; breaks?: string; says?: string; env?: Record<string, string> } = {},
): Project {
  const program = `$1 == "part" { p[$2] = $3 }
END { if (${breaks}) { print "${says}" > "/dev/stderr"; exit 3 } printf "METRIC ms=%s\\n", 100 - (${gain}) }
`
  const files = { ...switches(count), 'bench/cost.awk': program }
  return makeProject({
    spec,
    env,
    files: { ...files, ...hook('awk -f bench/cost.awk src/parts.txt; exit $?') },
  })
}

/** What `attribute` answers. */
export interface Found {
  ended: boolean
  tests: number
  parts: { id: string; state: string; estimate: number | null; lines: number; message: string | null }[]
  lines: { all: number; kept: number }
  interactions: { units: string[]; beyond: number }[]
  reduced: { experiment: string; status: string; value: number | null } | null
  summary: string
}

export const statesOf = ({ parts }: Found): Record<string, string> =>
  Object.fromEntries(parts.map(({ id, state }) => [id, state]))
export const paying = (found: Found): string[] =>
  found.parts.filter(({ state }) => state === 'pays').map(({ id }) => id)
