/**
 * Standard output and standard error without opening Node's streams for them: that costs every command about a tenth
 * of the time in which an empty Node starts.
 */
import { fstatSync, writeSync } from 'node:fs'

const STREAMS = { stdout: 1, stderr: 2 } as const
export type StreamName = keyof typeof STREAMS

/** Width in columns, null when the stream is no terminal. */
export function terminalWidth(name: StreamName): number | null {
  // The stream is opened only for a character device; files and pipes are most of what programs give us.
  if (!isCharacterDevice(STREAMS[name])) return null
  const stream = process[name]
  return stream.isTTY === true ? (stream.columns ?? 80) : null
}

/**
 * Whether text may carry colour: only on a terminal, and not when `NO_COLOR` has a value (https://no-color.org) or `TERM`
 * is `dumb`. `FORCE_COLOR` replaces the look at the terminal: 0 is no, any other value is yes.
 */
export function wantsColour(
  isTerminal: () => boolean,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return env.TERM !== 'dumb' && isTerminal()
}

function isCharacterDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice()
  } catch {
    // Closed by the caller (`>&-`).
    return false
  }
}

/** Writes all of it before it resolves. A reader that has gone (`| head -1`) is no failure. */
export async function print(name: StreamName, text: string): Promise<void> {
  let rest: Uint8Array = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(STREAMS[name], rest))
  } catch (error) {
    const code = codeOf(error)
    // Another process made the pipe non-blocking, and it is full: Node's stream waits for room.
    if (code === 'EAGAIN') return printThroughStream(name, rest)
    if (!isGone(code)) throw error
  }
}

function printThroughStream(name: StreamName, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = process[name]
    stream.on('error', (error) => (isGone(codeOf(error)) ? resolve() : reject(error)))
    stream.write(bytes, () => resolve())
  })
}

/** Closed pipe, closed descriptor, closed terminal. */
function isGone(code: unknown): boolean {
  return code === 'EPIPE' || code === 'EBADF' || code === 'EIO'
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
