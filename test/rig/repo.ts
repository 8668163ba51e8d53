import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { execaSync } from 'execa'
import { type SimpleGit, simpleGit } from 'simple-git'
import { isolatedEnv, makeTemp } from './temp.ts'

/** Path → text, or text with a mode. */
export type Files = Record<string, string | { text: string; mode: number }>

/** A real repository in a fresh folder. */
export interface Repo {
  dir: string
  env: NodeJS.ProcessEnv
  /** Runs git here and returns what it printed, without the final newline. Throws when git fails. */
  git: (...args: string[]) => string
  /** The same repository as a person asks it: branches, log, status. */
  user: SimpleGit
  path: (...parts: string[]) => string
  read: (path: string) => string
  write: (files: Files) => void
  /** Writes the files, adds everything and commits it; returns the commit. */
  commit: (message: string, files?: Files) => string
}

/** A repository on branch `main` with one commit of `files`, then one of each entry of `commits`. */
export function makeRepo({ files, commits = [] }: { files: Files; commits?: Files[] }): Repo {
  const repo = repoAt(makeTemp('repo'))
  repo.git('init', '--quiet', '--initial-branch=main')
  repo.git('config', 'user.name', 'Rig')
  repo.git('config', 'user.email', 'rig@example.invalid')
  repo.commit('first', files)
  for (const [index, entries] of commits.entries()) repo.commit(`commit ${index + 2}`, entries)
  return repo
}

/** The repository that is, or will be, in this folder. */
export function repoAt(dir: string): Repo {
  const env = isolatedEnv()
  const git = (...args: string[]) =>
    execaSync('git', args, { cwd: dir, env, extendEnv: false, stdin: 'ignore' }).stdout
  const write = (entries: Files) => {
    for (const [path, entry] of Object.entries(entries)) {
      const file = join(dir, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof entry === 'string' ? entry : entry.text)
      if (typeof entry !== 'string') chmodSync(file, entry.mode)
    }
  }
  const commit = (message: string, entries: Files = {}) => {
    write(entries)
    git('add', '--all')
    git('commit', '--quiet', '--allow-empty', '--message', message)
    return git('rev-parse', 'HEAD')
  }
  return {
    dir,
    env,
    git,
    // The rig's own variables name its configuration.
    user: simpleGit(dir, {
      unsafe: { allowUnsafeConfigPaths: true },
      allowEnvironment: Object.keys(env),
    }).env(env),
    path: (...parts) => join(dir, ...parts),
    read: (path) => readFileSync(join(dir, path), 'utf8'),
    write,
    commit,
  }
}
