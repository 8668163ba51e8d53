/** Where a sample writes while it runs, and where that is kept. */
import { lstatSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Sample } from '../ledger/events.ts'
import { cutStored } from '../process.ts'
import { redactStored } from './stored.ts'

/** Relative to the attempt's folder: where what a sample wrote is kept. The benchmark sees none of these names. */
export function outputNames({ stage, pair, side }: Pick<Sample, 'stage' | 'pair' | 'side'>) {
  const letter = side === 'parent' ? 'a' : 'b'
  return {
    /** Of this sample's further files. */
    stem: `samples/${stage}-${pair}-${side}`,
    stdout: `samples/${stage}-${pair}-${side}.out`,
    stderr: `samples/${stage}-${pair}-${side}.err`,
    result: `samples/${stage}-${pair}-${letter}.json`,
    traces: `samples/${stage}-${pair}-${letter}.traces`,
  }
}

/**
 * Names of files while the sample runs. They say neither the stage nor the side, and have one length: a candidate that
 * knew either could be good where it counts, and the size of the environment moves the stack (Mytkowicz et al. 2009).
 */
export const DESK = {
  stdout: 'out',
  stderr: 'err',
  result: 'result.json',
  traces: 'traces',
  output: 'output',
  scored: { stdout: 'score.out', stderr: 'score.err' },
} as const

/** Where each file of the desk is kept, relative to the attempt's folder. */
const keptAs = ({ stem, stdout, stderr, result, traces }: Names): [string, string][] => [
  [DESK.stdout, stdout],
  [DESK.stderr, stderr],
  [DESK.result, result],
  [DESK.traces, traces],
  [DESK.output, `${stem}.output`],
  ...['score', 'before', 'after'].flatMap((step): [string, string][] =>
    ['out', 'err'].map((end) => [`${step}.${end}`, `${stem}.${step}.${end}`]),
  ),
]

export type Names = ReturnType<typeof outputNames>

/** What was written goes to the attempt's folder, without secrets; the desk is gone. */
export function clearDesk(desk: string, folder: string, names: Names): void {
  dropIfEmpty(join(desk, DESK.traces))
  mkdirSync(join(folder, 'samples'), { recursive: true })
  for (const [name, kept] of keptAs(names)) keep(join(desk, name), join(folder, kept))
  // What was printed has been read by now.
  for (const [name, kept] of keptAs(names)) if (/(^|\.)(out|err)$/.test(name)) cutStored(join(folder, kept))
  rmSync(desk, { recursive: true, force: true })
}

/** Nothing when there is no such file. */
function keep(written: string, kept: string): void {
  rmSync(kept, { recursive: true, force: true })
  if (!lstatSync(written, { throwIfNoEntry: false })) return
  renameSync(written, kept)
  redactStored(kept)
}

function dropIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // The benchmark wrote traces.
  }
}
