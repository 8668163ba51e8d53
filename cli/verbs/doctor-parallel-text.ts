/** Readiness for parallel work, for people. */

import type { Readiness } from '../doctor/parallel/readiness.ts'
import { counted } from '../evaluate/figure.ts'
import { call, next, type Said } from '../next.ts'
import type { Accelerator } from '../process.ts'
import { plain } from '../text.ts'

const MOST = 30
const LONGEST = 120

export function describeReadiness({
  spec,
  files,
  blockers,
  accelerators,
  slots,
  truncated,
}: Readiness): Said[] {
  if (spec === null)
    return [
      'parallel: no spec was found, so there is nothing to look at',
      next`  → write one: ${call('init', '--template')}`,
    ]
  const lines: Said[] = [
    `parallel: ${counted(files, 'file')} of the benchmark, gates and setup ${files === 1 ? 'was' : 'were'} read`,
  ]
  for (const { path, line, kind, blocks, text, advice } of blockers.slice(0, MOST)) {
    lines.push(
      `${blocks ? 'blocker ' : 'note    '} ${plain(path)}:${line} ${kind}: ${plain(text, LONGEST)}`,
      `         → ${advice}`,
    )
  }
  const more = Math.max(0, blockers.length - MOST) + truncated
  if (more > 0) lines.push(next`… and ${more} more: ${call('doctor', '--parallel', '--json')}`)
  lines.push(
    `accelerators of this machine: ${accelerators.map(acceleratorText).join('; ') || 'none was found'}`,
  )
  lines.push(`measure.slots: ${slots.proposed} (now ${slots.current}): ${slots.reason}`)
  return lines
}

const acceleratorText = ({ name, mib, used_mib: used }: Accelerator): string =>
  `${plain(name, 80)}${mib === null ? '' : `, ${mib} MiB`}${used === null ? '' : `, ${used} MiB in use`}`
