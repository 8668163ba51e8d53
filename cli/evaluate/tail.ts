import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { stripAnsi } from './lines.ts'

/** The end of a text file, without terminal codes, cut between lines if it has to be cut. Empty if there is none. */
export function tailOf(path: string, bytes: number): string {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(fd)
    const buffer = Buffer.alloc(Math.min(size, bytes))
    const length = readSync(fd, buffer, 0, buffer.length, size - buffer.length)
    const text = buffer.subarray(0, length).toString('utf8')
    const whole = size > bytes ? text.slice(text.indexOf('\n') + 1) : text
    return stripAnsi(whole)
  } finally {
    closeSync(fd)
  }
}

/** The last line that says something. */
export function lastLine(text: string): string {
  return (
    text
      .split(/[\r\n]+/)
      .findLast((line) => line.trim() !== '')
      ?.trim()
      .slice(0, 300) ?? ''
  )
}
