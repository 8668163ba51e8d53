import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { isolatedEnv } from './temp.ts'

/** Runs a program in a group of its own, which is ended with the test at the latest. */
export function runProgram(
  [program = '', ...args]: string[],
  { cwd, env, input }: { cwd: string; env: Record<string, string | undefined>; input: string },
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, {
    cwd,
    env: { ...isolatedEnv(), ...env },
    stdio: 'pipe',
    detached: true,
  })
  onTestFinished(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Gone already.
    }
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}
