/**
 * The user's own checkout, by the library simple-git: for verbs that look at it or write a branch into it. What is sealed,
 * measured or judged goes through `git.ts`.
 */

import type { SimpleGit } from 'simple-git'
import { fail, ok, type Result } from '../result.ts'
import { type Ending, environment, type GitOptions, gitFailure, PINNED, verbOf } from './git.ts'

/** Allows the options of our own calls, which the library would otherwise refuse as unsafe. */
const TRUSTED = {
  allowUnsafeAskPass: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeEditor: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeGitProxy: true,
  allowUnsafeGpgProgram: true,
  allowUnsafeHooksPath: true,
  allowUnsafeInclude: true,
  allowUnsafePack: true,
  allowUnsafePager: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSshCommand: true,
  allowUnsafeSubmodule: true,
  allowUnsafeTemplateDir: true,
  allowUnsafeDiffExternal: true,
}

export type Porcelain = Pick<SimpleGit, 'raw' | 'init' | 'add' | 'commit' | 'fetch'>

/**
 * Asks git about the repository around a folder, with the environment and the pins of all our calls. Problems: those of
 * `git`. `okCodes`: exit codes that are no failure.
 */
export async function porcelain<T>(
  dir: string,
  ask: (git: Porcelain) => Promise<T>,
  { okCodes = [0], ...options }: Pick<GitOptions, 'config' | 'okCodes'> = {},
): Promise<Result<T>> {
  const { simpleGit } = await import('simple-git')
  const env = environment(options)
  let what = 'git'
  let failed: Ending | null = null
  try {
    const git = simpleGit({
      baseDir: dir,
      config: PINNED,
      unsafe: TRUSTED,
      allowEnvironment: Object.keys(env),
      // The library's errors have the text of git, but no exit code.
      errors: (error, { exitCode, stdErr, stdOut }) => {
        if (okCodes.includes(exitCode)) return undefined
        const said = Buffer.concat(stdErr.length > 0 ? stdErr : stdOut).toString('utf8')
        // When git could not be started, the library puts the reason where git's output would be.
        const code = /^Error: spawn \S+ (E[A-Z]+)/.exec(said)?.[1]
        failed = code ? { notStarted: { code, message: said.trim() } } : { code: exitCode, said: said.trim() }
        return error ?? new Error(said)
      },
    })
    git.env(env)
    git.outputHandler((_, _out, _err, args) => {
      what = `git ${verbOf(args)}`
    })
    return ok(await ask(git))
  } catch (error) {
    return fail(gitFailure(what, dir, failed ?? { notStarted: error as Error }))
  }
}

// ---------------------------------------------------------------- A repository that Assay makes itself

/**
 * Makes a folder that is in no repository of its own a repository with one commit of all that is in it. The user's
 * configuration has no say: no template, hook, signature or ignore rule.
 */
export async function commitFresh(folder: string, message: string): Promise<Result<void>> {
  const made = await porcelain(folder, async (git) => {
    await git.init(['--quiet', '--template=', '--initial-branch=main'])
    await git.add(['--all'])
    await git.commit(message)
  })
  return made.ok ? ok(undefined) : made
}
