/** Which processes hold memory of an accelerator, as `nvidia-smi` says. */
import { execute } from './execute.ts'

export interface AcceleratorHolder {
  pid: number
  mib: number
}

const QUERY = ['--query-compute-apps=pid,used_memory', '--format=csv,noheader,nounits'] as const
const LIMIT_MS = 3000

/** Best effort: none where the program is missing or fails. Memory that it does not know counts as 0. */
export async function acceleratorHolders({
  env,
  signal,
}: {
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}): Promise<AcceleratorHolder[]> {
  const asked = await execute({
    argv: ['nvidia-smi', ...QUERY],
    env,
    timeoutMs: LIMIT_MS,
    maxBytes: 65_536,
    signal,
  })
  if (asked.startError || asked.code !== 0) return []
  return asked.stdout
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [, pid, mib] = /^\s*(\d+)\s*,\s*(\d+)?/.exec(line) ?? []
      return pid === undefined ? [] : [{ pid: Number(pid), mib: Number(mib ?? 0) }]
    })
}
