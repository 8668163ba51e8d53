/** How a run is isolated: decided once, before its baseline is judged, and loosened where the baseline needs it. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Pinned } from '../git/store.ts'
import type { IsolationRule } from '../ledger/events.ts'
import { BASELINE } from '../ledger/state.ts'
import { isolationsFolder } from '../paths.ts'
import { isolationSupport } from '../process.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { nodeFor, type OpenRun, type RunRecord } from '../run/open.ts'
import { doErrand, type ErrandKind } from './errand.ts'

import { ISOLATION_RULES, type IsolationChoice } from './isolation.ts'
import { gateIn, sampleIn } from './session.ts'
import { interrupted, type LeasedSlot, leaseSlot, placeCandidate, type RunInSlot } from './slot.ts'
import { numberedFolder } from './without-attempt.ts'

/**
 * The isolation that the run has recorded; else what the spec and the machine allow. null: a version without isolation
 * began the run. Problem `isolation_missing` with `measure.isolation: strict`.
 */
export async function chooseIsolation(run: OpenRun): Promise<Result<IsolationChoice | null>> {
  const { isolation } = run.ledger.state
  if (isolation) return ok(isolation)
  const config = run.spec.measure.isolation
  if (!config) return ok(null)
  if (config.mode === 'none') return ok(notIsolated('measure.isolation is none'))
  const support = await isolationSupport(run.env)
  if (support.works) return ok({ method: 'bubblewrap', without: [], allow: [], why: 'bubblewrap works here' })
  if (config.mode === 'auto') return ok(notIsolated(`${support.why}; ${support.repair}`))
  return fail({
    kind: 'usage',
    code: 'isolation_missing',
    message: `measure.isolation is strict, and ${support.why}`,
    hint: support.repair,
  })
}

const notIsolated = (why: string): IsolationChoice => ({ method: null, without: [], allow: [], why })

/** Records the isolation of the run, which counts from here on. */
export function recordIsolation(run: OpenRun, choice: IsolationChoice): Result<void> {
  const { method, without, allow, why } = choice
  const proposal = run.ledger.propose({ type: 'isolated', method, without, allow, why }, run.clock())
  return proposal.ok ? ok(undefined) : proposal
}

const TRIES = 24
const LIMIT_MS = 600_000

/**
 * The isolation under which a baseline that failed works, with as few rules dropped as could be found; the same isolation
 * when the baseline works with it by now. null when isolation is not the cause. `said` is what the baseline printed. Problem `isolation_refused` with `strict`.
 */
export async function loosenIsolation(
  run: OpenRun,
  choice: IsolationChoice,
  said: string,
): Promise<Result<IsolationChoice | null>> {
  if (choice.method === null) return ok(null)
  const node = nodeFor(run, BASELINE)
  if (!node.ok) return node
  const given = { node: node.value, asked: { choice, said }, candidates: [run.started.base] }
  const home = numberedFolder(isolationsFolder(run.paths)).folder
  const done = await doErrand(run, LOOSER, { ...given, home, about: 'the baseline without isolation' })
  if (!done.ok) return done
  const { found } = done.value
  if (found === null || run.spec.measure.isolation?.mode !== 'strict') return ok(found)
  return JSON.stringify(found) === JSON.stringify(choice) ? ok(found) : fail(refused(found))
}

export const LOOSER: ErrandKind<Pick<Search, 'choice' | 'said'>, IsolationChoice | null> = {
  name: 'looser-isolation',
  take: async (run, { asked, candidates: [base] }) => {
    if (!base) throw new Error('the search for an isolation needs the baseline')
    const leased = await leaseSlot(run)
    if (leased === null) return fail(interrupted)
    if (!leased.ok) return leased
    const outputs = mkdtempSync(join(tmpdir(), 'assay-isolation-'))
    mkdirSync(join(outputs, 'samples'))
    try {
      run.tell({
        type: 'preparing',
        what: 'the baseline without isolation, to see whether that is why it failed',
      })
      return ok(await search(run, leased.value, { ...asked, base, outputs }))
    } finally {
      rmSync(outputs, { recursive: true, force: true })
      leased.value.release()
    }
  },
}

interface Search {
  choice: IsolationChoice
  said: string
  base: Pinned
  outputs: string
}

async function search(
  run: OpenRun,
  leased: LeasedSlot,
  { choice, said, base, outputs }: Search,
): Promise<IsolationChoice | null> {
  let tries = 0
  const began = performance.now()
  const spent = () => run.signal.aborted || ++tries > TRIES || performance.now() - began > LIMIT_MS
  const works = async (isolation: IsolationChoice | null) =>
    !spent() && (await baselineHolds(run, { ...leased, isolation }, base, { outputs, repeatSetup: true }))
  if (!(await works(null))) return null
  // The run without isolation may have filled caches that the baseline now finds. Then no rule is the cause.
  if (await works(choice)) return choice
  const given = { ...choice, why: 'the baseline does not work otherwise' }
  for (const path of refusedPaths(said)) {
    const open = { ...given, allow: [...choice.allow, path] }
    if (await works(open)) return open
  }
  const rules = likelyFirst(said)
  for (const rule of rules) {
    const open = { ...given, without: [rule] }
    if (await works(open)) return open
  }
  if (!(await works({ ...given, without: [...rules] })))
    return notIsolated(
      'the baseline works only without isolation, and no single rule of the isolation is the cause',
    )
  let without = [...rules]
  for (const rule of rules) {
    const fewer = without.filter((one) => one !== rule)
    if (await works({ ...given, without: fewer })) without = fewer
  }
  return { ...given, without }
}

