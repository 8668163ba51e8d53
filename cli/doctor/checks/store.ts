import { existsSync } from 'node:fs'
import { shellQuote } from '../../evaluate/command.ts'
import { damagedObjects, fetchObjects, type StoredObject, shownObjects } from '../../git/objects.ts'
import { candidateRef, createRef, existingCommits, missingObjects, ownRefs } from '../../git/refs.ts'
import { storeExists, storeState } from '../../git/store.ts'
import type { Site } from '../../paths.ts'
import { fail, ok } from '../../result.ts'
import {
  type DoctorCheck,
  type FixableFinding,
  fine,
  problem,
  type RunScene,
  type Scene,
  warning,
} from '../check.ts'

/** The store, and in it every candidate that was ever sealed. */
export const store: DoctorCheck = {
  name: 'store',
  async look({ site, runs, checkout }) {
    if (!site) return []
    const broken = unusable(site, runs)
    if (broken) return [broken]
    const state = await storeState(site)
    if (!state.ok) {
      return [
        problem('store_broken', {
          what: `git cannot work with the store: ${state.problem.message}`,
          cause: 'a file of it is missing or damaged',
          repair: `restore ${site.store} from a backup; the ledgers beside it are not touched by this`,
          at: site.store,
        }),
      ]
    }
    const found: FixableFinding[] = []
    if (!state.value.bare) {
      found.push(
        warning('store_not_bare', {
          what: 'the store says that it has a checkout of its own',
          cause: 'its configuration was changed from a worktree',
          repair: `git --git-dir ${shellQuote(site.store)} config core.bare true`,
          at: site.store,
        }),
      )
    }
    const checked = await candidates(site, runs, state.value.partial, checkout)
    return [...found, ...checked]
  },
}

function unusable(site: Site, runs: RunScene[]): FixableFinding | null {
  if (storeExists(site)) return null
  const isThere = existsSync(site.store)
  if (!isThere && runs.length === 0) {
    return warning('store_missing', {
      what: 'there is a state folder without a store and without a run',
      cause: 'an assay init was interrupted',
      repair: 'run assay init again',
      at: site.state,
    })
  }
  return problem(isThere ? 'judge_missing' : 'store_missing', {
    what: isThere
      ? "the judge's folder is not in the store"
      : 'the store is gone: no candidate can be read or measured',
    cause: 'it was deleted or moved by something else than Assay',
    repair: isThere
      ? `restore ${site.store}/judge from a backup; assay init would put this store aside and make a new one`
      : `restore ${site.store} from a backup; what was recorded stays readable, and assay init --new begins again`,
    at: site.store,
  })
}

interface Kept {
  run: string
  experiment: string
  ref: string
  commit: string
}

async function candidates(
  site: Site,
  runs: RunScene[],
  partial: boolean,
  checkout: Scene['checkout'],
): Promise<FixableFinding[]> {
  const kept = runs.flatMap(sealedIn)
  const bases = runs.flatMap(({ state }) => state?.run?.base.commit ?? [])
  const commits = [...new Set([...bases, ...kept.map(({ commit }) => commit)])]
  const [refs, existing] = await Promise.all([ownRefs(site), existingCommits(site, commits)])
  const unread = [refs, existing].find((one) => !one.ok)
  if (!refs.ok || !existing.ok) return unread && !unread.ok ? [unreadable(site, unread.problem.message)] : []
  const found = kept.flatMap((one) => refFinding(site, one, refs.value, existing.value) ?? [])
  for (const commit of bases.filter((base) => !existing.value.has(base)))
    found.push(lost(site, 'a base', commit))
  // In a partial clone git cannot tell what is missing from what was never fetched.
  const missing = partial ? ok([]) : await missingObjects(site, [...existing.value])
  const damaged = partial ? ok([]) : await damagedObjects(site, [...existing.value])
  const named = damaged.ok && damaged.value.length > 0
  if (!missing.ok && !named) found.push(unreadable(site, missing.problem.message))
  if (missing.ok && missing.value.length > 0) {
    found.push(
      problem('objects_missing', {
        what: `${missing.value.length} files or folders of sealed candidates are gone from the store`,
        cause: 'object files were deleted, or the disk lost them',
        repair: elsewhere(site),
        at: site.store,
        data: { objects: missing.value.slice(0, 100) },
        ...fetching(site, checkout, missing.value),
      }),
    )
  }
  if (damaged.ok) found.push(...rewritten(site, damaged.value, missing.ok ? missing.value : [], checkout))
  if (found.length > 0) return found
  return [fine('store', `the store has all ${kept.length} sealed candidates`)]
}

