/** The answers to single items that a benchmark writes when a judge compares them: asked for by a file, read from a folder. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AnswersOfItems, SampleFault } from '../ledger/events.ts'
import { median } from './stats.ts'

/** Bytes of one answer: more than a judge can read with care. */
const LONGEST = 64 * 1024

/** A file that names the wanted items, one a line, and an empty folder for their answers. */
export function askForItems(list: string, folder: string, ids: readonly string[]): void {
  writeFileSync(list, `${ids.join('\n')}\n`)
  mkdirSync(folder, { recursive: true })
}

const answerFile = (folder: string, id: string): string => join(folder, `${id}.txt`)

/** Of a folder that was read before. */
export const readItemAnswer = (folder: string, id: string): string =>
  readFileSync(answerFile(folder, id), 'utf8')

/**
 * What the answers come to, or why they cannot be compared. Each wanted item needs one: a candidate must not win because it is silent
 * where it is bad. Links are not followed.
 */
export function readAnswers(folder: string, ids: readonly string[]): AnswersOfItems | SampleFault {
  const digest = createHash('sha256')
  const lengths: number[] = []
  for (const id of ids) {
    const path = answerFile(folder, id)
    const found = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()
      ? lstatSync(path, { throwIfNoEntry: false })
      : undefined
    if (found === undefined)
      return broken(
        `there is no answer to the item ${id}: the benchmark must write $ASSAY_ITEMS_DIR/<id>.txt for each id in the file $ASSAY_ITEMS`,
      )
    if (!found.isFile()) return broken(`the answer to the item ${id} is not a regular file`)
    if (found.size > LONGEST)
      return broken(
        `the answer to the item ${id} has ${found.size} bytes, and a judge reads ${LONGEST} at most`,
      )
    const answer = readFileSync(path)
    const text = answer.toString('utf8')
    if (!Buffer.from(text, 'utf8').equals(answer)) return broken(`the answer to the item ${id} is not UTF-8`)
    digest.update(`${id}\0${answer.length}\0`).update(answer)
    lengths.push([...text].length)
  }
  return { items: ids.length, chars: median(lengths), sha256: digest.digest('hex') }
}

const broken = (message: string): SampleFault => ({ reason: 'metric_error', message })
