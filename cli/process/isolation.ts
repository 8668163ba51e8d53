/**
 * How a job is kept apart from the machine: bubblewrap (`bwrap`, Linux) gives it mounts, a process table and, unless it
 * may use the network, a network of its own. What a job starts ends with it, daemons included.
 */
import { type ChildProcess, execFile } from 'node:child_process'
import {
  accessSync,
  existsSync,
  constants as fileConstants,
  lstatSync,
  readdirSync,
  readlinkSync,
} from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'

/** Everything can be read, except what the mounts cover. Later mounts lie on top of earlier ones. */
export interface Isolation {
  mounts: readonly Mount[]
  network: boolean
  /** What the mounts do not say. */
  root: 'read-only' | 'writable'
}

export type Mount =
  /** `from`, a path of the machine, is seen at `at`. */
  | { at: string; from: string; write: boolean }
  /** At `at` the job sees an empty folder of its own, which is gone after it. */
  | { at: string; from: null }

/** The path at which the job sees a path of the machine: itself, unless a mount shows it somewhere else. */
export function seenAs(isolation: Isolation | null, path: string): string {
  let best: { at: string; from: string } | null = null
  for (const mount of isolation?.mounts ?? []) {
    if (mount.from === null || !(path === mount.from || path.startsWith(`${mount.from}/`))) continue
    if (best === null || mount.from.length >= best.from.length) best = mount
  }
  return best === null ? path : best.at + path.slice(best.from.length)
}

/** What Assay gives a job beside its checkout. */
export type Given = 'sample' | 'temporary' | 'artifacts' | 'parent-artifacts' | 'seed-artifact' | 'held-out'

/** Shows one more path of the machine, under a name that is the same for every job; it must exist. */
export function give(
  isolation: Isolation,
  name: Given,
  from: string,
  { write }: { write: boolean },
): Isolation {
  // One of the two is the job's own, so a place can be made there.
  const temporary = isolation.mounts.findLast(({ at }) => at === '/tmp')
  const base = temporary && temporary.from !== '/tmp' ? '/tmp' : '/dev/shm'
  return { ...isolation, mounts: [...isolation.mounts, { at: `${base}/assay-${name}`, from, write }] }
}

/**
 * What a job of root may still do: whatever concerns files, users and processes of its own. Everything else is dropped,
 * as the rights to undo mounts, to look into other processes, to set the clock and to read files past every mount.
 * Jobs of other users have none of these rights.
 */
const RIGHTS_OF_ROOT = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'IPC_LOCK',
  'KILL',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_NICE',
]

const isRoot = (): boolean => process.getuid?.() === 0

const KERNEL_SETTINGS = ['/proc/sys', '/proc/sysrq-trigger']

/**
 * Beside what each job has of its own (null, tty, pts and their kin): disks, what other programs share, and devices in
 * which something can be kept or that concern the whole machine. `measure.allow` shows them.
 */
const NO_DEVICE_OF_A_JOB =
  /^(autofs|block|bsg|btrfs-control|bus|char|console|core|cpu|cpu_dma_latency|disk|fd|full|fuse|gpiochip.*|hidraw.*|hpet|hugepages|hwrng|i2c-.*|initctl|input|kcore|kmsg|kvm|loop.*|lp.*|mapper|mcelog|mei.*|mem|mqueue|net|null|nvram|port|ppp|psaux|ptmx|pts|ram.*|random|rfkill|sg.*|shm|snapshot|stderr|stdin|stdout|tty.*|uhid|uinput|urandom|usbmon.*|userfaultfd|vcs.*|vga_arbiter|vhci|vhost-.*|vsock|watchdog.*|zero)$/

let knownDevices: string[] | null = null

/**
 * For root, who may make files there and read disks, a `/dev` of the job's own that ends with it, with the devices of
 * the machine that a program may need. Others get that of the machine, which takes less time to mount.
 */
