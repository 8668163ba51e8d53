/**
 * The rules of git by which a run's candidates become files and files become candidates: attributes, filters and ignore
 * rules, as they were when the run began. They are those of the base and of the user; neither a candidate nor a later
 * run changes them, so one tree has the same bytes in every checkout of the run.
 */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { Checkout } from './checkout.ts'
import { EXCLUDE_LINE } from './exclude.ts'
import { type GitOptions, git, gitFields, IDENTITY, type Identity } from './git.ts'
import { judgeFolder } from './judge-folder.ts'
import { readBlobs, type TreeEntry } from './trees.ts'

// ----------------------------------------------------------------
// Untracked files that are not part of a candidate although no `.gitignore` names them, as one text of ignore rules.

/** Files that editors and desktops leave. A `.gitignore` of the project may take one back with `!`. */
const EDITOR_FILES = [
  '.DS_Store',
  '._*',
  'Thumbs.db',
  'desktop.ini',
  '*.swp',
  '.*.sw[a-p]',
  '*~',
  '.#*',
  '\\#*\\#',
  '.~lock.*#',
]

export interface IgnoreSources {
  /** What a person calls the file. */
  name: string
  /** Bytes (latin1). */
  text: string
}

/** In `info` of the rules: for each line of `exclude`, where the rule is written. */
export const ORIGINS = 'exclude-origins.json'

const EDITOR_FILES_ORIGIN = 'well-known editor files'

/** The text, and for each line of it the rule as a person finds it: `~/.gitignore:3`. The source that wins is last. */
function composeIgnores(sources: readonly IgnoreSources[]): { text: string; origins: string[] } {
  const lines = EDITOR_FILES.map((rule) => ({ rule, origin: `${EDITOR_FILES_ORIGIN} (${rule})` }))
  for (const { name, text } of sources) {
    const own = text.split('\n')
    if (own.at(-1) === '') own.pop()
    for (const [at, rule] of own.entries()) lines.push({ rule, origin: `${name}:${at + 1}` })
  }
  return {
    text: lines.map(({ rule }) => `${rule}\n`).join(''),
    origins: lines.map(({ origin }) => origin),
  }
}

// ----------------------------------------------------------------
// The one text of attributes that decides how git converts files in Assay's checkouts. It goes into
// `info/attributes`, which wins over every `.gitattributes` of a checkout, so a candidate's own have no
// say.

/** What decides how bytes of a blob become bytes of a file, and back. */
const CONVERSION = ['text', 'crlf', 'eol', 'ident', 'filter', 'working-tree-encoding']

/** This filter moves large files into the user's annex, and works nowhere else. See `annexedPaths`. */
const NOT_CARRIED = ['filter=annex']

/** git itself ignores a longer line. */
const LONGEST = 2048

export interface AttributeSources {
  /** `core.attributesFile` of the user. */
  global: string
  /** Every `.gitattributes` of the base; `folder` is `''` for the root. */
  inTree: readonly { folder: string; text: string }[]
  /** `info/attributes` of the user. */
  info: string
}

/**
 * The sources as one text, the one that wins last. Of the attributes only those of conversion are in it, and the macros
 * that set them. Texts and folders are bytes (latin1), so that names in any encoding stay as they are.
 */
export function composeAttributes({ global, inTree, info }: AttributeSources): string {
  const folders = [...inTree].sort(
    (a, b) => depth(a.folder) - depth(b.folder) || (a.folder < b.folder ? -1 : 1),
  )
  const rules = [
    ...rulesIn(global, '', true),
    ...folders.flatMap(({ folder, text }) => rulesIn(text, folder, folder === '')),
    ...rulesIn(info, '', true),
  ]
  const macros = new Set(rules.flatMap(({ macro }) => macro ?? []))
  const counts = new Set([...CONVERSION, 'binary', ...macros])
  return [
    // A candidate could name a macro like an attribute that is set below; a name is a macro by its first definition only.
    ...CONVERSION.filter((name) => !macros.has(name)).map((name) => `[attr]${name}`),
    ...(macros.has('binary') ? [] : ['[attr]binary -text']),
    `* ${CONVERSION.map((name) => `!${name}`).join(' ')}`,
    ...rules.flatMap((rule) => {
      const states = rule.states.filter((state) => counts.has(nameIn(state)) && !NOT_CARRIED.includes(state))
      if (rule.macro !== null) return [`[attr]${[rule.macro, ...states].join(' ')}`]
      return states.length === 0 ? [] : [[quoted(rule.pattern), ...states].join(' ')]
    }),
    '',
  ].join('\n')
}

/** Whether a composed text lets a filter run on any file. */
export const namesFilter = (composed: string): boolean => /^(?!\* !).*[ \t]filter=/m.test(composed)

