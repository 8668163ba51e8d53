import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** What a simulation exports that uses the product's own code. Node of today's oldest version does not read TypeScript. */
export async function bundled(entry) {
  const dir = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  try {
    const outfile = join(dir, 'simulation.mjs')
    await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(dir, { recursive: true })
  }
}
