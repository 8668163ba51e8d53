import { commandLineOf } from './proc.ts'

/**
 * Starts the program (`"$@"`) beside a watcher that blocks on a pipe held by us, and that kills the group when the pipe
 * ends: so the program dies with us even if we are killed. The watcher is orphaned at once, because a program may wait
 * for *all* of its children; it ignores the signals that the program may send to its group, from its first moment, since it
 * inherits that; the program gets no descriptor of the pipe, which is `$1`.
 */
const BESIDE_WATCHER =
  '( trap "" HUP INT QUIT TERM; eval "( read -r _ <&$1; kill -KILL -$$ ) </dev/null >/dev/null 2>&1 &" ); eval "exec $1<&-"; shift; exec "$@"'

/** To be spawned detached, with a pipe as `fd`, of one digit; closing the pipe ends what is left of the group. */
export function besideWatcher(argv: readonly string[], fd = 3): [string, ...string[]] {
  return ['/bin/sh', '-c', BESIDE_WATCHER, 'sh', String(fd), ...argv]
}

/** Whether the process is a watcher, or still what will become one or its program. */
export const isWatcher = (pid: number): boolean =>
  commandLineOf(pid).startsWith(`/bin/sh\0-c\0${BESIDE_WATCHER}\0`)
