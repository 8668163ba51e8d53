/** Runs git: one environment, fixed settings, one form of failure. Every git command of the CLI goes through it. */

import { freeBytes } from '../files.ts'
import { execute } from '../process.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'

export interface GitOptions {
  /** `git -C`; absent = this process's folder. */
  dir?: string
  gitDir?: string
  workTree?: string
  /** A private index file. */
  index?: string
  /** The object database to read and write, when it is not the one of `gitDir`. */
  objects?: string
  input?: string | Buffer
  /** Exit codes that count as success. Default: 0 only. */
  okCodes?: readonly number[]
  /**
   * Whose configuration counts. `none` (the default): only what is in the git folder and the pins below, for work in
   * our store. `user`: the user's own, for reading their repository (safe.directory, filters, ignore rules).
   */
  config?: 'none' | 'user'
  /** Of author and committer. */
  date?: Date
  /** Who commits, when it is not Assay. The author is always Assay. */
  committer?: Identity
  /** Absent = as long as it takes. */
  timeoutMs?: number
}

export interface Identity {
  name: string
  email: string
}

/** Of every commit that Assay makes. */
export const IDENTITY: Identity = { name: 'Assay', email: 'assay@localhost' }

/** Of the commit that holds a checkout's uncommitted work; other commits of Assay's, of `finish`, a user may merge. */
export const SNAPSHOT_SUBJECT = 'Working tree with uncommitted changes'

/** An agent can write the store's configuration from its worktree; what is pinned here it cannot change. */
export const PINNED = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.splitIndex=false',
  'core.quotePath=false',
  'commit.gpgsign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
]
const PINNED_IN_STORE = [
  'core.excludesFile=/dev/null',
  'core.attributesFile=/dev/null',
  'core.sparseCheckout=false',
  'core.trustctime=true',
  'core.checkStat=default',
  'core.ignoreStat=false',
  // An acknowledged candidate survives a power cut; about 1 ms a seal.
  'core.fsync=committed,reference',
  'core.fsyncMethod=batch',
]

/**
 * Runs git and answers its standard output.
 * Problems: `git_missing`, `git_not_started`, `disk_full`, `git_output_too_large`, `filter_missing`,
 * `git_failed` (with git's own words).
 */
