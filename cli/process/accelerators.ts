/** Which accelerators this machine has, and which processes hold memory of one, as `nvidia-smi` and the devices say. */
import { readdirSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { execute } from './execute.ts'

export interface Accelerator {
  name: string
  /** null = not known. */
  mib: number | null
  used_mib: number | null
}

export interface AcceleratorHolder {
  pid: number
  mib: number
}

const HOLDERS = ['--query-compute-apps=pid,used_memory', '--format=csv,noheader,nounits'] as const
const DEVICES = ['--query-gpu=name,memory.total,memory.used', '--format=csv,noheader,nounits'] as const
const LIMIT_MS = 3000
/** Of other makers: AMD (one for all of them), Google and Intel, AWS, Habana. */
const OTHER_DEVICES = /^(?:kfd|accel\d+|neuron\d+|hl\d+)$/

interface Asking {
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}

/** Best effort, in the order of their numbers; those that `nvidia-smi` does not know come last, without their memory. */
export async function acceleratorsHere(asking: Asking): Promise<Accelerator[]> {
  const known = (await linesOf(DEVICES, asking)).flatMap((line) => {
    const [, name, mib, used] = /^\s*(.+?)\s*,\s*(\d+|\[.*?\])\s*,\s*(\d+|\[.*?\])\s*$/.exec(line) ?? []
    return name === undefined ? [] : [{ name, mib: numberIn(mib), used_mib: numberIn(used) }]
  })
  const others =
    platform() === 'darwin' && arch() === 'arm64'
      ? ['Apple GPU']
      : [...devices('/dev'), ...devices('/dev/accel')]
  return [...known, ...others.map((name) => ({ name, mib: null, used_mib: null }))]
}

const numberIn = (text: string | undefined): number | null =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : null

function devices(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => OTHER_DEVICES.test(name))
      .sort()
      .map((name) => `${folder}/${name}`)
  } catch {
    return []
  }
}

/** Best effort: none where the program is missing or fails. Memory that it does not know counts as 0. */
export async function acceleratorHolders(asking: Asking): Promise<AcceleratorHolder[]> {
  return (await linesOf(HOLDERS, asking)).flatMap((line) => {
    const [, pid, mib] = /^\s*(\d+)\s*,\s*(\d+)?/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), mib: Number(mib ?? 0) }]
  })
}

async function linesOf(query: readonly string[], { env, signal }: Asking): Promise<string[]> {
  const argv: [string, ...string[]] = ['nvidia-smi', ...query]
  const asked = await execute({ argv, env, timeoutMs: LIMIT_MS, maxBytes: 65_536, signal })
  return asked.startError || asked.code !== 0 ? [] : asked.stdout.toString().split('\n')
}
