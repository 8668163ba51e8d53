import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ASSAY, benchEnv, time } from './project.mjs'

const REPLAYED = 10_000
const CALLS = 200
const CHILD = join(dirname(ASSAY), 'lib', 'workflow-child.cjs')
/** Answers with its input: the agent that takes no time. */
const AGENT = 'cat'

const SCRIPT = `export const meta = { name: 'bench', description: 'asks in a row' }
for (let i = 0; i < ${CALLS}; i += 1) {
  if ((await agent('call ' + i)) !== 'call ' + i) throw new Error('a wrong answer')
}`
const SPAWNS = `const { spawn } = require('node:child_process')
const next = (i) => {
  if (i === ${CALLS}) return
  const agent = spawn('/bin/sh', ['-c', '${AGENT}'], { stdio: 'pipe' })
  let text = ''
  agent.stdout.setEncoding('utf8').on('data', (part) => { text += part })
  agent.on('close', () => { if (text !== 'call ' + i) throw new Error('a wrong answer'); next(i + 1) })
  agent.stdin.end('call ' + i)
}
next(0)`

function place() {
  const base = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const options = { cwd: base, env: benchEnv(base) }
  return { base, options, clean: () => rmSync(base, { recursive: true, force: true }) }
}

export const WORKFLOW = [
  {
    name: 'workflow-call',
    floor: 'as many bare spawns of the same agent',
    bar: 5,
    per: CALLS,
    quiet_ms: 2.5 * CALLS,
    rounds: 10,
    prepare: async () => {
      const { base, options, clean } = place()
      writeFileSync(join(base, 'script.js'), SCRIPT)
      writeFileSync(join(base, 'spawns.cjs'), SPAWNS)
      const run = [ASSAY, 'workflow', 'run', 'script.js', '--command', AGENT, '--json']
      return { ours: () => time(run, options), floor: () => time(['spawns.cjs'], options), clean }
    },
  },
  {
    name: 'workflow-resume',
    floor: 'node /dev/null',
    bar: 300,
    per: 1,
    quiet_ms: 24,
    rounds: 20,
    prepare: async () => {
      const { base, options, clean } = place()
      const program = join(base, 'replay.cjs')
      const { build } = await import('esbuild')
      await build({
        entryPoints: [fileURLToPath(new URL('replay.ts', import.meta.url))],
        outfile: program,
        bundle: true,
        platform: 'node',
        format: 'cjs',
        target: 'node20',
        // Where the script's process is, is said in its arguments.
        define: { 'import.meta.url': '""' },
        logLevel: 'warning',
      })
      const journal = join(base, 'journal.jsonl')
      time([program, 'write', journal, String(REPLAYED)], options)
      const resume = [program, 'resume', journal, String(REPLAYED), CHILD]
      return { ours: () => time(resume, options), floor: () => time(['/dev/null'], options), clean }
    },
  },
]