export async function git(args: readonly string[], options: GitOptions = {}): Promise<Result<Buffer>> {
  const pins = options.config === 'user' ? PINNED : [...PINNED, ...PINNED_IN_STORE]
  const done = await execute({
    argv: [
      'git',
      ...(options.dir === undefined ? [] : ['-C', options.dir]),
      ...pins.flatMap((pin) => ['-c', pin]),
      ...args,
    ],
    env: environment(options),
    ...(options.input === undefined ? {} : { input: options.input }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  })
  const what = `git ${verbOf(args)}`
  const at = options.dir ?? options.gitDir ?? null
  if (done.startError) return fail(gitFailure(what, at, { notStarted: done.startError }))
  if (done.cut) {
    return fail({
      kind: 'failed',
      code: 'git_output_too_large',
      message: `${what} printed more than 64 MiB`,
      hint: 'ask for fewer paths at once',
      ...(at === null ? {} : { at }),
    })
  }
  if (done.code !== null && (options.okCodes ?? [0]).includes(done.code)) return ok(done.stdout)
  const said = done.stderr.toString('utf8').trim()
  const how = done.timedOut
    ? `took longer than ${Math.round((options.timeoutMs ?? 0) / 1000)} s`
    : done.signal
      ? `died of ${done.signal}`
      : undefined
  return fail(
    gitFailure(what, at, { code: done.code, said, how, writes: options.workTree ?? options.gitDir }),
  )
}

export type Ending =
  | { notStarted: { code?: string | undefined; message: string } }
  /** `how` it ended, when not by an exit code; `writes` is a folder that it writes to. */
  | { code: number | null; said: string; how?: string | undefined; writes?: string | undefined }

/** The problem of a call that failed. `what` is the command: `git fetch`. */
export function gitFailure(what: string, at: string | null, ending: Ending): Problem {
  const place = at === null ? {} : { at }
  if ('notStarted' in ending) {
    const { notStarted: error } = ending
    const missing = error.code === 'ENOENT'
    return {
      kind: 'failed',
      code: missing ? 'git_missing' : 'git_not_started',
      message: `${what} could not be started: ${error.message}`,
      hint: missing
        ? 'install git 2.34 or newer and make sure that it is on PATH'
        : 'check that git runs in this shell: git --version',
      ...place,
    }
  }
  const { code, how = `failed with exit code ${code}`, writes } = ending
  const said = ending.said.split('\n').slice(-8).join('\n')
  const filter = /(?:^|: )([\w-]+)(?:: command)?:? not found$/m.exec(said)?.[1]
  if (filter !== undefined && /filter/.test(said)) {
    return {
      kind: 'refused',
      code: 'filter_missing',
      message: `git needs ${filter} to read the files of this repository, and it is not installed`,
      hint: `install ${filter}, check with \`git status\`, and repeat the command`,
      ...place,
    }
  }
  const full =
    /No space left on device|Out of diskspace|Disk quota exceeded/.test(said) ||
    (/unable to write/.test(said) && isFull(writes))
  return {
    kind: 'failed',
    code: full ? 'disk_full' : 'git_failed',
    message: `${what} ${how}${said ? `: ${said}` : ''}`,
    hint: full
      ? 'free some space and repeat the command; nothing that was acknowledged is lost'
      : 'git names the cause above; `assay doctor` checks the rest',
    ...place,
  }
}

/** On a full disk a checkout names only the file that it could not write. Files that it wrote before stay. */
function isFull(folder: string | undefined): boolean {
  const free = folder === undefined ? null : freeBytes(folder)
  return free !== null && free < FULL
}

/** Bytes: less than any file that matters. */
const FULL = 64 * 1024

/** As `git`, with the output as text without its last newline. */
export async function gitText(args: readonly string[], options: GitOptions = {}): Promise<Result<string>> {
  const done = await git(args, options)
  return done.ok ? ok(done.value.toString('utf8').replace(/\n$/, '')) : done
}

/** As `git`, for output of `-z`: the fields between the NULs. */
export async function gitFields(
  args: readonly string[],
  options: GitOptions = {},
): Promise<Result<string[]>> {
  const done = await git(args, options)
  return done.ok ? ok(fields(done.value)) : done
}

/** Splits NUL-terminated output. */
export function fields(output: Buffer | string): string[] {
  const parts = output.toString('utf8').split('\0')
  if (parts.at(-1) === '') parts.pop()
  return parts
}

/**
 * Options of `clone` and `fetch` for a repository of another owner whose checkout the user trusts: the git that sends looks
 * for `safe.directory` too, and is started without the configuration of a command line or of variables.
 */
export const trusting = (gitDir: string): { before: string[]; after: string[] } => ({
  before: ['-c', `safe.directory=${gitDir}`],
  after: ['--upload-pack', `git -c safe.directory=${inShell(gitDir)} upload-pack`],
})

const inShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Joins paths for an option of the family `-z --stdin`. */
export const nulTerminated = (paths: Iterable<string>): string => {
  let text = ''
  for (const path of paths) text += `${path}\0`
  return text
}

/** How a user configures git by variables: containers and CI trust folders (`safe.directory`) and name filters so. */
const CONFIGURING =
  /^GIT_(CONFIG_(COUNT|(KEY|VALUE)_\d+|PARAMETERS|GLOBAL|SYSTEM|NOSYSTEM)|ATTR_(NO)?SYSTEM|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)$/

/** For every call: variables of the user's shell that point to a repository are ignored. */
export function environment(options: GitOptions): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {}
  for (const [name, value] of Object.entries(process.env)) {
    // A hook or `rebase --exec` hands on GIT_DIR and GIT_INDEX_FILE: with them we would write to the user's repository.
    const kept = options.config === 'user' && CONFIGURING.test(name)
    if ((!name.startsWith('GIT_') || kept) && name !== 'LANGUAGE') env[name] = value
  }
  env.LC_ALL = 'C'
  env.GIT_OPTIONAL_LOCKS = '0'
  env.GIT_TERMINAL_PROMPT = '0'
  const committer = options.committer ?? IDENTITY
  env.GIT_AUTHOR_NAME = IDENTITY.name
  env.GIT_AUTHOR_EMAIL = IDENTITY.email
  env.GIT_COMMITTER_NAME = committer.name
  env.GIT_COMMITTER_EMAIL = committer.email
  if (options.config !== 'user') {
    env.GIT_CONFIG_NOSYSTEM = '1'
    env.GIT_CONFIG_GLOBAL = '/dev/null'
    env.GIT_ATTR_NOSYSTEM = '1'
  }
  if (options.date) {
    env.GIT_AUTHOR_DATE = env.GIT_COMMITTER_DATE = `${Math.floor(options.date.getTime() / 1000)} +0000`
  }
  if (options.gitDir !== undefined) env.GIT_DIR = options.gitDir
  if (options.workTree !== undefined) env.GIT_WORK_TREE = options.workTree
  if (options.index !== undefined) env.GIT_INDEX_FILE = options.index
  if (options.objects !== undefined) env.GIT_OBJECT_DIRECTORY = options.objects
  return env
}

/** The sub-command, skipping global options such as `--literal-pathspecs` or `-c x=y`. */
export function verbOf(args: readonly string[]): string {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    if (arg === '-c') i++
    else if (!arg.startsWith('-')) return arg
  }
  return args.join(' ')
}
