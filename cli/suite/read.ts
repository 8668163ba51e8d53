/** Reads what a run of a task left on disk. */
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Left, parseLenient, signalsIn } from './signals.ts'

/** Bytes of one file; a longer one is not read. */
const LONGEST = 4 * 1024 * 1024

/**
 * Of a file of JSON, or of a folder with `run_completion.json` and perhaps `metrics.jsonl`. Links are not followed. A
 * sentence when there is nothing that can be read.
 */
export function readLeft(path: string): Left | string {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 'it wrote no result'
  if (!found.isDirectory()) {
    const text = textOf(path)
    if (!('text' in text)) return `its result ${text.why}`
    const object = parseLenient(text.text)
    return object === undefined ? 'its result is not JSON' : signalsIn(object)
  }
  const completion = textOf(join(path, 'run_completion.json'))
  const metrics = textOf(join(path, 'metrics.jsonl'))
  if (!('text' in completion) && !('text' in metrics)) return `run_completion.json ${completion.why}`
  const object = 'text' in completion ? parseLenient(completion.text) : undefined
  const lines = 'text' in metrics ? metrics.text.split('\n').map(parseLenient) : []
  return signalsIn(object, lines)
}

function textOf(path: string): { text: string } | { why: string } {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return { why: 'is not there' }
  // Reading a pipe would wait for a writer.
  if (!found.isFile()) return { why: 'is not a file' }
  if (found.size > LONGEST) return { why: `has more than ${LONGEST / 1024 / 1024} MiB` }
  return { text: readFileSync(path, 'utf8') }
}