function devices(): string[] {
  const queues = existsSync('/dev/mqueue') ? ['--mqueue', '/dev/mqueue'] : []
  if (!isRoot()) return ['--dev-bind', '/dev', '/dev', ...queues]
  knownDevices ??= [
    ...['--dev', '/dev', ...queues],
    ...namesIn('/dev').flatMap((name) =>
      NO_DEVICE_OF_A_JOB.test(name) ? [] : shownDevice(join('/dev', name)),
    ),
  ]
  return knownDevices
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

function shownDevice(path: string): string[] {
  try {
    const found = lstatSync(path)
    if (found.isSymbolicLink()) return ['--symlink', readlinkSync(path), path]
    if (!found.isCharacterDevice() && !found.isDirectory() && !found.isSocket()) return []
    accessSync(path, fileConstants.R_OK)
    return ['--dev-bind-try', path, path]
  } catch {
    return []
  }
}

/** Of devices that are bound in another way, nothing is left but their names. */
const bindOf = ({ at, write }: { at: string; write: boolean }): string =>
  !write ? '--ro-bind' : at.startsWith('/dev/') ? '--dev-bind' : '--bind'

/** The descriptor on which bubblewrap reports how the job ended; without a report it never came to start it. */
export const STATUS_FD = 4

/**
 * The first process of a process table ignores signals that it does not handle, and the table ends with it. So a shell
 * takes that place, and the job is its child. The shell answers 128 + N for a job that signal N ended, and has no
 * standard error of its own: it would write there that the job was ended.
 */
const FIRST_PROCESS = 'exec 5>&2 2>/dev/null; (exec 2>&5 5>&-; exec "$@"); exit $?'

/**
 * The command line that runs `argv` isolated, in the folder `cwd` of the machine. `reports`: a pipe for `STATUS_FD` is
 * there.
 */
export function isolatedArgv(
  isolation: Isolation,
  argv: readonly string[],
  cwd: string,
  { reports }: { reports: boolean },
): [string, ...string[]] {
  const { mounts, network, root } = isolation
  return [
    'bwrap',
    ...['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--as-pid-1'],
    ...(network ? [] : ['--unshare-net']),
    ...(isRoot()
      ? ['--cap-drop', 'ALL', ...RIGHTS_OF_ROOT.flatMap((name) => ['--cap-add', `CAP_${name}`])]
      : []),
    ...[root === 'writable' ? '--bind' : '--ro-bind', '/', '/'],
    ...devices(),
    ...['--tmpfs', '/dev/shm', '--proc', '/proc'],
    // Root may write there, whatever its rights: a program that the kernel starts for a crash runs outside.
    ...(isRoot() ? KERNEL_SETTINGS.flatMap((path) => ['--ro-bind-try', path, path]) : []),
    ...mounts.flatMap((mount) =>
      mount.from === null ? ['--tmpfs', mount.at] : [bindOf(mount), mount.from, mount.at],
    ),
    ...['--chdir', seenAs(isolation, cwd)],
    ...(reports ? ['--json-status-fd', String(STATUS_FD)] : []),
    '--',
    ...['/bin/sh', '-c', FIRST_PROCESS, 'sh', ...argv],
  ]
}

/** bubblewrap's reports; read from the start, since it waits for nobody to read them. */
export interface IsolationStatus {
  /** Whether the job ran at all; known once bubblewrap has ended. */
  ran(): Promise<boolean>
}

const LAST_WORDS_MS = 500

export function statusOf(child: ChildProcess): IsolationStatus {
  const pipe = child.stdio[STATUS_FD]
  let text = ''
  const ended = new Promise<void>((resolve) => {
    if (!(pipe instanceof Readable)) return resolve()
    pipe.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
    })
    for (const event of ['end', 'close', 'error']) pipe.on(event, () => resolve())
  })
  return {
    async ran() {
      await Promise.race([ended, pause(LAST_WORDS_MS)])
      return text.includes('"exit-code"')
    },
  }
}

/** 128 + N says that signal N ended the job; shells and bubblewrap count that way. */
export function signalOfCode(code: number): NodeJS.Signals | null {
  const [name] = Object.entries(constants.signals).find(([, number]) => number === code - 128) ?? []
  return (name as NodeJS.Signals | undefined) ?? null
}

export type IsolationSupport = { works: true } | { works: false; why: string; repair: string }

const INSTALL =
  'install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap)'

/** Whether jobs can be isolated on this machine, found by starting one that does nothing. */
export function isolationSupport(env: NodeJS.ProcessEnv): Promise<IsolationSupport> {
  if (process.platform !== 'linux') {
    const why = 'isolation needs Linux and bubblewrap'
    return Promise.resolve({
      works: false,
      why,
      repair: 'measure on Linux, or leave measure.isolation as it is',
    })
  }
  const nothing: Isolation = { mounts: [], network: false, root: 'read-only' }
  const [program, ...args] = isolatedArgv(nothing, ['true'], '/', { reports: false })
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: 10_000 }, (error, _stdout, stderr) => {
      if (!error) return resolve({ works: true })
      if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        return resolve({ works: false, why: 'bubblewrap (bwrap) is not installed', repair: INSTALL })
      const said = stderr.trim().split('\n').at(-1) || error.message
      const container = existsSync('/.dockerenv')
        ? ' (a container needs --privileged or an own seccomp profile)'
        : ''
      const repair = `allow unprivileged user namespaces on this machine${container}`
      resolve({ works: false, why: `bubblewrap does not work here: ${said}`, repair })
    })
  })
}
