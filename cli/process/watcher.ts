import { spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { commandLineOf } from './proc.ts'

/**
 * Starts the program (`"$@"`) beside a watcher that blocks on a pipe held by us, and that kills the group when the pipe
 * ends: so the program dies with us even if we are killed. The watcher is orphaned at once, because a program may wait
 * for *all* of its children; it ignores the signals that the program may send to its group, from its first moment, since it
 * inherits that; the program gets no fd 3.
 */
const BESIDE_WATCHER =
  '( trap "" HUP INT QUIT TERM; ( read -r _ <&3; kill -KILL -$$ ) </dev/null >/dev/null 2>&1 & ); exec "$@" 3<&-'

/** To be spawned detached, with a pipe as fd 3; closing the pipe ends what is left of the group. */
export function besideWatcher(argv: readonly string[]): [string, ...string[]] {
  return ['/bin/sh', '-c', BESIDE_WATCHER, 'sh', ...argv]
}

/** Whether the process is a watcher, or still what will become one or its program. */
export const isWatcher = (pid: number): boolean =>
  commandLineOf(pid).startsWith(`/bin/sh\0-c\0${BESIDE_WATCHER}\0`)

/**
 * Each line names the marks of all jobs that run. When no further line can come, it ends whoever carries one of the last line's,
 * until nobody does: what is found may start another process before it ends.
 */
const WATCHES_MARKS = `while read -r line; do marks=$line; done
for mark in $marks; do
  for _ in 1 2 3 4 5 6 7 8 9; do
    found=$(cd /proc && grep -lsF "$mark" [0-9]*/environ)
    [ -n "$found" ] || break
    for each in $found; do kill -KILL "\${each%/*}"; done
  done
done`

const marks = new Set<string>()
let lines: Writable | null = null

/**
 * Has every process whose environment holds the mark killed if this process is killed, until the returned function is called.
 * To be called before the start: bubblewrap forks, and only then asks the kernel to end its child with it. One watcher serves
 * the whole process, so a job does not wait for another program.
 */
export function watchMark(mark: string): () => void {
  lines ??= startWatcher()
  marks.add(mark)
  tell()
  return () => {
    marks.delete(mark)
    tell()
  }
}

/** A pipe takes a short line at once and whole. */
const tell = () => lines?.write(`${[...marks].join(' ')}\n`)

function startWatcher(): Writable {
  const watcher = spawn('/bin/sh', ['-c', WATCHES_MARKS], {
    cwd: '/',
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.on('error', () => {
    // The machine can start no more programs, and says so for the job as well.
  })
  watcher.stdin.on('error', () => {
    // Somebody ended the watcher.
  })
  watcher.unref()
  return watcher.stdin
}
