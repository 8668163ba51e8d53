import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/**
 * What a simulation exports that uses the product's own code. Node of today's oldest version does not read TypeScript. `alias`: other
 * modules in place of some, as esbuild takes it.
 */
export async function bundled(entry, { alias = {} } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  try {
    const outfile = join(dir, 'simulation.mjs')
    // Packages may call for modules of Node in the older way.
    const banner = {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    }
    const how = { bundle: true, platform: 'node', format: 'esm', banner, alias }
    await build({ entryPoints: [entry], outfile, ...how })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(dir, { recursive: true })
  }
}
