/** Reads and writes tunable parameters in the files of a folder. */
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { ok, type Result } from '../../result.ts'
import { type Contents, parseParameters, placeParameters } from './places.ts'
import type { TuneParameter } from './space.ts'

/** The values of all parameters as they stand in the files of `folder`, in their order. */
export function readParameters(folder: string, parameters: TuneParameter[]): Result<number[]> {
  return parseParameters(contentsOf(folder), parameters)
}

/** Writes the values; nothing is written unless all of them have their place. Answers the files that changed. */
export function writeParameters(
  folder: string,
  parameters: TuneParameter[],
  values: number[],
): Result<string[]> {
  const texts = placeParameters(contentsOf(folder), parameters, values)
  if (!texts.ok) return texts
  for (const [file, text] of texts.value) writeFileSync(join(folder, file), text)
  return ok([...texts.value.keys()])
}

/** A name that leads out of the folder, by `..` or by a link, counts as no such file. */
function contentsOf(folder: string): Contents {
  return (file) => {
    try {
      const path = realpathSync(join(folder, file))
      return path.startsWith(realpathSync(folder) + sep) ? readFileSync(path, 'utf8') : null
    } catch {
      return null
    }
  }
}