interface Rule {
  /** The name that this line defines; null = the line is about files. */
  macro: string | null
  pattern: string
  states: string[]
}

function rulesIn(text: string, folder: string, mayDefine: boolean): Rule[] {
  return text.split('\n').flatMap((line) => {
    const rule = line.length > LONGEST ? null : ruleIn(line.replace(/^[ \t\r]+/, '').replace(/\r$/, ''))
    if (rule === null || (rule.macro !== null && !mayDefine)) return []
    if (rule.macro !== null) return [rule]
    // Nothing below a folder pattern is meant by git, and `!` is not allowed.
    if (rule.pattern.startsWith('!') || rule.pattern.endsWith('/')) return []
    return [{ ...rule, pattern: below(folder, rule.pattern) }]
  })
}

function ruleIn(line: string): Rule | null {
  if (line === '' || line.startsWith('#')) return null
  const inQuotes = /^"((?:[^"\\]|\\.)*)"(.*)$/s.exec(line)
  const bare = /^(\S+)(.*)$/s.exec(line)
  const [, raw = '', rest = ''] = inQuotes ?? bare ?? []
  const pattern = inQuotes ? unquoted(raw) : raw
  const states = rest.split(/[ \t\r]+/).filter(Boolean)
  const macro = /^\[attr\](.+)$/.exec(pattern)?.[1] ?? null
  return pattern === '' ? null : { macro, pattern, states }
}

/** As the pattern is read in the root: one without a slash means files at any depth below its folder. */
function below(folder: string, pattern: string): string {
  if (folder === '') return pattern
  const place = folder.replace(/[\\*?[\]]/g, '\\$&')
  if (!pattern.includes('/')) return `${place}/**/${pattern}`
  return `${place}/${pattern.replace(/^\//, '')}`
}

/** `-text`, `!text`, `text=auto` → `text`. */
const nameIn = (state: string): string => state.replace(/^[-!]/, '').replace(/=.*$/s, '')

const depth = (folder: string): number => (folder === '' ? 0 : folder.split('/').length)

const ESCAPES: Record<string, string> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

const unquoted = (raw: string): string =>
  raw.replace(/\\([0-3][0-7]{2}|.)/gs, (_, code: string) =>
    /^\d{3}$/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  )

/** A pattern of plain characters stays as it is; in quotes, only octal escapes are needed. */
function quoted(pattern: string): string {
  if (/^[^\s"#[!\x7f-\xff][^\s"\x7f-\xff]*$/.test(pattern)) return pattern
  const octal = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
  return `"${pattern.replace(/[\\"]|[^ -~]/g, (one) => (one === '\\' || one === '"' ? `\\${one}` : octal(one)))}"`
}

/** Folders in the user's git folder in which filters keep what they need: keys, or the filter itself (transcrypt). */
const CARRIED = ['git-crypt', 'crypt'] as const

