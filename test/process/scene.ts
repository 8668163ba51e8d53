import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { type Job, type Supervised, supervise } from '../../cli/process.ts'
import { makeTemp } from '../rig/temp.ts'

export interface Scene {
  folder: string
  at(name: string): string
  text(name: string): string
  job(command: string | string[], more?: Partial<Job>): Job
  run(command: string | string[], more?: Partial<Job>): Promise<Supervised>
}

/** A folder with a job's output files in it. */
export function makeScene(): Scene {
  const folder = makeTemp('scene')
  const at = (name: string) => join(folder, name)
  const job = (command: string | string[], more: Partial<Job> = {}): Job => ({
    command,
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    timeoutMs: 30_000,
    stdout: at('out'),
    stderr: at('err'),
    outputCap: 64 * 1024 * 1024,
    ...more,
  })
  return {
    folder,
    at,
    text: (name) => readFileSync(at(name), 'utf8'),
    job,
    run: (command, more) => supervise(job(command, more)),
  }
}

/** Living processes whose environment, or command line, holds the text. */
export function processesWith(text: string, where: 'environ' | 'cmdline' = 'environ'): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.charAt(0)
        return state !== 'Z' && readFileSync(`/proc/${pid}/${where}`, 'latin1').includes(text)
      } catch {
        return false
      }
    })
}

export function alive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.charAt(0) !== 'Z'
  } catch {
    return false
  }
}

/** A program of ours as one JavaScript file: this Node cannot run TypeScript. */
export async function bundle(source: string, folder: string): Promise<string> {
  const outfile = join(folder, 'program.mjs')
  await build({
    stdin: { contents: source, resolveDir: join(import.meta.dirname, '../../cli'), loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile,
    logLevel: 'error',
  })
  return outfile
}
