/** Where every file of Assay's state lives, and how it is found: by reading files, never by starting git. */
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { fileText, namesIn } from './files.ts'

export const STATE_FOLDER = '.assay'
export const SPEC_FILE = 'assay.yaml'
/** One repository's state. `root` is the checkout that holds `.assay`. */
export interface Site {
  root: string
  /** `<root>/.assay` */
  state: string
  /** Assay's own bare repository. */
  store: string
  runs: string
  /** Of one run: the folder of the judge with the rules that were frozen at its start (`git/rules.ts`). */
  rules?: string
  /** On a node: nothing but the state belongs there. */
  holdsOnlyState?: true
}

export function siteAt(root: string): Site {
  const state = join(root, STATE_FOLDER)
  return { root, state, store: join(state, '.git'), runs: join(state, 'runs') }
}

// ---------------------------------------------------------------- inside `.assay`

export interface RunPaths {
  run: string
  folder: string
  ledger: string
  spec: string
  experiments: string
  driver: string
  workflows: string
}

export function runPaths(site: Site, run: string): RunPaths {
  const folder = join(site.runs, run)
  return {
    run,
    folder,
    ledger: join(folder, 'ledger.jsonl'),
    spec: join(folder, 'spec.json'),
    experiments: join(folder, 'exp'),
    driver: join(folder, 'driver'),
    workflows: join(folder, 'workflows'),
  }
}

/** The user's own text of the spec, as it was at `init`. */
export const runSpecCopy = (paths: RunPaths): string => join(paths.folder, SPEC_FILE)
export const goingOnFile = (paths: RunPaths): string => join(paths.folder, 'going-on')

export const experimentFolder = (paths: RunPaths, experiment: string): string =>
  join(paths.experiments, digits(experiment))
/** Leases of the jobs that may be queued or run at once. */
export const jobLeases = (paths: RunPaths): string => join(paths.folder, 'jobs')
/** What an engine said last of the jobs of a run: processes that wait for jobs share its answers. `engine`: names it. */
export const jobsSeen = (paths: RunPaths, engine: string): string =>
  join(paths.folder, 'jobs', `seen-${engine}.json`)
/** What both sides of a job see, where the spec names no other place. `measured`: the folder of the attempt or confirmation. */
export const jobFolder = (measured: string): string => join(measured, 'job')

export type WhichJob = 'first' | 'held-out'
/** To which engine an attempt or a confirmation is handed, and from where: written before its engine is called. */
export const handoverFile = (measured: string, which: WhichJob): string =>
  join(measured, which === 'first' ? 'handover.json' : 'handover-held-out.json')

export const attemptFolder = (paths: RunPaths, experiment: string, attempt: number): string =>
  join(experimentFolder(paths, experiment), 'attempts', String(attempt))

/** Which file the program of the agent that works on it prints to. */
export const agentRecord = (paths: RunPaths, experiment: string): string =>
  join(experimentFolder(paths, experiment), 'agent.json')

/** Outlives attempts and discards; the agent and `worktree.build` write here. */
export const artifactsFolder = (paths: RunPaths, experiment: string): string =>
  join(experimentFolder(paths, experiment), 'artifacts')

/** What a checkout takes on the disk. */
export const checkoutFile = (paths: RunPaths): string => join(paths.folder, 'checkout.json')
/** What the baseline's own run rewrites in its checkout. */
export const habitsFile = (paths: RunPaths): string => join(paths.folder, 'rewritten.json')
/** What `worktree.data` matched at `init`, with its hashes. */
export const dataFile = (paths: RunPaths): string => join(paths.folder, 'data.json')
/** Whether the benchmark was seen to read what candidates change, and what the samples for that left. */
export const canaryFolder = (paths: RunPaths): string => join(paths.experiments, '0000', 'canary')
/** Searches for an isolation under which the baseline works. */
export const isolationsFolder = (paths: RunPaths): string => join(paths.experiments, '0000', 'isolations')
export const stepsFile = (attempt: string): string => join(attempt, 'steps.jsonl')
/** A copy of what a job has recorded so far, for those who look; no verdict rests on it. */
export const stepsOfJob = (attempt: string): string => join(attempt, 'job-so-far.jsonl')
/** Wiring runs and fresh measurements: no attempts, so they have numbers of their own. */
/** A text that an agent proposed, by its SHA-256. */
export const proposedText = (paths: RunPaths, sha256: string): string => join(paths.folder, 'texts', sha256)