function rewritten(
  site: Site,
  damaged: StoredObject[],
  missing: string[],
  checkout: Scene['checkout'],
): FixableFinding[] {
  const there = damaged.filter(({ oid }) => !missing.includes(oid))
  if (there.length === 0) return []
  return [
    problem('objects_damaged', {
      what: `objects of the store are damaged: ${shownObjects(there)}`,
      cause: 'something else than Assay wrote to the store, for example an agent, or the disk lost a block',
      repair: elsewhere(site),
      at: site.store,
      data: { objects: there.slice(0, 100) },
      ...fetching(
        site,
        checkout,
        there.map(({ oid }) => oid),
      ),
    }),
  ]
}

const elsewhere = (site: Site): string =>
  `assay doctor --fix fetches those that are in your repository; else restore ${site.store} from a backup`

/** The repair, where there is a repository to fetch from. */
const fetching = (
  site: Site,
  checkout: Scene['checkout'],
  oids: readonly string[],
): Pick<FixableFinding, 'fix'> => {
  if (!checkout.ok) return {}
  const { commonDir } = checkout.value
  return {
    fix: async () => {
      const left = await fetchObjects(site, checkout.value, oids)
      if (!left.ok) return left
      if (left.value.length === 0) return ok(`fetched them from ${commonDir}`)
      return fail({
        kind: 'failed',
        code: 'objects_damaged',
        message: `not whole in ${commonDir} either, or damaged in a pack of the store: ${left.value.slice(0, 5).join(', ')}`,
      })
    },
  }
}

const sealedIn = ({ run, state }: RunScene): Kept[] =>
  [...(state?.experiments.values() ?? [])].flatMap(({ id, attempts }) =>
    attempts.map(({ attempt, sealed }) => ({
      run,
      experiment: id,
      ref: candidateRef(run, id, attempt),
      commit: sealed.commit,
    })),
  )

function refFinding(
  site: Site,
  { run, experiment, ref, commit }: Kept,
  refs: Map<string, string>,
  existing: Set<string>,
): FixableFinding | null {
  const is = refs.get(ref)
  if (!existing.has(commit)) return lost(site, `a candidate of ${experiment} in ${run}`, commit)
  if (is === commit) return null
  if (is === undefined) {
    return problem('ref_missing', {
      what: `${ref} is gone; its commit is still there`,
      cause: 'it was deleted by something else than Assay; without it, git may delete that commit',
      repair: `git --git-dir ${shellQuote(site.store)} update-ref ${ref} ${commit}`,
      at: site.store,
      fix: async () => {
        const made = await createRef(site, ref, commit)
        return made.ok ? ok(`made ${ref} again`) : made
      },
    })
  }
  return problem('ref_moved', {
    what: `${ref} is ${is.slice(0, 12)}, and the ledger says ${commit.slice(0, 12)}`,
    cause: 'it was moved by something else than Assay: refs are written once',
    repair: `keep what it is now under a name of your own, then: git --git-dir ${shellQuote(site.store)} update-ref ${ref} ${commit}`,
    at: site.store,
  })
}

const lost = (site: Site, what: string, commit: string): FixableFinding =>
  problem('candidate_lost', {
    what: `the commit ${commit.slice(0, 12)} of ${what} is not in the store`,
    cause: 'object files were deleted, or the disk lost them',
    repair: 'restore the store from a backup; its verdict stands, but it can be neither shown nor built upon',
    at: site.store,
    data: { commit },
  })

const unreadable = (site: Site, message: string): FixableFinding =>
  problem('store_broken', {
    what: `git cannot read the store: ${message}`,
    cause: 'an object or a ref of it is damaged',
    repair: `git --git-dir ${shellQuote(site.store)} fsck names what is broken; restore it from a backup`,
    at: site.store,
  })
