/** What every kind of repository of the matrix goes through: from `init` to a kept improvement, by hand verbs. */
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Files, makeRepo, type Repo } from '../../rig/repo.ts'
import { snapshotTree } from '../../rig/snapshot.ts'
import { makeTemp } from '../../rig/temp.ts'
import {
  type InitData,
  type NewData,
  type ProblemJson,
  type Project,
  projectIn,
  type RunData,
  type SpecParts,
  type StatusData,
  specText,
  writeFiles,
} from '../project.ts'

export interface Kind {
  files: Files
  spec: SpecParts
  /** The folder of the spec; default: the root. */
  folder?: string
}

/** A committed repository of that kind with its spec; the project's verbs run in the folder of the spec. */
export function makeKind({ files, spec, folder = '' }: Kind): Project {
  const repo = makeRepo({ files: { ...files, [join(folder, 'assay.yaml')]: specText(spec) } })
  return at(repo, repo.path(folder))
}

/** The same repository, worked on from another folder: a sub-folder, or a clone. */
export const at = (repo: Repo, dir: string): Project => projectIn({ ...repo, dir }, makeTemp('control'))

export interface Journey {
  baseline: number
  /** The improvement, by paths from the root of the repository. */
  edit: Files
  value: number
  /** Sees the fresh worktree, before the edit. */
  inWorktree?: (folder: string) => void
}

/** Rejects when a step does not lead to a kept improvement, or when the user's own files were touched on the way. */
export async function journey(project: Project, { baseline, edit, value, inWorktree }: Journey) {
  const before = snapshotTree(project.repo.dir, { except: EXCEPT })
  const init = await project.data<InitData>('init')
  expect(init.baseline).toMatchObject({ value: baseline, noise: 'deterministic' })
  const made = await project.data<NewData>('new', '-m', 'a better way')
  inWorktree?.(made.worktree)
  writeFiles(made.worktree, edit)
  const run = await project.data<RunData>('run', made.experiment)
  expect(run).toMatchObject({ status: 'kept', value, parent_value: baseline, best: true })
  const status = await project.data<StatusData>('status')
  expect(status.best).toEqual({ experiment: made.experiment, value })
  const diff = await project.data<{ files: { path: string }[] }>('diff', made.experiment, '--stat')
  expect(diff.files.map(({ path }) => path)).toEqual(Object.keys(edit).sort())
  expect(snapshotTree(project.repo.dir, { except: EXCEPT })).toEqual(before)
  return { init, made, run }
}

const EXCEPT = ['.assay', '.git', 'node_modules', '.venv']

/** What `init` says about a set-up that cannot work; nothing of it may stay behind. */
export async function refusedInit(project: Project): Promise<ProblemJson & { exit: number | null }> {
  const problem = await project.problem('init')
  expect(problem.exit).toBe(2)
  return problem
}
