import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterEach, expect, test } from 'vitest'
import { identify, isAlive } from '../../cli/process.ts'
import { until } from '../rig/until.ts'
import { META, useRig } from './rig.ts'

const rig = useRig()
let parent: ChildProcess | null = null
afterEach(() => parent?.kill('SIGKILL'))

/** A program that runs the script and says `asked` when its agent is called. */
async function buildParent(script: string): Promise<string> {
  const outfile = join(rig.folder, 'parent.mjs')
  const run = fileURLToPath(new URL('../../cli/workflow/run.ts', import.meta.url))
  await build({
    stdin: {
      contents: `import { runWorkflow } from ${JSON.stringify(run)}
await runWorkflow({ source: ${JSON.stringify(META + script)}, file: null, journal: null, resume: false, concurrency: 1, tell() {},
  signal: new AbortController().signal, childEntry: ${JSON.stringify(rig.child)},
  call: async (call) => { process.stdout.write('asked\\n'); return call.prompt === 'hang' ? new Promise(() => setInterval(() => {}, 1000)) : { outcome: 'ok', text: '', usage: {} } } })`,
      resolveDir: rig.folder,
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  })
  return outfile
}

const childrenOf = (pid: number) =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child = 0, of]) => (of === pid ? [child] : []))

test.each([
  ['waits', `await agent('hang')`],
  ['spins', `await agent('go'); while (true) {}`],
])('a script that %s does not outlive a parent killed by SIGKILL', async (_what, script) => {
  const program = spawn(process.execPath, [await buildParent(script)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  parent = program
  await new Promise<void>((resolve) => program.stdout.once('data', () => resolve()))
  const [child] = childrenOf(program.pid ?? 0)
  expect(child).toBeGreaterThan(0)
  const identity = identify(child ?? 0)
  if (identity === null) throw new Error('the child is gone too early')
  expect(isAlive(identity)).toBe(true)
  program.kill('SIGKILL')
  await until(() => !isAlive(identity), { what: 'the end of the orphan' })
})