/** `files` are those of the base. Answers the name of the folder, which is made of what is in it. */
export async function freezeRules(
  site: Site,
  checkout: Checkout,
  files: readonly TreeEntry[],
): Promise<Result<string>> {
  const settings = await settingsOfJudge(site, checkout)
  if (!settings.ok) return settings
  const attributes = await attributesOf(site, checkout, files)
  if (!attributes.ok) return attributes
  const ignores = await ignoresOf(checkout)
  if (!ignores.ok) return ignores
  const { text, origins } = composeIgnores(ignores.value)
  const links = CARRIED.filter((name) => existsSync(join(checkout.commonDir, name)))
  const written: Record<string, string> = {
    HEAD: 'ref: refs/heads/none\n',
    config: configText(settings.value),
    'info/attributes': attributes.value,
    'info/exclude': text,
    [`info/${ORIGINS}`]: JSON.stringify(origins),
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([written, links]))
    .digest('hex')
  const name = `rules-${digest.slice(0, 16)}`
  const folder = join(judgeFolder(site.store), name)
  if (existsSync(folder)) return ok(name)
  const made = await mkdtemp(join(judgeFolder(site.store), 'new-rules-'))
  try {
    for (const sub of ['refs', 'objects', 'info']) await mkdir(join(made, sub))
    for (const [path, content] of Object.entries(written))
      await writeFile(join(made, path), content, path === 'config' ? 'utf8' : 'latin1')
    await linkCarried(checkout.commonDir, links, made, folder)
    // A different command has made the same folder in the meantime.
    await rename(made, folder).catch((error) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(made, { recursive: true, force: true })
  }
  return ok(name)
}

/** Relative links, so that they hold when the whole project is moved. `place` is where `folder` will lie. */
async function linkCarried(
  commonDir: string,
  names: readonly string[],
  folder: string,
  place: string,
): Promise<void> {
  for (const name of names) await symlink(relative(place, join(commonDir, name)), join(folder, name))
}

/** Filters that agents' git starts look in the folder of the worktree. */
export async function giveFilters(site: Site, folder: string): Promise<void> {
  const rules = site.rules === undefined ? null : join(judgeFolder(site.store), site.rules)
  for (const name of CARRIED) {
    if (rules === null || !existsSync(join(rules, name)) || existsSync(join(folder, name))) continue
    await symlink(relative(folder, join(rules, name)), join(folder, name))
  }
}

/** What git of agents, in worktrees of the store, reads of the user's own files. Nothing of it decides what a candidate is. */
export async function giveRulesToAgents(store: string, checkout: Checkout): Promise<void> {
  const info = join(store, 'info')
  await mkdir(info, { recursive: true })
  for (const [name, own] of [
    ['exclude', `${EXCLUDE_LINE}\n`],
    ['attributes', ''],
  ] as const) {
    const text = own + (await textOf(join(checkout.commonDir, 'info', name)))
    const file = join(info, name)
    if (text === (await textOf(file))) continue
    await writeFile(`${file}-new`, text, 'latin1')
    await rename(`${file}-new`, file)
  }
}

async function settingsOfJudge(site: Site, checkout: Checkout): Promise<Result<Map<string, string>>> {
  const own = await gitFields(['config', '--file', join(judgeFolder(site.store), 'config'), '--list', '-z'])
  if (!own.ok) return own
  const now = await conversionSettings(checkout)
  if (!now.ok) return now
  const settings = new Map<string, string>()
  for (const entry of own.value) {
    const [key = '', ...value] = entry.split('\n')
    // The user may have changed this since the store was made.
    if (/^(core\.(repositoryformatversion|bare)|extensions\..*|gc\..*|maintenance\..*)$/.test(key))
      settings.set(key, value.join('\n'))
  }
  for (const [key, value] of now.value) settings.set(key, value)
  return ok(settings)
}

async function attributesOf(
  site: Site,
  checkout: Checkout,
  files: readonly TreeEntry[],
): Promise<Result<string>> {
  // git follows no link of this name in a tree.
  const own = files.filter(({ path, mode }) => /(^|\/)\.gitattributes$/.test(path) && mode.startsWith('100'))
  const blobs = await readBlobs(
    site,
    own.map(({ oid }) => oid),
  )
  if (!blobs.ok) return blobs
  const global = await fileOfUser(checkout, 'core.attributesFile', 'attributes')
  if (!global.ok) return global
  return ok(
    composeAttributes({
      global: global.value.text,
      inTree: own.map(({ path, oid }) => ({
        folder: bytes(path.slice(0, Math.max(0, path.lastIndexOf('/')))),
        text: blobs.value.get(oid)?.toString('latin1') ?? '',
      })),
      info: await textOf(join(checkout.commonDir, 'info', 'attributes')),
    }),
  )
}

async function ignoresOf(checkout: Checkout): Promise<Result<{ name: string; text: string }[]>> {
  const global = await fileOfUser(checkout, 'core.excludesFile', 'ignore')
  if (!global.ok) return global
  const info = join(checkout.commonDir, 'info', 'exclude')
  return ok([
    { name: global.value.file, text: global.value.text },
    { name: '.git/info/exclude', text: await textOf(info) },
  ])
}

/** A file that a key of the configuration names, or the one that git reads without it. */
async function fileOfUser(
  checkout: Checkout,
  key: string,
  usual: string,
): Promise<Result<{ file: string; text: string }>> {
  const named = await git(['config', '--type=path', '--get', key], {
    dir: checkout.top,
    config: 'user',
    okCodes: [0, 1],
  })
  if (!named.ok) return named
  const set = named.value.toString('utf8').replace(/\n$/, '')
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), '.config')
  const file = set === '' ? join(config, 'git', usual) : resolve(checkout.top, set)
  return ok({ file, text: await textOf(file) })
}

/** As bytes; empty when the file cannot be read, as git takes it. */
const textOf = (file: string): Promise<string> => readFile(file, 'latin1').catch(() => '')

const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

// ---------------------------------------------------------------- What the store takes over from the user's configuration: how bytes on disk become bytes in a tree

/** `transcrypt` is what the filter of that name reads. The filter of git-annex would move files into the user's annex. */
const TAKEN_OVER =
  /^(core\.(autocrlf|eol|symlinks|ignorecase|filemode|precomposeunicode)|filter\.(?!annex\.).+|(lfs|transcrypt)\..+)$/
