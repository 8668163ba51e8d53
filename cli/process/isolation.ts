/**
 * How a job is kept apart from the machine: bubblewrap (`bwrap`, Linux) gives it mounts, a process table and, unless it
 * may use the network, a network of its own. What a job starts ends with it, daemons included.
 */
import { type ChildProcess, execFile } from 'node:child_process'
import {
  accessSync,
  closeSync,
  existsSync,
  constants as fileConstants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  rmSync,
  unlinkSync,
} from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { namesIn } from '../files.ts'

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
  /** At `at` the job sees an empty folder of its own, which is gone after it. `shut`: it can make nothing there, except in later mounts. */
  | { at: string; from: null; shut?: boolean }

/** The path at which the job sees a path of the machine: itself, unless a mount shows it somewhere else. */
export function seenAs(isolation: Isolation | null, path: string): string {
  let best: { at: string; from: string } | null = null
  for (const mount of isolation?.mounts ?? []) {
    if (mount.from === null || !(path === mount.from || path.startsWith(`${mount.from}/`))) continue
    if (best === null || mount.from.length >= best.from.length) best = mount
  }
  return best === null ? path : best.at + path.slice(best.from.length)
}

/** What Assay gives a job in addition to its checkout. */
export type GivenPath =
  | 'sample'
  | 'temporary'
  | 'artifacts'
  | 'parent-artifacts'
  | 'seed-artifact'
  | 'held-out'

/** Shows one more path of the machine, under a name that is the same for every job; it must exist. */
export function give(
  isolation: Isolation,
  name: GivenPath,
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
    ...namesIn('/dev')
      .sort()
      .flatMap((name) => (NO_DEVICE_OF_A_JOB.test(name) ? [] : shownDevice(join('/dev', name)))),
  ]
  return knownDevices
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
const STATUS_FD = 4

/**
 * The first process of a process table ignores signals that it does not handle, and the table ends with it. So a shell
 * takes that place, and the job is its child. The shell answers 128 + N for a job that signal N ended, and has no
 * standard error of its own: it would write there that the job was ended.
 */
const FIRST_PROCESS = 'exec 5>&2 2>/dev/null; (exec 2>&5 5>&-; exec "$@"); exit $?'

/** The descriptor on which the first process sends a line, and waits for one before it starts the job. */
const GO_FD = 3
/** The descriptor on which it reports how many processes are there when the job has ended, itself included. */
const LEFT_FD = 5

const FIRST_PROCESS_REPORTS = [
  `echo >&${GO_FD}; read -r _ <&${GO_FD} || exit 1; exec ${GO_FD}<&- 6>&2 2>/dev/null`,
  `(exec 2>&6 ${LEFT_FD}>&- 6>&-; exec "$@"); code=$?`,
  `set -- /proc/[0-9]*; echo "left $#" >&${LEFT_FD}; exit $code`,
].join('; ')

/**
 * The command line that runs `argv` isolated, in the folder `cwd` of the machine. `reports`: descriptors for `STATUS_FD`,
 * `LEFT_FD` and `GO_FD` (`letBegin`) are there.
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
    ...['--die-with-parent', '--new-session', '--unshare-pid', '--unshare-ipc', '--as-pid-1'],
    ...(network ? [] : ['--unshare-net']),
    ...(isRoot()
      ? ['--cap-drop', 'ALL', ...RIGHTS_OF_ROOT.flatMap((name) => ['--cap-add', `CAP_${name}`])]
      : []),
    ...[root === 'writable' ? '--bind' : '--ro-bind', '/', '/'],
    ...devices(),
    // Where `/dev` is the job's own, so is this folder of it.
    ...(isRoot() ? [] : ['--tmpfs', '/dev/shm']),
    ...['--proc', '/proc'],
    // Root may write there, whatever its rights: a program that the kernel starts for a crash runs outside.
    ...(isRoot() ? KERNEL_SETTINGS.flatMap((path) => ['--ro-bind-try', path, path]) : []),
    ...mounts.flatMap((mount) =>
      mount.from === null ? ['--tmpfs', mount.at] : [bindOf(mount), mount.from, mount.at],
    ),
    // Last: bubblewrap makes the places of later mounts there.
    ...mounts.flatMap((mount) => (mount.from === null && mount.shut ? ['--remount-ro', mount.at] : [])),
    ...['--chdir', seenAs(isolation, cwd)],
    ...(reports ? ['--json-status-fd', String(STATUS_FD)] : []),
    '--',
    ...['/bin/sh', '-c', reports ? FIRST_PROCESS_REPORTS : FIRST_PROCESS, 'sh', ...argv],
  ]
}

/** bubblewrap's reports. They go to a file without a name: bubblewrap would block at a pipe that is not read. */
export interface IsolationStatus {
  /** To be given to bubblewrap as `STATUS_FD` and `LEFT_FD`. */
  fd: number
  /** The first process of the job's table, as the machine numbers it; null until it is there. */
  first(): number | null
  /** Whether the job ran at all; known once bubblewrap has ended. */
  ran(): boolean
  /** How many processes the job left behind, which ended with its table. */
  left(): number
  close(): void
}

/** `beside`: a file in the folder in which the report lies for a moment. Throws what the file system says. */
export function openStatus(beside: string): IsolationStatus {
  const path = `${beside}.isolation`
  const flags = fileConstants.O_RDWR | fileConstants.O_CREAT | fileConstants.O_EXCL | fileConstants.O_APPEND
  rmSync(path, { force: true })
  const fd = openSync(path, flags)
  unlinkSync(path)
  const text = Buffer.alloc(1024)
  const read = () => text.toString('latin1', 0, readSync(fd, text, 0, text.length, 0))
  let first: number | null = null
  return {
    fd,
    first() {
      const named = first ?? (fstatSync(fd).size > 0 ? /"child-pid": *(\d+)/.exec(read())?.[1] : undefined)
      first = named === undefined ? null : Number(named)
      return first
    },
    ran: () => read().includes('"exit-code"'),
    left: () => Math.max(0, Number(/^left (\d+)$/m.exec(read())?.[1] ?? 1) - 1),
    close: () => closeSync(fd),
  }
}

/**
 * To be called at once after the start. The first process says that it is there, and starts the job when we answer: by
 * then the kernel ends it with bubblewrap, and bubblewrap with us. When we are killed before, the job never begins; what
 * bubblewrap has forked by then would wait for bubblewrap for ever, and `watchMark` has it ended.
 */
export function letBegin(child: ChildProcess, status: IsolationStatus): void {
  const pipe = child.stdio[GO_FD]
  if (!(pipe instanceof Duplex)) return
  pipe.on('error', () => {
    // bubblewrap could not isolate the job, or it has ended.
  })
  pipe.once('data', () => {
    // From now on the job could change the report: it may open what its first process holds open.
    status.first()
    pipe.end('\n')
  })
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
        ? ' (a container needs --privileged or its own seccomp profile)'
        : ''
      const repair = `allow unprivileged user namespaces on this machine${container}`
      resolve({ works: false, why: `bubblewrap does not work here: ${said}`, repair })
    })
  })
}
