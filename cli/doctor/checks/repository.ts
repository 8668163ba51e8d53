import { repositoryKind } from '../../git/repository.ts'
import { type DoctorCheck, type FixableFinding, fine, problem, warning } from '../check.ts'

const SHOWN = 5

/** The user's repository: whether git can read it, and which of its files are missing in a fresh checkout. */
export const repository: DoctorCheck = {
  name: 'repository',
  async look({ checkout }) {
    if (!checkout.ok) {
      const { code, message, hint, at } = checkout.problem
      const isNone = code === 'not_a_repository'
      return [
        (isNone ? warning : problem)(code, {
          what: message,
          cause: 'Assay optimises what is committed in a git repository',
          repair: hint?.toString() ?? null,
          ...(at === undefined ? {} : { at }),
        }),
      ]
    }
    const { top, head, dirty } = checkout.value
    if (head === null) {
      return [
        problem('empty_repository', {
          what: 'this repository has no commit yet',
          cause: 'there is nothing to compare a candidate with',
          repair: 'make a first commit: git add -A && git commit -m "start"',
          at: top,
        }),
      ]
    }
    const kind = await repositoryKind(checkout.value)
    if (!kind.ok) {
      return [
        problem('repository_unreadable', {
          what: kind.problem.message,
          cause: 'git cannot list the files of this repository',
          repair: 'git fsck names what is broken',
          at: top,
        }),
      ]
    }
    const found: FixableFinding[] = [fine('repository', `git reads ${top}`, { uncommitted: dirty.length })]
    const { shallow, partial, sparse, autocrlf, submodules, lfsPointers, lfsInstalled } = kind.value
    if (shallow)
      found.push(fine('repository_shallow', 'a shallow clone: it works, its history just ends early'))
    if (partial) {
      found.push(
        warning('repository_partial', {
          what: 'a partial clone: some files are fetched only when they are needed',
          cause: 'git clone --filter left them out, so a checkout may need the network',
          repair: 'fetch them once: git fetch --refetch --no-filter',
          at: top,
        }),
      )
    }
    if (sparse) {
      found.push(
        warning('repository_sparse', {
          what: 'a sparse checkout: you see fewer files than a candidate has',
          cause:
            'core.sparseCheckout is set here; the checkouts that Assay makes are full ones: each takes the room and the time of all files',
          repair: 'nothing, unless the benchmark counts files: then git sparse-checkout disable',
          at: top,
        }),
      )
    }
    if (autocrlf === 'true') {
      found.push(
        warning('autocrlf', {
          what: 'core.autocrlf is true: git writes CR LF into every checkout',
          cause: 'it is meant for Windows; programs and hashes here see other bytes than the commit has',
          repair: 'git config core.autocrlf input, then check the files out again',
          at: top,
        }),
      )
    }
    if (submodules.length > 0) {
      found.push(
        warning('submodules', {
          what: `${submodules.length} submodules: ${some(submodules)}`,
          cause: 'a checkout that Assay makes has empty folders in their place',
          repair: 'if the benchmark needs them: worktree.setup: { command: git submodule update --init }',
          at: top,
          data: { paths: submodules.slice(0, 100) },
        }),
      )
    }
    if (lfsPointers.length > 0) found.push(pointers(lfsPointers, lfsInstalled, top))
    return found
  },
}

function pointers(paths: string[], installed: boolean, at: string): FixableFinding {
  return problem(installed ? 'lfs_not_pulled' : 'lfs_missing', {
    what: `${paths.length} files are git-lfs pointers in place of their content: ${some(paths)}`,
    cause: installed
      ? 'their content was never fetched'
      : 'git-lfs is not installed, so a benchmark reads the pointers',
    repair: installed ? 'git lfs pull' : 'install git-lfs, then: git lfs install && git lfs pull',
    at,
    data: { paths: paths.slice(0, 100) },
  })
}

const some = (paths: string[]): string =>
  paths.slice(0, SHOWN).join(', ') + (paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '')