const NETWORK =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|ECONNREFUSED|getaddrinfo|resolve host|Network is unreachable|name resolution/i

function likelyFirst(said: string): IsolationRule[] {
  const first: IsolationRule[] = NETWORK.test(said) ? ['network'] : []
  return [...first, ...ISOLATION_RULES.filter((rule) => !first.includes(rule))]
}

/** Folders that a program complains it cannot write to, at most three. */
function refusedPaths(said: string): string[] {
  const found = new Set<string>()
  for (const line of said.split('\n')) {
    if (!/read-only file system|EROFS/i.test(line)) continue
    const path = /(?:^|[\s'"`(=:])(\/[^\s'"`:,)]+)/.exec(line)?.[1]
    if (path !== undefined && path !== '/') found.add(dirname(path))
  }
  return [...found].filter((path) => path !== '/').slice(0, 3)
}

/** What to write into the spec for a rule that was dropped. */
const LINES: Record<IsolationRule, { needs: string; line: string }> = {
  network: { needs: 'needs the network', line: 'network: true' },
  caches: { needs: 'writes to caches of the home folder', line: 'allow: [~/.cache]' },
  temporary: { needs: 'needs files in /tmp', line: 'allow: [/tmp, /var/tmp]' },
  repository: { needs: 'reads your own checkout', line: 'allow: [.]' },
  sealed: { needs: 'writes to immutable files', line: "write: ['bench/**']" },
  read_only: { needs: 'writes outside of its checkout', line: 'allow: [/]' },
}

/** Whether what is measured cannot see the user's own checkout. */
export function hidesCheckout({ ledger }: Pick<RunRecord, 'ledger'>): boolean {
  const { isolation } = ledger.state
  return isolation?.method != null && !isolation.without.includes('repository')
}

/** One sentence for each part that is not isolated although it could be; empty when everything is isolated. */
export function isolationWarnings({ ledger, spec }: Pick<RunRecord, 'ledger' | 'spec'>): string[] {
  const { isolation } = ledger.state
  if (!isolation || spec.measure.isolation?.mode === 'none') return []
  if (isolation.method === null) return [`samples are not isolated from this machine: ${isolation.why}`]
  return described(isolation).map(
    ({ needs, line }) =>
      `the baseline ${needs}, so Assay allows it in this run; to allow it in the spec, write measure: { ${line} }`,
  )
}

const described = ({ without, allow }: IsolationChoice) => [
  ...without.map((rule) => LINES[rule]),
  ...allow.map((path) => ({ needs: `writes to ${path}`, line: `allow: [${path}]` })),
]

function refused(found: IsolationChoice): Problem {
  const reasons = described(found)
  return {
    kind: 'usage',
    code: 'isolation_refused',
    message:
      reasons.length === 0
        ? `the baseline works only without isolation, but measure.isolation is strict`
        : `measure.isolation is strict, but the baseline ${reasons.map(({ needs }) => needs).join(', and ')}`,
    hint:
      reasons.length === 0
        ? 'write measure.isolation: auto'
        : `to allow this, add to assay.yaml: measure: { ${reasons.map(({ line }) => line).join(', ')} }`,
  }
}

// ---------------------------------------------------------------- whether the baseline passes
// Whether the baseline passes setup, build, gates and one sample. The searches for an isolation or a variable that it
// needs call it.

export interface BaselineCheck {
  /** Existing, with a folder `samples`. */
  outputs: string
  /** Whether setup is repeated as well. */
  repeatSetup: boolean
}

/** Setup, build, gates and one sample in the slot, with the environment and the isolation of `leased`. */
export async function baselineHolds(
  run: RunInSlot,
  leased: LeasedSlot,
  base: { commit: string; tree: string },
  { outputs, repeatSetup }: BaselineCheck,
): Promise<boolean> {
  const placed = await placeCandidate(run, leased, 'b', base, { outputs, repeatSetup, rebuild: true })
  if (!placed.ok || placed.value.setup || placed.value.build) return false
  for (const gate of run.spec.gates)
    if (!(await gateIn(run, leased, placed.value, gate, outputs)).passed) return false
  const at = { stage: 'check', side: 'candidate', pair: 0, seed: 1 } as const
  const sample = await sampleIn(run, leased, placed.value, { ...at, folder: outputs, secluded: true })
  return sample.fault === null
}
