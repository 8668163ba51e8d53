/** Processes of dead measurements that still hold an accelerator. Best effort: without nvidia-smi there are none. */
import { execute, findOrphans } from '../../process.ts'
import type { OpenRun } from '../../run/open.ts'
import type { Fact } from './fact.ts'

const QUERY = ['--query-compute-apps=pid,used_memory', '--format=csv,noheader'] as const
const LIMIT_MS = 3000

export async function acceleratorFacts({ env, signal }: OpenRun): Promise<Fact[]> {
  const orphans = findOrphans()
  if (orphans.length === 0) return []
  const asked = await execute({
    argv: ['nvidia-smi', ...QUERY],
    env,
    timeoutMs: LIMIT_MS,
    maxBytes: 65_536,
    signal,
  })
  if (asked.startError || asked.code !== 0) return []
  const held = new Map(
    asked.stdout
      .toString()
      .split('\n')
      .map((line) => line.split(',').map((part) => part.trim()))
      .map(([pid, memory]) => [Number(pid), memory ?? ''] as const),
  )
  return orphans.flatMap(({ process: { pid, started }, command }) =>
    held.has(pid)
      ? [
          {
            name: `orphan_accelerator:${pid}:${started.replaceAll(' ', '_')}`,
            message: `process ${pid} (${command}) outlived its measurement and holds ${held.get(pid)} of an accelerator: assay doctor --fix ends it`,
            experiments: [],
          },
        ]
      : [],
  )
}
