import { fileURLToPath } from 'node:url'

/** The program of the script's process: beside the built modules, unless a caller has built it elsewhere. */
export function childEntry(override?: string): string {
  return override ?? fileURLToPath(new URL('./workflow-child.cjs', import.meta.url))
}