export const checksFolder = (paths: RunPaths, experiment: string): string =>
  join(experimentFolder(paths, experiment), 'checks')
export const confirmsFolder = (paths: RunPaths, experiment: string): string =>
  join(experimentFolder(paths, experiment), 'confirms')
export const attributionsFolder = (paths: RunPaths, experiment: string): string =>
  join(experimentFolder(paths, experiment), 'attributions')
/** What one test of an attribution measured. */
export const attributionFolder = (
  paths: RunPaths,
  experiment: string,
  { attribution, test }: { attribution: number; test: number },
): string => join(attributionsFolder(paths, experiment), String(attribution), String(test))
/** Held while the parts of a kept experiment are tested. */
export const attributionLock = (paths: RunPaths): string => join(paths.folder, 'attribution.lock')
export const gateChecksFolder = (paths: RunPaths, experiment: string): string =>
  join(experimentFolder(paths, experiment), 'gate-checks')
/** Output of a detached `run`; `name` tells one from another. */
export const workerLog = (paths: RunPaths, experiment: string, name: string): string =>
  join(experimentFolder(paths, experiment), `worker-${name}.log`)
/** What setup left in an edit worktree, and the user's checkout as it was at `new`. */
export const worktreeFacts = (paths: RunPaths, experiment: string): string =>
  join(experimentFolder(paths, experiment), 'worktree.json')
/** Held while an edit worktree is made and set up. */
export const worktreeMaking = (paths: RunPaths, experiment: string): string =>
  join(experimentFolder(paths, experiment), 'worktree.lock')
/** Held while a verdict is recorded. */
export const verdictLock = (paths: RunPaths, experiment: string): string =>
  join(experimentFolder(paths, experiment), 'verdict.lock')
/** Short, since sockets in it have 107 bytes; the run is part of it, since ids are per run. */
export const worktreePath = (site: Site, run: string, experiment: string): string =>
  join(site.state, 'w', `${Number(digits(run))}-${digits(experiment)}`)
/** Equal length for both sides: some programs are slower in a longer path. */
export const slotPath = (site: Site, slot: number, side: 'a' | 'b'): string =>
  join(site.state, 'm', String(slot), side)

/** What an isolated checkout has in place of `/tmp` and the caches of the home folder. */
export const slotOwn = (site: Site, slot: number, side: 'a' | 'b'): string =>
  join(site.state, 'm', String(slot), `${side}.own`)

/** What the build of a judged candidate makes again, apart from what was judged. Equal files of two experiments may start from different artifacts. */
export const slotArtifacts = (site: Site, slot: number, run: string, experiment: string): string =>
  join(site.state, 'm', String(slot), 'made', `${run}-${experiment}`)
/** What is known of a measurement checkout: setup, build. */
export const slotFacts = (site: Site, slot: number, side: 'a' | 'b'): string =>
  join(site.state, 'm', String(slot), `${side}.json`)
/** Where a sample writes while it runs: the name says neither whose it is nor what for. */
export const slotDesk = (site: Site, slot: number): string => join(site.state, 'm', String(slot), 'desk')
/** The same for one of two samples that take turns. */
export const slotDeskOf = (site: Site, slot: number, place: 'a' | 'b'): string =>
  join(slotDesk(site, slot), place)
