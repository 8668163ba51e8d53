import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Obstacle } from '../../disk/remove.ts'
import { shellQuote } from '../../evaluate/command.ts'
import { namesIn } from '../../files.ts'
import { dropRegistration, emptyTrash, registrations } from '../../git/worktrees.ts'
import { experimentId, runId, type Site, trashFolder, worktreePath } from '../../paths.ts'
import { fail, ok } from '../../result.ts'
import { type DoctorCheck, type FixableFinding, fine, type RunScene, warning } from '../check.ts'

/** Folders that agents edit and Assay measures in, against the registry and the ledgers. */
export const worktrees: DoctorCheck = {
  name: 'worktrees',
  async look({ site, runs }) {
    if (!site) return []
    const registered = await registrations(site)
    const stale = registered.filter(({ exists }) => !exists)
    const found = [
      ...stale.map(({ folder, path }) => gone(site, folder, path, runs)),
      ...editFolders(site).flatMap((one) => withoutExperiment(one, runs) ?? []),
    ]
    if (found.length === 0)
      found.push(fine('worktrees', `${registered.length} worktrees, all where they belong`))
    return found
  },
}

function gone(site: Site, folder: string, path: string | null, runs: RunScene[]): FixableFinding {
  const owner = editFolders(site, runs).find((one) => one.path === path)
  const node = owner && runs.find(({ run }) => run === owner.run)?.state?.experiments.get(owner.experiment)
  const open = node?.status === 'open'
  return warning('worktree_missing', {
    what: `the worktree ${path ?? folder} is registered, but its folder is gone`,
    cause: 'it was deleted by something else than Assay',
    repair: open
      ? `edits in it that were not sealed are lost; the next command on ${node.id} makes the folder again from its parent`
      : 'nothing: it is made again when it is needed',
    at: path ?? folder,
    fix: async () =>
      ok(
        (await dropRegistration(site, folder))
          ? `removed the registration of ${path ?? folder}`
          : 'the worktree is there by now',
      ),
  })
}

interface EditFolder {
  path: string
  run: string
  experiment: string
}

/** What lies in the folder of edit worktrees; with `runs`, what should or could. */
function editFolders(site: Site, runs?: RunScene[]): EditFolder[] {
  if (runs) {
    return runs.flatMap(({ run, state }) =>
      [...(state?.experiments.keys() ?? [])].map((experiment) => ({
        path: worktreePath(site, run, experiment),
        run,
        experiment,
      })),
    )
  }
  const folder = join(worktreePath(site, runId(1), experimentId(1)), '..')
  return namesIn(folder).flatMap((name) => {
    const [, run, experiment] = /^(\d+)-(\d{4,})$/.exec(name) ?? []
    if (run === undefined || experiment === undefined) return []
    return [{ path: join(folder, name), run: runId(Number(run)), experiment: `exp_${experiment}` }]
  })
}

function withoutExperiment({ path, run, experiment }: EditFolder, runs: RunScene[]): FixableFinding | null {
  const owner = runs.find((one) => one.run === run)
  // A ledger that cannot be read does not say which worktrees there should be.
  if (owner && (!owner.state || owner.state.experiments.has(experiment))) return null
  return warning('worktree_orphan', {
    what: `${path} belongs to no experiment: ${owner ? `${run} has no ${experiment}` : `there is no ${run}`}`,
    cause: 'its run was withdrawn or deleted, or a person made the folder',
    repair: `save what you need from it, then: rm -r ${shellQuote(path)}`,
    at: path,
  })
}

const notDeleted = ({ path, code }: Obstacle) =>
  ({
    kind: 'failed',
    code: 'not_deleted',
    message: `${path} is in the trash and cannot be deleted: ${code}`,
    hint: `it belongs to another user, or is protected; as a user who may delete it: rm -r ${shellQuote(path)}`,
    at: path,
  }) as const

/** What was removed and not yet deleted. */
export const trash: DoctorCheck = {
  name: 'trash',
  look({ site }) {
    if (!site || !existsSync(trashFolder(site))) return []
    const left = namesIn(trashFolder(site))
    if (left.length === 0) return []
    return [
      warning('trash', {
        what: `${left.length} things in the trash take disk space: ${left.slice(0, 5).join(', ')}`,
        cause: 'worktrees that were removed, and outputs of runs that were withdrawn',
        repair: `look into ${trashFolder(site)} if you miss something, then: assay doctor --fix`,
        at: trashFolder(site),
        fix: async () => {
          const [stuck] = await emptyTrash(site)
          if (stuck) return fail(notDeleted(stuck))
          return ok(`emptied the trash (${left.length})`)
        },
      }),
    ]
  },
}
