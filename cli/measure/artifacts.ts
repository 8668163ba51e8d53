/**
 * Expensive outputs (a checkpoint, an index, a compiled prompt): built once in the experiment's own folder by
 * `worktree.build` or by the agent, only read by samples, and handed on to other experiments. They outlive attempts
 * and discards, and are part of what a candidate is.
 */

import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { unknownExperiment } from '../ledger/decide.ts'
import type { ArtifactRecord, Created, SampleFault } from '../ledger/events.ts'
import { type Experiment, lastJudged, type State, tainted } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { artifactsFolder } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { RunRecord } from '../run/open.ts'
import type { AttemptRecord } from './steps.ts'

// ---------------------------------------------------------------- what lies in a folder of artifacts, by content

export interface ArtifactFile {
  sha256: string
  bytes: number
  /** A symbolic link (its content is the name of its target), or something that is not hashed, such as a pipe. */
  link: boolean
  /** A file that was written to has a new one, also when it is as it was. */
  stamp: string
}

/** Path relative to the folder, with `/`; sorted. Empty folders do not count. */
export type Listing = ReadonlyMap<string, ArtifactFile>

/** Every file below `place`, hashed; a place that does not exist is empty; a single file has the path `''`. */
export async function listArtifacts(place: string): Promise<Listing> {
  const found = new Map<string, ArtifactFile>()
  for (const path of await pathsIn(place)) found.set(path, await hashed(join(place, path)))
  return found
}

/** The same without reading any file. */
export async function listSizes(folder: string): Promise<{ path: string; bytes: number }[]> {
  const paths = await pathsIn(folder)
  return Promise.all(
    paths.map(async (path) => ({ path, bytes: Number((await lstat(join(folder, path))).size) })),
  )
}

