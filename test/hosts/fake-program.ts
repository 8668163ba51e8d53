/** Programs that pass for an agent program: they note how they were called and print what the test says. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { ProgramName } from '../../cli/hosts/registry.ts'
import { makeTemp } from '../rig/temp.ts'

const PROGRAM: Record<ProgramName, string> = {
  'claude-code': 'claude',
  codex: 'codex',
  copilot: 'copilot',
  gemini: 'gemini',
  opencode: 'opencode',
  pi: 'pi',
  qwen: 'qwen',
}

/** What it does at one call; it does the last one again when it is called more often. */
export interface Act {
  print?: string
  complain?: string
  exit?: number
  /** Does not end by itself. */
  hang?: boolean
  /** Text for the file that follows this flag. */
  report?: [flag: string, text: string]
}

export interface Seen {
  argv: string[]
  stdin: string
  env: Record<string, string>
  cwd: string
  /** Contents of files that its arguments name. */
  files: Record<string, string>
  pid: number
}

export interface FakeProgram {
  env: NodeJS.ProcessEnv
  seen: () => Seen[]
}

export function fakeProgram(name: ProgramName, acts: Act[]): FakeProgram {
  const folder = makeTemp(`fake-${name}`)
  const file = join(folder, PROGRAM[name])
  const log = join(folder, 'seen.jsonl')
  writeFileSync(join(folder, 'acts.json'), JSON.stringify(acts))
  writeFileSync(file, `#!${process.execPath}\n${SOURCE.replaceAll('FOLDER', JSON.stringify(folder))}`)
  chmodSync(file, 0o755)
  return {
    env: { ...process.env, PATH: [folder, process.env.PATH].join(delimiter) },
    seen: () =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => JSON.parse(line) as Seen)
        : [],
  }
}

const SOURCE = `
const fs = require('node:fs')
const argv = process.argv.slice(2)
const files = {}
for (const word of argv) {
  const path = word.replace(/^@/, '')
  if (path.startsWith('/') && fs.existsSync(path) && fs.statSync(path).isFile()) files[path.split('/').pop()] = fs.readFileSync(path, 'utf8')
}
const stdin = fs.readFileSync(0, 'utf8')
const log = FOLDER + '/seen.jsonl'
const count = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\\n').length - 1 : 0
fs.appendFileSync(log, JSON.stringify({ argv, stdin, env: process.env, cwd: process.cwd(), files, pid: process.pid }) + '\\n')
const acts = JSON.parse(fs.readFileSync(FOLDER + '/acts.json', 'utf8'))
const act = acts[Math.min(count, acts.length - 1)]
if (act.report) fs.writeFileSync(argv[argv.indexOf(act.report[0]) + 1], act.report[1])
if (act.print) fs.writeSync(1, act.print)
if (act.complain) fs.writeSync(2, act.complain)
if (act.hang) setInterval(() => {}, 1000)
else process.exitCode = act.exit ?? 0
`
