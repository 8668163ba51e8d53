/** What isolation adds to a sample: the same benchmark, with the mounts of an ordinary checkout and without any. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { execaSync } from 'execa'
import { benchEnv } from './project.mjs'

const SAMPLES = 40
/** What the floor takes where nothing else runs. */
const QUIET_MS = 550
/** As many immutable files as a small benchmark has. */
const SEALED = 8

const PROGRAM = `import { takeSample } from './evaluate/measure.ts'
const request = JSON.parse(process.argv[2])
const began = performance.now()
for (let pair = 0; pair < ${SAMPLES}; pair++) {
  const { fault } = await takeSample({ ...request, pair })
  if (fault) throw new Error(fault.message)
}
console.log(performance.now() - began)`

function requestOf(base) {
  const made = (name) => {
    mkdirSync(join(base, name), { recursive: true })
    return join(base, name)
  }
  const checkout = made('checkout')
  made('attempt/samples')
  const sealed = Array.from({ length: SEALED }, (_, n) => join(checkout, `sealed-${n}`))
  for (const file of sealed) writeFileSync(file, '')
  const config = {
    ...{ command: 'echo METRIC score=1', directory: '.', timeoutMs: 60_000, read: 'auto', slots: 1 },
    ...{ outputBytes: 1024 * 1024, before: null, after: null, requires: [], score: null },
    environment: { inherit: [], set: {}, file: null, keys: null },
  }
  const mounts = [
    { at: '/tmp', from: made('own/tmp'), write: true },
    { at: '/var/tmp', from: made('own/var-tmp'), write: true },
    { at: made('runtime'), from: null },
    { at: checkout, from: checkout, write: true },
    { at: '/tmp/assay-git', from: made('store'), write: false },
    { at: '/tmp/assay-git/worktrees', from: null },
    { at: '/tmp/assay-git/judge', from: null },
    ...sealed.map((file) => ({ at: file, from: file, write: false })),
  ]
  for (const name of ['worktrees', 'judge']) made(`store/${name}`)
  const request = {
    ...{ config, metric: { name: 'score' }, aggregate: 'mean', checkout, folder: join(base, 'attempt') },
    ...{ stage: 'judge', side: 'candidate', seed: 1, slot: 0, environment: benchEnv(base) },
  }
  return {
    shared: request,
    isolated: { ...request, isolation: { mounts, network: false, root: 'read-only' } },
  }
}

/** @type {readonly import('../bench.mjs').Case[]} */
export const ISOLATION = [
  {
    name: 'isolation',
    floor: 'a sample that shares the machine',
    bar: 5,
    per: SAMPLES,
    quiet_ms: QUIET_MS,
    rounds: 9,
    prepare: async () => {
      // Not below /tmp, which is not there in isolation.
      const base = mkdtempSync(join(fileURLToPath(new URL('../..', import.meta.url)), 'bin', 'lib', 'bench-'))
      const outfile = join(base, 'samples.mjs')
      const resolveDir = fileURLToPath(new URL('../../cli', import.meta.url))
      const stdin = { contents: PROGRAM, resolveDir, loader: 'ts' }
      await build({ stdin, bundle: true, platform: 'node', format: 'esm', target: 'node20', outfile })
      const { shared, isolated } = requestOf(base)
      const take = (request) => {
        const ended = execaSync(process.execPath, [outfile, JSON.stringify(request)], { reject: false })
        if (ended.exitCode !== 0) throw new Error(`no samples were taken: ${ended.stderr}`)
        return Number(ended.stdout)
      }
      return {
        ours: () => take(isolated),
        floor: () => take(shared),
        clean: () => rmSync(base, { recursive: true, force: true }),
      }
    },
  },
]