async function pathsIn(folder: string): Promise<string[]> {
  const found: string[] = []
  const top = await lstat(folder).catch(() => null)
  if (top !== null && !top.isDirectory()) return ['']
  const open = ['']
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of await entriesOf(join(folder, at))) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`
      if (entry.isDirectory()) open.push(path)
      else found.push(path)
    }
  }
  return found.sort()
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EACCES') return []
    throw error
  }
}

/** Remembered hashes: a checkpoint may have gigabytes, and one command needs its hash several times. */
const known = new Map<string, { stamp: string; sha256: string }>()
/** A file that changed so lately may change again without a new time stamp. */
const RACY_MS = 100

async function hashed(file: string): Promise<ArtifactFile> {
  try {
    return await contentOf(file)
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
    // Gone in the meantime, or not readable for us: it is no artifact, but it is no bug either.
    return { sha256: sha256('unreadable'), bytes: 0, link: true, stamp: '' }
  }
}

async function contentOf(file: string): Promise<ArtifactFile> {
  const stat = await lstat(file, { bigint: true })
  const bytes = Number(stat.size)
  const stamp = [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ')
  if (stat.isSymbolicLink())
    return { sha256: sha256(`link ${await readlink(file)}`), bytes: 0, link: true, stamp }
  // A pipe would be waited for without end.
  if (!stat.isFile()) return { sha256: sha256('not a file'), bytes: 0, link: true, stamp }
  const before = known.get(file)
  if (before?.stamp === stamp) return { sha256: before.sha256, bytes, link: false, stamp }
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  const digest = hash.digest('hex')
  if (Date.now() - Number(stat.ctimeMs) > RACY_MS) known.set(file, { stamp, sha256: digest })
  return { sha256: digest, bytes, link: false, stamp }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * A file's own hash, or that of a folder's listing; `''` is the whole. null when there is nothing at the path, or when
 * a link is part of it: what a link points to is not hashed.
 */
export function artifactAt(listing: Listing, path: string): { sha256: string; bytes: number } | null {
  const file = listing.get(path)
  if (file) return file.link ? null : { sha256: file.sha256, bytes: file.bytes }
  const prefix = path === '' ? '' : `${path}/`
  const hash = createHash('sha256')
  let bytes = 0
  let files = 0
  for (const [name, one] of listing) {
    if (!name.startsWith(prefix)) continue
    if (one.link) return null
    hash.update(`${name.slice(prefix.length)}\0${one.sha256}\n`)
    bytes += one.bytes
    files++
  }
  return files === 0 ? null : { sha256: hash.digest('hex'), bytes }
}

/** Paths that were added, written to or removed. `content`: only those that hold something else. */
function touchedArtifacts(before: Listing, after: Listing, { content }: { content: boolean }): string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  const markOf = (file?: ArtifactFile) => file && (content ? file.sha256 : `${file.sha256} ${file.stamp}`)
  return [...paths].filter((path) => markOf(before.get(path)) !== markOf(after.get(path))).sort()
}

export type Artifacts = Readonly<Record<string, ArtifactRecord>>
export type ArtifactName = NonNullable<Created['from_artifact']>

/** More labels or longer paths than this do not fit into one line of the ledger. */
const MOST_LABELS = 50
const LONGEST = 400

export interface ArtifactPlaces {
  /** `ASSAY_ARTIFACTS` of this experiment. */
  own: string
  parent: { experiment: string; path: string; recorded: Artifacts } | null
  seed: { name: ArtifactName; path: string; recorded: ArtifactRecord | null } | null
  /** What build and samples see of it. */
  environment: Record<string, string>
}

/** Makes the folders that are missing. */
export function artifactPlaces(run: Pick<RunRecord, 'paths' | 'ledger'>, node: Experiment): ArtifactPlaces {
  const own = artifactsFolder(run.paths, node.id)
  const parent = node.parent === null ? null : parentPlace(run, node.parent)
  for (const folder of [own, parent?.path]) if (folder !== undefined) mkdirSync(folder, { recursive: true })
  const name = node.created.from_artifact ?? null
  const seed = name && { name, ...seedPlace(run, name) }
  return {
    own,
    parent,
    seed,
    environment: {
      ASSAY_ARTIFACTS: own,
      ...(parent === null ? {} : { ASSAY_PARENT_ARTIFACTS: parent.path }),
      ...(seed === null ? {} : { ASSAY_SEED_ARTIFACT: seed.path }),
    },
  }
}

/** Of the last verdict that declared any. */
export function declaredArtifacts(node: Experiment): Artifacts {
  return node.attempts.findLast(({ judged }) => judged?.artifacts)?.judged?.artifacts ?? {}
}

/** Files in the experiment's folder that no verdict names. When the evaluation failed, only these can be measured again. */
export interface Undeclared {
  files: { path: string; bytes: number }[]
  more: number
}

const SHOWN = 10

const covers = (declared: Artifacts, path: string): boolean =>
  Object.values(declared).some(
    (one) => one.path === '.' || one.path === path || path.startsWith(`${one.path}/`),
  )

export async function undeclaredFiles(run: RunRecord, node: Experiment): Promise<Undeclared> {
  const declared = declaredArtifacts(node)
  const listing = await listSizes(artifactsFolder(run.paths, node.id))
  const files = listing.filter(({ path }) => !covers(declared, path))
  return { files: files.slice(0, SHOWN), more: Math.max(0, files.length - SHOWN) }
}

function parentPlace(run: Pick<RunRecord, 'paths' | 'ledger'>, experiment: string) {
  const node = run.ledger.state.experiments.get(experiment)
  return {
    experiment,
    path: artifactsFolder(run.paths, experiment),
    recorded: node ? declaredArtifacts(node) : {},
  }
}

function seedPlace(run: Pick<RunRecord, 'paths' | 'ledger'>, { experiment, label }: ArtifactName) {
  const folder = artifactsFolder(run.paths, experiment)
  const node = run.ledger.state.experiments.get(experiment)
  const recorded = (node && declaredArtifacts(node)[label]) ?? null
  return { path: resolve(folder, recorded?.path ?? label), recorded }
}

/**
 * Finds `exp_0007:label`; `exp_0007` alone means its only declared artifact, else its whole folder. A file that was never
 * declared, because the attempt failed, is named by its path in that folder.
 */
export async function findArtifact(run: RunRecord, text: string): Promise<Result<ArtifactName>> {
  const [experiment = '', ...rest] = text.split(':')
  const node = run.ledger.state.experiments.get(experiment)
  if (!node) {
    return fail({
      ...{ kind: 'usage', ...unknownExperiment(run.run, experiment) },
      hint: next`name it as exp_0007:label; ${call('tree')} lists the experiments`,
    })
  }
  const declared = declaredArtifacts(node)
  const [only, ...others] = Object.keys(declared)
  const label = rest.length > 0 ? rest.join(':') : only !== undefined && others.length === 0 ? only : '.'
  const listing = await listArtifacts(artifactsFolder(run.paths, experiment))
  const path = Object.hasOwn(declared, label) ? declared[label]?.path : insidePath('/', label)
  if (path !== undefined && path !== null && artifactAt(listing, path)) return ok({ experiment, label })
  const has = [...new Set([...Object.keys(declared), ...[...listing.keys()].slice(0, 10)])]
  return fail({
    kind: 'usage',
    code: 'no_artifact',
    message: `${experiment} has no artifact ${label === '.' ? 'at all' : JSON.stringify(label)}`,
    hint:
      has.length > 0
        ? `it has: ${has.join(', ')}`
        : 'artifacts are files that the build or an agent left in ASSAY_ARTIFACTS',
  })
}

/** `path` relative to `folder`, with `/`; null when it leads out of it. */
function insidePath(folder: string, path: string): string | null {
  const inside = relative(folder, resolve(folder, path))
  if (inside === '..' || inside.startsWith(`..${sep}`)) return null
  return inside.split(sep).join('/')
}

// ---------------------------------------------------------------- files that an agent left there, and that no verdict names

const [OWN, PARENTS] = [' in ASSAY_ARTIFACTS', ' in ASSAY_PARENT_ARTIFACTS']
const MOST_LOOSE = 20

/**
 * Files that samples can read although they are in no commit: an agent put them there. What a build makes follows from the
 * candidate's files, so where the spec has one only the first attempt tells them apart, before it is built.
 */
export async function looseArtifacts(
  run: Pick<RunRecord, 'spec' | 'ledger'>,
  node: Experiment,
  { own, parent }: ArtifactPlaces,
  record: AttemptRecord,
): Promise<string[]> {
  const [known] = record.decided('loose')
  if (known) return known.loose
  const builds = run.spec.worktree.build !== null
  if (builds && (node.attempts.length > 1 || record.decided('prepared').length > 0)) return []
  const parents = run.ledger.state.experiments.get(node.parent ?? '')
  const declared = parents ? declaredArtifacts(parents) : {}
  // A person who cleared the doubt about the parent looked at these.
  const told = (parents && lastJudged(parents)?.lasting_doubt) ?? ''
  const ofParent = parent === null || builds ? [] : await listSizes(parent.path)
  const loose = [
    ...(await listSizes(own)).map(({ path }) => path.slice(0, LONGEST) + OWN),
    ...ofParent
      .filter(({ path }) => !covers(declared, path) && !told.includes(path))
      .map(({ path }) => path.slice(0, LONGEST) + PARENTS),
  ].slice(0, MOST_LOOSE)
  if (loose.length > 0) record.decide({ is: 'loose', loose })
  return loose
}

export const looseIn = (record: AttemptRecord): string[] => record.decided('loose')[0]?.loose ?? []

/** Why a keep is in doubt until a person clears it; null when the benchmark declared all of them. */
export function looseDoubt(loose: readonly string[], declared: Artifacts, experiment: string): string | null {
  const open = loose.filter((name) => !(name.endsWith(OWN) && covers(declared, name.slice(0, -OWN.length))))
  if (open.length === 0) return null
  return `its samples could read files that are in no commit, that no build made and that the benchmark did not declare: ${open.join(', ')}; look whether its code reads them (assay diff ${experiment}), and when it does not, assay restore ${experiment} clears it`
}

// ---------------------------------------------------------------- while it is judged

/** What samples must leave as it is. */
export interface Guard {
  places: ArtifactPlaces
  own: Listing
  parent: Listing
  seed: Listing
}

export async function guardArtifacts(places: ArtifactPlaces): Promise<Guard> {
  const { own, parent, seed } = places
  return {
    places,
    own: await listArtifacts(own),
    parent: parent === null ? new Map() : await listArtifacts(parent.path),
    seed: seed === null ? new Map() : await listArtifacts(seed.path),
  }
}

/**
 * Why nothing can be measured with what it starts from: the seed artifact is gone, or it or an artifact of the parent is not
 * as its verdict recorded it. `built`: a build makes the artifacts, so those of the parent may be gone.
 */
export function startFault(
  { places, parent: left, seed: listing }: Guard,
  built: boolean,
): SampleFault | null {
  const { parent, seed } = places
  const environment = (message: string): SampleFault => ({ reason: 'environment', message })
  if (seed !== null) {
    const found = artifactAt(listing, '')
    const name = `${seed.name.experiment}:${seed.name.label}`
    if (found === null) return environment(`the artifact ${name} is gone`)
    if (seed.recorded !== null && found.sha256 !== seed.recorded.sha256)
      return environment(`the artifact ${name} has changed since it was recorded`)
  }
  if (parent === null || holdsDeclared(parent.recorded, left, built)) return null
  return environment(`the artifacts of ${parent.experiment} have changed since they were recorded`)
}

/**
 * What changed between two looks, also if it was put back, by the name that the benchmark knows it by. `content`: only
 * what holds something else, as after a build that was repeated.
 */
export function artifactsChanged(before: Guard, now: Guard, { content = false } = {}): string[] {
  const named = (variable: string, then: Listing, after: Listing) =>
    touchedArtifacts(then, after, { content }).map((path) =>
      path === '' ? variable : `${path} in ${variable}`,
    )
  return [
    ...named('ASSAY_ARTIFACTS', before.own, now.own),
    ...named('ASSAY_PARENT_ARTIFACTS', before.parent, now.parent),
    ...named('ASSAY_SEED_ARTIFACT', before.seed, now.seed),
  ]
}

/** The artifacts that a sample declared, as records; or why they do not hold. */
export function readDeclared(
  { places, own }: Guard,
  declared: Readonly<Record<string, string>> | null,
): { records: Artifacts } | { fault: SampleFault } {
  const records: Record<string, ArtifactRecord> = {}
  const labels = Object.entries(declared ?? {})
  const refuse = (message: string) => ({ fault: { reason: 'metric_error' as const, message } })
  if (labels.length > MOST_LABELS) return refuse(`more than ${MOST_LABELS} artifacts were declared`)
  for (const [label, path] of labels) {
    const name = `artifact ${label.slice(0, LONGEST)}`
    if (label.length > LONGEST || path.length > LONGEST) return refuse(`${name}: label and path are too long`)
    const inside = insidePath(places.own, path)
    if (inside === null) return refuse(`${name} is not inside ASSAY_ARTIFACTS: ${path}`)
    const found = artifactAt(own, inside)
    if (found === null)
      return refuse(
        `${name}: no file ${path} was in ASSAY_ARTIFACTS before the samples; artifacts are made by worktree.build or by the agent, and links do not count`,
      )
    records[label] = { path: inside === '' ? '.' : inside, sha256: found.sha256, bytes: found.bytes }
  }
  return { records }
}

// ---------------------------------------------------------------- identity

const sameSeed = (a: Created, b: Created): boolean =>
  (a.from_artifact?.experiment ?? null) === (b.from_artifact?.experiment ?? null) &&
  (a.from_artifact?.label ?? null) === (b.from_artifact?.label ?? null)

/** Whether what was declared lies unchanged in the folder. What is missing counts as the same if a build makes it. */
export function holdsDeclared(declared: Artifacts, own: Listing, built: boolean): boolean {
  return Object.values(declared).every(({ path, sha256 }) => {
    const found = artifactAt(own, path === '.' ? '' : path)
    return found === null ? built : found.sha256 === sha256
  })
}

/** The artifacts of the parent, from which a build may start; empty when it declared none. */
function startOf(state: State, { parent }: Experiment): string {
  const node = parent === null ? undefined : state.experiments.get(parent)
  const declared = Object.values(node ? declaredArtifacts(node) : {})
  return declared
    .map(({ path, sha256 }) => `${sha256} ${path}\n`)
    .sort()
    .join('')
}

/**
 * The experiment whose verdict counts for this tree with these artifacts, this seed and, if a build may start from them, these
 * artifacts of the parent; null when there is none. One that only lost to an experiment that was revoked later does not count: the
 * other one's value may have been false.
 */
export function twinOf(
  state: State,
  { experiment, tree, artifacts }: { experiment: string; tree: string; artifacts: Listing },
  built: boolean,
): Experiment | null {
  const node = state.experiments.get(experiment)
  for (const twin of state.trees.get(tree) ?? []) {
    const other = state.experiments.get(twin.experiment)
    const judged = other?.attempts.find(({ attempt }) => attempt === twin.attempt)?.judged
    if (!node || !other || !judged || !sameSeed(node.created, other.created)) continue
    if (judged.reason === 'not_better' && tainted(state).has(judged.against ?? '')) continue
    // A person asked for a text to be measured once more.
    if (node.created.text?.by === 'restore' && other.id !== experiment) continue
    if (built && startOf(state, node) !== startOf(state, other)) continue
    const declared = judged.artifacts ?? {}
    // A verdict without artifacts says nothing about a candidate that has some.
    if (Object.keys(declared).length === 0 && artifacts.size > 0 && other.id !== experiment) continue
    if (holdsDeclared(declared, artifacts, built)) return other
  }
  return null
}
