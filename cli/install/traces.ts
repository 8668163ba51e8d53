/** What a host's own commands leave behind: noticed before, taken away afterwards, and never more than was added. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Trace } from '../hosts/plugins.ts'
import type { TraceBefore } from './record.ts'

const OURS = new Set(['assay', 'assay@assay'])

export const traceBefore = (trace: Trace): TraceBefore => {
  const path = trace.folder ?? trace.file ?? ''
  const found = trace.file === undefined ? null : objectIn(trace.file)
  const had = (trace.keys ?? []).filter((key) => found !== null && key in found)
  return { ...trace, existed: existsSync(path), had }
}

/** Answers the paths that were written or removed. What is not JSON, or holds anything of others, stays. */
export function removeTrace({ folder, file, keys = [], existed, had }: TraceBefore): string[] {
  if (folder !== undefined) {
    if (existed || !existsSync(folder)) return []
    rmSync(folder, { recursive: true, force: true })
    return [folder]
  }
  if (file === undefined || !existsSync(file)) return []
  const text = readFileSync(file, 'utf8')
  const found = objectIn(file)
  const rest = found === null ? null : without(found, keys, had)
  const empty = text.trim() === '' || (rest !== null && Object.keys(rest).length === 0)
  if (!existed && empty) {
    rmSync(file)
    return [file]
  }
  if (rest === null || JSON.stringify(rest) === JSON.stringify(found)) return []
  writeFileSync(`${file}.new`, `${JSON.stringify(rest, null, 2)}\n`)
  renameSync(`${file}.new`, file)
  return [file]
}

function without(
  found: Record<string, unknown>,
  keys: readonly string[],
  had: readonly string[],
): Record<string, unknown> {
  const rest = { ...found }
  for (const key of keys) {
    const value = rest[key]
    if (OURS.has(key)) {
      if (!had.includes(key)) delete rest[key]
      continue
    }
    if (typeof value !== 'object' || value === null) continue
    const left = Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).filter(([name]) => !OURS.has(name)))
    if (Object.keys(left).length === 0 && !had.includes(key)) delete rest[key]
    else rest[key] = left
  }
  return rest
}

function objectIn(file: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
