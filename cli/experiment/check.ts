/** The checks that reject a seal at no cost: secrets, scope, limits, packages that nobody approved, no change, a duplicate. */
import { figure } from '../evaluate/figure.ts'
import { changesBetween, listTree, readBlobs, type TreeEntry } from '../git/trees.ts'
import { approvedPackages } from '../ledger/backlog.ts'
import type { Reason } from '../ledger/events.ts'
import { BASELINE, lastJudged } from '../ledger/state.ts'
import { twinOf } from '../measure/artifacts.ts'
import { scopeOfRun } from '../measure/data.ts'
import { pathOfText, type Seal } from '../measure/seal.ts'
import { type AddedPackage, addedPackages, namesPackages } from '../packages/added.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { breachesOfScope } from '../spec/rules.ts'

export interface CheckFinding {
  code: Extract<Reason, 'empty' | 'out_of_scope' | 'over_limit' | 'secret' | 'dependency' | 'duplicate'>
  path: string | null
  message: string
}

/** In the order of the life cycle: scope first, then what is known. The first finding's code is the reason. */
export async function checkSeal(run: OpenRun, seal: Seal): Promise<Result<CheckFinding[]>> {
  if (seal.experiment === BASELINE) return ok(secretFindings(seal))
  const packages = await unapprovedPackages(run, seal)
  if (!packages.ok) return packages
  const added = packages.value.map(({ path, message }) => ({ code: 'dependency' as const, path, message }))
  return ok([
    ...secretFindings(seal),
    ...scopeFindings(run, seal),
    ...textFindings(run, seal),
    ...added,
    ...knownFindings(run, seal),
  ])
}

function secretFindings({ secrets }: Seal): CheckFinding[] {
  return secrets.map(({ path, reason }) => ({
    code: 'secret',
    path,
    message: `${path} looks like a secret (${reason}): it must not become part of a candidate`,
  }))
}

function scopeFindings(run: OpenRun, { changes }: Seal): CheckFinding[] {
  const { out_of_scope, over_limit } = breachesOfScope(changes, run.spec.scope, scopeOfRun(run))
  return [
    ...out_of_scope.map(({ path, why }) => ({
      code: 'out_of_scope' as const,
      path,
      message: `${path}: ${why}`,
    })),
    ...over_limit.map(({ limit, value, max }) => ({
      code: 'over_limit' as const,
      path: null,
      message: `${value} ${limit} changed, scope.limits.${limit} is ${max}`,
    })),
  ]
}

/** Of a suite: an experiment changes exactly one of its texts, and nothing else, so that its loss is a loss of that text. */
function textFindings(run: OpenRun, { changes, texts }: Seal): CheckFinding[] {
  const { suite } = run.spec.measure
  if (!suite || changes.length === 0) return []
  const files = new Map(suite.artifacts.map(({ name, file }) => [pathOfText(run, file), name]))
  const names = texts.map(({ artifact }) => artifact)
  return [
    ...changes.flatMap(({ path }) =>
      files.has(path)
        ? []
        : [
            {
              code: 'out_of_scope' as const,
              path,
              message: `${path}: no text of the suite; an experiment changes one of ${[...files.values()].join(', ')}`,
            },
          ],
    ),
    ...(names.length > 1
      ? [
          {
            code: 'over_limit' as const,
            path: null,
            message: `${names.length} texts changed (${names.join(', ')}), and an experiment changes exactly one`,
          },
        ]
      : []),
    ...texts.flatMap(({ artifact, chars }) => {
      const most = suite.artifacts.find(({ name }) => name === artifact)?.maxChars ?? 0
      if (chars !== null && chars <= most) return []
      const message =
        chars === null
          ? `${artifact} is gone: its file must stay, with the new text`
          : `${artifact} has ${chars} characters, max_chars is ${most}`
      return [{ code: 'over_limit' as const, path: null, message }]
    }),
  ]
}

function knownFindings(run: OpenRun, seal: Seal): CheckFinding[] {
  const { state } = run.ledger
  const seed = state.experiments.get(seal.experiment)?.created.from_artifact ?? null
  if (seal.tree === seal.parentTree && seed === null && seal.artifacts.size === 0) {
    const left =
      seal.leftOut.length > 0
        ? `; left out, outside scope.mutable: ${seal.leftOut.slice(0, 5).join(', ')}`
        : ''
    const ignored =
      seal.ignored.length > 0
        ? `; ignored: ${seal.ignored
            .slice(0, 5)
            .map(({ path, rule }) => `${path} (${rule})`)
            .join(', ')}`
        : ''
    return [{ code: 'empty', path: null, message: `nothing changed against the parent${left}${ignored}` }]
  }
  const node = twinOf(state, seal, run.spec.worktree.build !== null)
  if (!node) return []
  const judged = lastJudged(node)
  const value = judged?.value ?? null
  return [
    {
      code: 'duplicate',
      path: null,
      message: `the same ${seal.artifacts.size > 0 || seed !== null ? 'files and artifacts' : 'files'} were judged as ${node.id}: ${node.status === 'revoked' ? `revoked, ${node.why ?? 'without a reason'}` : `${judged?.status ?? node.status}${value === null ? '' : `, ${figure(value)}`}`}`,
    },
  ]
}

// ---------------------------------------------------------------- which packages a candidate adds to the baseline without an approval

/** None if the spec does not have `dependencies`. */
async function unapprovedPackages(run: OpenRun, { tree }: Seal): Promise<Result<AddedPackage[]>> {
  const approved = approvedPackages(run.ledger.state)
  if (approved === null) return ok([])
  const { base } = run.started
  const changes = await changesBetween(run.site, base.tree, tree)
  if (!changes.ok) return changes
  const changed = changes.value
    .filter(({ path, status }) => status !== 'D' && namesPackages(path))
    .map(({ path, newMode, newOid }) => ({ path, mode: newMode, oid: newOid }))
  if (changed.length === 0) return ok([])
  const all = await listTree(run.site, base.tree)
  if (!all.ok) return all
  const before = await textsOf(
    run,
    all.value.filter(({ path }) => namesPackages(path)),
  )
  if (!before.ok) return before
  const after = await textsOf(run, changed)
  if (!after.ok) return after
  return ok(addedPackages(before.value, after.value, approved))
}

/** A candidate that adds a link is out of scope anyway. */
const isFile = (mode: string): boolean => mode.startsWith('100')

async function textsOf(
  run: OpenRun,
  entries: readonly Pick<TreeEntry, 'path' | 'mode' | 'oid'>[],
): Promise<Result<Map<string, string>>> {
  const files = entries.filter(({ mode }) => isFile(mode))
  const blobs = await readBlobs(run.site, [...new Set(files.map(({ oid }) => oid))])
  if (!blobs.ok) return blobs
  return ok(new Map(files.map(({ path, oid }) => [path, blobs.value.get(oid)?.toString('utf8') ?? ''])))
}
