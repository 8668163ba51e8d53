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