/** For the git of agents in their worktrees alone. */
const FOR_AGENTS = /^(user\.(name|email)|core\.(attributesfile|excludesfile))$/
/** Without these git calls a partial clone corrupt: it must know that objects may be missing. */
const PARTIAL = /^(extensions\.partialclone|remote\..+\.(promisor|partialclonefilter))$/

/** Of the store itself: an agent that runs `git gc` in its worktree takes nothing that we may still need. */
const OWN: readonly [string, string][] = [
  ['gc.auto', '0'],
  ['gc.pruneExpire', 'never'],
  ['gc.worktreePruneExpire', 'never'],
  ['maintenance.auto', 'false'],
  // The user's key is not for commits of agents, and a prompt for its passphrase would hang them.
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
]

/** What of the user's configuration decides how files are converted, now. */
async function conversionSettings(checkout: Checkout): Promise<Result<Map<string, string>>> {
  return settingsOf(checkout, TAKEN_OVER)
}

/** Writes the configuration of a fresh store. The clone's remote is removed. */
export async function copySettings(checkout: Checkout, store: string): Promise<Result<void>> {
  const file = join(store, 'config')
  const wanted = await settingsOf(checkout, new RegExp(`${TAKEN_OVER.source}|${FOR_AGENTS.source}`))
  if (!wanted.ok) return wanted
  // The clone wrote this section; 128 = there is none.
  const removed = await git(['config', '--file', file, '--remove-section', 'remote.origin'], {
    okCodes: [0, 128],
  })
  if (!removed.ok) return removed
  for (const [key, value] of [...OWN, ...wanted.value]) {
    const set = await git(['config', '--file', file, '--replace-all', key, value])
    if (!set.ok) return set
  }
  return ok(undefined)
}

async function settingsOf(checkout: Checkout, which: RegExp): Promise<Result<Map<string, string>>> {
  const listed = await gitFields(['config', '--list', '-z'], { dir: checkout.top, config: 'user' })
  if (!listed.ok) return listed
  const settings = new Map(settingsIn(listed.value, which))
  const lfs = join(checkout.commonDir, 'lfs')
  if (existsSync(lfs) && !settings.has('lfs.storage')) settings.set('lfs.storage', lfs)
  return ok(settings)
}

/** Entries of `config --list -z`: `key\nvalue`, or `key` alone for a bare true. The last one of a key wins. */
function* settingsIn(entries: readonly string[], which: RegExp): Generator<[string, string]> {
  const isPartial = entries.some((entry) => /^(extensions\.partialclone|remote\..+\.promisor)\n/.test(entry))
  for (const entry of entries) {
    const cut = entry.indexOf('\n')
    const key = cut < 0 ? entry : entry.slice(0, cut)
    const value = cut < 0 ? 'true' : entry.slice(cut + 1)
    if (which.test(key) || (isPartial && PARTIAL.test(key))) yield [key, value]
  }
}

/** A file of git's with these settings; a key as `config --list` prints it. */
function configText(settings: ReadonlyMap<string, string>): string {
  return [...settings]
    .map(([key, value]) => {
      const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
      const sub = first === last ? '' : ` "${key.slice(first + 1, last).replace(/[\\"]/g, '\\$&')}"`
      const escaped = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
      return `[${key.slice(0, first)}${sub}]\n\t${key.slice(last + 1)} = "${escaped}"\n`
    })
    .join('')
}

// ---------------------------------------------------------------- the committer of the commits of `finish`, by the user's own git

export interface Committing {
  /** The user, when git knows name and address; else Assay. The author is always Assay, which made the change. */
  committer: Identity
  /** `commit.gpgSign`: OpenPGP, X.509 or ssh, as `gpg.format` says. */
  sign: boolean
}

/** As git in the user's checkout would commit. */
export async function committingOf(site: Site): Promise<Result<Committing>> {
  const options: GitOptions = { dir: site.root, config: 'user', okCodes: [0, 1] }
  const named = await gitFields(
    ['config', '-z', '--get-regexp', '^(user|committer)\\.(name|email)$'],
    options,
  )
  if (!named.ok) return named
  const known = new Map(named.value.map((entry) => [entry.split('\n')[0], entry.split('\n')[1]]))
  const name = known.get('committer.name') ?? known.get('user.name')
  const email = known.get('committer.email') ?? known.get('user.email')
  const asked = await git(['config', '-z', '--type=bool', '--get-all', 'commit.gpgSign'], options)
  if (!asked.ok) return asked
  const values = asked.value.toString('utf8').split('\0').slice(0, -1)
  // The last one is Assay's own, by which nothing else that it does is signed.
  const sign = values.at(-2) === 'true'
  return ok({ committer: name && email ? { name, email } : IDENTITY, sign })
}
