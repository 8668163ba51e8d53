/** Every probe of a host's own workflow tool, against ours. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { NO_USAGE } from '../../cli/hosts/host.ts'
import type { AgentCall, AgentReply } from '../../cli/workflow/call.ts'
import { launchError, loadScript } from '../../cli/workflow/script.ts'
import { findScript, readScript, scriptFolders } from '../../cli/workflow/scripts.ts'
import { AGENT_PROBES } from './parity/agent-probes.ts'
import { DIFFERENCES } from './parity/differences.ts'
import { META_PROBES } from './parity/meta-probes.ts'
import { ANSWER, type Expected, type Launch, type Probe } from './parity/probe.ts'
import { VALUE_PROBES } from './parity/value-probes.ts'
import { play, text, useRig } from './rig.ts'

const PROBES = [...META_PROBES, ...VALUE_PROBES, ...AGENT_PROBES]
const rig = useRig()

/** Where one probe runs: `$W` in scripts and answers is `work`. */
interface Place {
  folder: string
  work: string
  placed: (contents: string) => string
}

function placeFor(probe: Probe): Place {
  const folder = mkdtempSync(join(rig.folder, 'probe-'))
  const work = join(folder, 'work')
  const placed = (contents: string) => contents.replaceAll('$W', work)
  mkdirSync(work)
  for (const [path, contents] of Object.entries(probe.files ?? {})) {
    const file = join(work, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, placed(contents))
  }
  return { folder, work, placed }
}

// One of them waits for six stalls.
describe.concurrent('a script ends as in a host', () => {
  test.each(PROBES)('$name', async (probe) => {
    const place = placeFor(probe)
    let last: unknown
    for (const launch of probe.launches) last = await launched(place, probe, launch)
    expect(last).toEqual(adapted(probe))
  })
})

test('every deliberate difference belongs to a probe and differs', () => {
  const names = PROBES.map((probe) => probe.name)
  for (const { probe, theirs, ours } of DIFFERENCES) {
    expect(names).toContain(probe)
    expect(ours).not.toEqual(theirs)
  }
  expect(new Set(names).size).toBe(53)
})

async function launched({ folder, work, placed }: Place, probe: Probe, launch: Launch): Promise<unknown> {
  const folders = scriptFolders({ cwd: work, home: join(folder, 'home'), bundled: join(folder, 'none') })
  const found =
    'script' in launch
      ? { ok: true as const, value: { source: placed(launch.script), file: null } }
      : 'name' in launch
        ? findScript(launch.name, folders)
        : readScript(launch.path, work)
  if (!found.ok) return { refused: found.problem.message }
  const { source, file } = found.value
  const loaded = loadScript(source, { file: file ?? 'workflow.js', inline: file === null })
  if (!loaded.ok) return { refused: launchError(loaded.problem) }
  const counts = new Map<string, number>()
  const outcome = await play(rig, '', {
    source,
    file,
    args: launch.args,
    journal: join(folder, 'journal.jsonl'),
    resume: launch.resume === true,
    scripts: { cwd: work, folders },
    agentTypes: ['claude'],
    ...(probe.firstSliceMs === undefined ? {} : { firstSliceMs: probe.firstSliceMs }),
    play: (call) => answer(probe, call, counts),
  })
  const { status, result, error, logs, phases, agents, facts } = outcome
  const replayed = facts.filter((fact) => fact.type === 'agent' && fact.state === 'replayed').length
  const shown = { status, result, error: error?.split('\n')[0] ?? null, logs, phases, agents, replayed }
  return JSON.parse(JSON.stringify(shown).replaceAll(work, '$W'))
}

async function answer(probe: Probe, call: AgentCall, counts: Map<string, number>): Promise<AgentReply> {
  const rule = probe.agents?.find(
    (one) => one.prompt.test(call.prompt) && (one.structured !== true || call.schema !== null),
  )
  if (rule === undefined) return text(call.isolation === null ? ANSWER : `isolation: ${call.isolation}`)
  const times = counts.get(String(call.index)) ?? 0
  counts.set(String(call.index), times + 1)
  const { text: words = '', object, after, fails, tokens } = rule.answers[times] ?? rule.answers.at(-1) ?? {}
  if (after !== undefined) await later(after, call.signal)
  const usage = { ...NO_USAGE, tokens_out: tokens ?? 0 }
  if (fails !== undefined) return { outcome: 'null', message: fails, usage }
  return { outcome: 'ok', text: words, usage, ...(object === undefined ? {} : { object }) }
}

/** The agent's own slowness, which the script is meant to meet. */
const later = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/** What the host answered, with our own answer where it is another one on purpose. */
function adapted({ name, expected }: Probe): unknown {
  const whole = structuredClone(complete(expected))
  for (const { probe, at, theirs, ours } of DIFFERENCES) {
    if (probe === name) replace(whole, at.split('.'), theirs, ours)
  }
  return whole
}

const complete = (expected: Expected): Record<string, unknown> =>
  'refused' in expected
    ? { ...expected }
    : { result: null, error: null, logs: [], phases: [], agents: 0, replayed: 0, ...expected }

function replace(value: unknown, [key = '', ...rest]: string[], theirs: unknown, ours: unknown): void {
  const record = value as Record<string, unknown>
  if (rest.length > 0) replace(record[key], rest, theirs, ours)
  else {
    expect(record[key]).toEqual(theirs)
    record[key] = ours
  }
}