/** Who uses the checkouts of a slot, whatever lease brought them there. */
export const slotLock = (site: Site, slot: number): string => join(site.state, 'm', `${slot}.lock`)
/** A link of the same form: who measures there without isolation, or was the last to do so. */
export const slotOpen = (site: Site, slot: number): string => join(site.state, 'm', `${slot}.open`)
export const worktreeLock = (site: Site): string => join(site.state, 'worktrees.lock')
/** The same for the state that a repository has already. */
export const initLockOf = (env: NodeJS.ProcessEnv, site: Site): string =>
  initLock(env, checkoutAround(site.root)?.commonDir ?? site.root)

/** One `init` at a time for a repository. Outside of its state, which an `init` that fails takes away again. */
export const initLock = (env: NodeJS.ProcessEnv, commonDir: string): string =>
  join(runtimeFolder(env), `init-${createHash('sha256').update(commonDir).digest('hex').slice(0, 16)}.lock`)
/** Who serves the page of a repository, with what its actions need: readable by this user only. */
export const pageRecord = (env: NodeJS.ProcessEnv, site: Site): string =>
  join(runtimeFolder(env), `page-${createHash('sha256').update(site.root).digest('hex').slice(0, 16)}.json`)
/** Results of `worktree.setup` that later worktrees get a copy of, a folder for each key. */
export const setupsFolder = (site: Site): string => join(site.state, 'setups')
export const trashFolder = (site: Site): string => join(site.state, 'trash')
export const pullRequestFile = (paths: RunPaths): string => join(paths.folder, 'pull-request.md')
/** What workflows without a run keep, so that they can be resumed: per user, since they may belong to no repository. */
export const looseWorkflows = (env: NodeJS.ProcessEnv): string => join(userState(env), 'workflows')
export const looseWorkflow = (env: NodeJS.ProcessEnv, run: string): string => join(looseWorkflows(env), run)
export const userState = (env: NodeJS.ProcessEnv): string =>
  join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state'), 'assay')
/** What the user prefers in all projects. */
export const userConfig = (env: NodeJS.ProcessEnv): string =>
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'assay', 'config.yaml')
/** What seals held-out values, and where the held-out files lie: outside of the repository, which agents read. */
export const sealKey = (env: NodeJS.ProcessEnv): string => join(userState(env), 'key')
export const heldOutPlace = (env: NodeJS.ProcessEnv, name: string): string =>
  join(userState(env), 'held-out', name)
/** Machine-wide and per user: measurement leases of every repository meet here. */
export function runtimeFolder(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_RUNTIME_DIR
  if (base && existsSync(base)) return join(base, 'assay')
  return join(tmpdir(), `assay-${process.getuid?.() ?? 'user'}`)
}

export const leaseFolder = (env: NodeJS.ProcessEnv): string => join(runtimeFolder(env), 'slots')

// ---------------------------------------------------------------- ids

export const runId = (n: number): string => `run_${String(n).padStart(4, '0')}`
export const experimentId = (n: number): string => `exp_${String(n).padStart(4, '0')}`
export const isExperimentId = (text: string): boolean => /^exp_\d{4,}$/.test(text)
export const isRunId = (text: string): boolean => /^run_\d{4,}$/.test(text)
/** `exp_0007` → `0007` */
const digits = (id: string): string => id.slice(id.indexOf('_') + 1)

// ---------------------------------------------------------------- finding it

export interface CheckoutPaths {
  /** Top of the checkout. */
  top: string
  gitDir: string
  commonDir: string
}

/** The git checkout around a folder, by its `.git` folder or file; null outside of one. */
export function checkoutAround(cwd: string): CheckoutPaths | null {
  for (const folder of ancestors(cwd)) {
    const dotGit = join(folder, '.git')
    const gitDir = readGitDir(dotGit)
    if (gitDir) return { top: folder, gitDir, commonDir: readCommonDir(gitDir) }
  }
  return null
}

export interface FoundSite {
  site: Site
  /** Set when the folder is inside an edit worktree. */
  run: string | null
  experiment: string | null
}

