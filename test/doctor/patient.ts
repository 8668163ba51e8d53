import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type Examined, examine, lookAround, type Scene } from '../../cli/doctor/check.ts'
import { CHECKS } from '../../cli/doctor/registry.ts'
import { isolatedEnv } from '../rig/temp.ts'

export type Finding = Examined['findings'][number]

const NOW = new Date('2030-01-01T00:00:00Z')

/** A folder as doctor sees it. */
export const sceneAt = (cwd: string, { hosts = false } = {}): Promise<Scene> =>
  lookAround(
    {
      cwd,
      env: isolatedEnv(),
      tell: () => {},
      signal: new AbortController().signal,
      clock: () => NOW,
      random: (bytes) => 'a'.repeat(2 * bytes),
    },
    hosts,
  )

/** Orphans are searched for on the whole machine, where other test files plant some: their test is in `e2e/doctor.test.ts`. */
const OURS = CHECKS.filter(({ name }) => name !== 'orphans')

/** What every check finds in a folder that is not in order. Whether the machine has bubblewrap is not the folder's. */
export async function troubles(
  cwd: string,
  options: { fix?: boolean; hosts?: boolean } = {},
): Promise<Finding[]> {
  const { findings } = await examine(await sceneAt(cwd, options), OURS, { fix: options.fix ?? false })
  return findings.filter(({ level, code }) => level !== 'ok' && code !== 'isolation_missing')
}

export const codesOf = (findings: readonly Finding[]): string[] =>
  findings.map(({ code, level, fixable }) => `${level} ${code}${fixable ? ' fixable' : ''}`)

/** Changes a file for the length of the work. */
export async function withText(
  file: string,
  change: (text: Buffer) => string | Buffer,
  work: () => Promise<void>,
) {
  const before = readFileSync(file)
  writeFileSync(file, change(before))
  try {
    await work()
  } finally {
    writeFileSync(file, before)
  }
}

/** Takes a file or folder away for the length of the work; what stands there afterwards gives way to it. */
export async function without(path: string, work: () => Promise<void>) {
  renameSync(path, `${path}.away`)
  try {
    await work()
  } finally {
    rmSync(path, { recursive: true, force: true })
    renameSync(`${path}.away`, path)
  }
}

/** The text of a lock whose owner is dead for certain: no process starts before the boot. */
export const deadOwner = (more: Record<string, unknown> = {}): string =>
  JSON.stringify({ pid: 1, started: '0@00000000', host: hostname(), nonce: 'n', ...more })

export const at = (root: string, ...parts: string[]): string => join(root, '.assay', ...parts)
