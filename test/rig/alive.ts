import { existsSync, readFileSync } from 'node:fs'

export function isAlive(pid: number): boolean {
  try {
    // A process that nobody has reaped yet is dead all the same.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    try {
      return !existsSync('/proc/self/stat') && process.kill(pid, 0)
    } catch {
      return false
    }
  }
}