/**
 * The state that a command in `cwd` means: from an edit worktree, a sub-folder, the main checkout, or any
 * linked worktree of it (also of a bare repository). null when there is none.
 */
export function findSite(cwd: string): FoundSite | null {
  const here = realpath(cwd)
  const inside = insideState(here)
  if (inside) return inside
  const checkout = checkoutAround(here)
  const roots = checkout ? rootsOf(checkout) : ancestors(here)
  for (const root of roots) {
    const site = siteAt(root)
    if (existsSync(site.runs)) return { site, run: null, experiment: null }
  }
  return null
}

/** Where `init` puts the state: the main checkout, or this one when the common folder is bare. */
export function rootForInit(checkout: CheckoutPaths, bare: boolean): string {
  return bare ? checkout.top : (rootsOf(checkout)[0] ?? checkout.top)
}

/** Main checkout first, then this one, then the other linked worktrees. */
function rootsOf(checkout: CheckoutPaths): string[] {
  const roots = basename(checkout.commonDir) === '.git' ? [dirname(checkout.commonDir)] : []
  roots.push(checkout.top)
  const linked = join(checkout.commonDir, 'worktrees')
  for (const name of namesIn(linked)) {
    const text = fileText(join(linked, name, 'gitdir'))
    if (text) roots.push(dirname(resolve(linked, name, text.trim())))
  }
  return [...new Set(roots)]
}

function insideState(here: string): FoundSite | null {
  const parts = here.split(sep)
  // From the inside out: a candidate may have a folder of that name among its own files.
  for (let at = parts.lastIndexOf(STATE_FOLDER); at > 0; at = parts.lastIndexOf(STATE_FOLDER, at - 1)) {
    const site = siteAt(parts.slice(0, at).join(sep) || sep)
    if (!existsSync(site.runs)) continue
    const name = parts[at + 1] === 'w' ? /^(\d+)-(\d{4,})$/.exec(parts[at + 2] ?? '') : null
    return {
      site,
      run: name?.[1] ? runId(Number(name[1])) : null,
      experiment: name?.[2] ? `exp_${name[2]}` : null,
    }
  }
  return null
}

/** Runs by number, finished or not: a folder without a ledger is one whose `init` never came to its end. */
export function listRuns(site: Site): string[] {
  return namesIn(site.runs)
    .filter((name) => isRunId(name) && hasBegun(runPaths(site, name).ledger))
    .sort((a, b) => Number(digits(a)) - Number(digits(b)))
}

/** In bytes. Most first events fit into one piece, and clean memory for the longest would take longer than all the rest. */
const FIRST_LINE = { piece: 4096, most: 64 * 1024 }

/** A ledger without a whole first event belongs to a run that never began. */
function hasBegun(file: string): boolean {
  let fd: number | null = null
  try {
    fd = openSync(file, 'r')
    const piece = Buffer.allocUnsafe(FIRST_LINE.piece)
    for (let seen = 0; seen < FIRST_LINE.most; ) {
      const size = readSync(fd, piece)
      if (size === 0) return false
      if (piece.subarray(0, size).includes('\n')) return true
      seen += size
    }
    return false
  } catch {
    return false
  } finally {
    if (fd !== null) closeSync(fd)
  }
}

function ancestors(from: string): string[] {
  const found: string[] = []
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    found.push(folder)
    if (folder === dirname(folder)) return found
  }
}

function readGitDir(dotGit: string): string | null {
  try {
    if (statSync(dotGit).isDirectory()) return existsSync(join(dotGit, 'HEAD')) ? dotGit : null
    const link = /^gitdir: (.+)$/m.exec(readFileSync(dotGit, 'utf8'))?.[1]
    return link ? resolve(dirname(dotGit), link.trim()) : null
  } catch {
    return null
  }
}

function readCommonDir(gitDir: string): string {
  const text = fileText(join(gitDir, 'commondir'))
  return text ? resolve(gitDir, text.trim()) : gitDir
}

function realpath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}
