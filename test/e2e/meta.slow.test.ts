import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { dataOf, problemOf } from '../rig/assay.ts'
import { type ScriptedHost, scriptedHost } from '../rig/host.ts'
import { notebook, openScene, type Scene, tuneFiles, tuneSpec } from './loop-scene.ts'
import { WHO } from './project.ts'

interface Due {
  due: boolean
  tick: number | null
  facts: { name: string; experiments: string[] }[]
}
interface Opened {
  round: number
  token: string
  width: number
  prompts: Record<string, unknown>
}
interface Applied {
  applied: { id: string; kind: string }[]
  refused: { index: number; reason: string }[]
  repeated?: true
}

/** The first experiment says on standard error what the baseline does not; `also` is run after that. */
const files = (also = '') => ({
  'src/number.txt': '100\n',
  'bench/run.sh': `echo 'WARNING: step 12 fell short' >&2
if [ "${WHO}" = exp_0001 ]; then echo 'WARNING: the cache is cold' >&2; ${also || 'true'}; fi
echo METRIC ms=$(cat src/number.txt)
`,
})
const FACT = 'warning:exp_0001:1'

const spec = (host: ScriptedHost | null, loop: object) => ({
  version: 1,
  name: 'number',
  goal: 'Make the number small.',
  scope: { mutable: ['src/number.txt'], immutable: ['bench/**'] },
  measure: { isolation: 'none', command: ['sh', 'bench/run.sh'] },
  metric: { name: 'ms', direction: 'minimize' },
  noise: { mode: 'deterministic', calibrate: 2 },
  search: { policy: 'argmax', k: 1 },
  budget: { experiments: 100 },
  loop: { width: 1, depth: 1, stall: 20, ideate: { stall: 10, keeps: 100 }, ...loop },
  ...(host ? { agent: { host: 'command', command: host.argv } } : {}),
})

/** The collector of round 1 waits for the file `go`: the round stays open until the test has seen enough. */
const answers = (
  roles: Record<string, string>,
  go: string,
) => `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
const file = (card) => card.worktree + '/src/number.txt'
export default {
  scan: () => ({ findings: [] }),
  ideate: () => ({ ideas: [] }),
  brief: ({ round, capsule: { open } }) => ({
    briefs: Array.from({ length: open.width }, (_, lane) => ({
      parent: open.parents[0].experiment,
      objective: 'go down in round ' + round + ', lane ' + lane,
      pointers: ['place ' + lane],
    })),
  }),
  implement: (card) => {
    writeFileSync(file(card), Number(readFileSync(file(card), 'utf8')) - card.lane + '\\n')
    return { hypothesis: 'less by ' + card.lane }
  },
  verify: () => ({ passed: true, findings: [] }),
  audit: () => ({ findings: [] }),
  collect: async ({ round }) => {
    while (round === 1 && !existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 20))
    return { learnings: [], suggestions: [] }
  },
${Object.entries(roles)
  .map(([role, text]) => `  ${role}: ${text},\n`)
  .join('')}}
`

const ground = `rationale: 'it is cold', evidence: '${FACT}'`
const asked = (host: ScriptedHost, role: string) => host.calls().filter((call) => call.role === role)
const sizes = (scene: Scene) => scene.eventsOf('round_opened').map(({ width }) => width)

describe.concurrent('a loop with meta', () => {
  test('without a fact to report, it writes events that a loop without meta does not, or asks too early', async () => {
    const sequence = (scene: Scene) =>
      scene.events().flatMap((event) => {
        const { type, role, status, reason } = event as unknown as Record<string, unknown>
        return event.type === 'drove' && event.phase === 'beat' ? [] : [[type, role, status, reason]]
      })
    const loop = { width: 1, depth: 1, stall: 20, ideate: { stall: 10 } }
    const budget = { experiments: 2 }
    const scenes = await Promise.all([
      openScene(tuneFiles, tuneSpec({ loop, budget })),
      openScene(tuneFiles, tuneSpec({ loop: { ...loop, meta: { every: '1s' } }, budget })),
      openScene(tuneFiles, tuneSpec({ loop: { ...loop, meta: { every: '9h' } }, budget })),
    ])
    const [without, quiet, rare] = await Promise.all(scenes.map(async (scene) => dataOf(await scene.loop())))
    expect(sequence(scenes[1])).toEqual(sequence(scenes[0]))
    expect(quiet).toMatchObject({ stop: 'budget', edits: [], alerts: [], stops: [] })
    // While the rounds ran, an interval after their beginning.
    expect(quiet?.usage.looks).toBeGreaterThan(0)
    expect([without, rare].map((data) => data?.usage.looks)).toEqual([0, 0])
  })

  test('an edit is lost with the driver, takes effect in the open round, or cannot be taken back', async () => {
    const go = notebook().file
    const host = scriptedHost(
      answers(
        {
          meta: `() => ({ alerts: ['the cache is cold'], edits: [
            { kind: 'knob', knob: 'width', value: 2, ${ground} },
            { kind: 'phase', phase: 'scan', on: false, ${ground} },
            { kind: 'prompt', prompt: 'brief', mode: 'append', text: 'Warm the cache first', ${ground} },
            { kind: 'step', seam: 'before-brief', text: 'Count the cold reads', rounds: 1, ${ground} },
            { kind: 'step', seam: 'after-collect', text: 'Count what is left', rounds: 1, ${ground} },
            { kind: 'prompt', prompt: 'implement', mode: 'replace', text: 'Warm it', ${ground} },
            { kind: 'prompt', prompt: 'implement', mode: 'replace', ${ground},
              text: 'Warm {goal} {metric} {experiment} {parent} {worktree} {artifacts} {objective}' },
            { kind: 'prompt', prompt: 'verify', mode: 'append', text: 'Pass it', ${ground} },
          ] })`,
          step: `({ seam }) => ({ findings: [seam + ' says 7 cold reads'] })`,
        },
        go,
      ),
    )
    const scene = await openScene(files(), spec(host, { meta: { every: '1s' } }))
    const driver = scene.startLoop('--json')
    // In either order: meta looks by the clock.
    await scene.happened('the edits', ({ type }) => type === 'adjusted')
    await host.calledAs('collect')
    process.kill(-driver.pid, 'SIGKILL')
    await driver.ended
    writeFileSync(go, '')
    const [adjusted] = scene.eventsOf('adjusted')
    expect(adjusted?.refused.map(({ index, reason }) => [index, reason])).toEqual([
      [5, 'placeholder'],
      [7, 'vocabulary'],
    ])

    // On a slow machine the second round lasts long enough for a second look.
    dataOf(await scene.cli(['config', 'set', 'loop.meta.every', '9h', '--reason', 'one look is enough']))
    const rest = dataOf(await scene.loop('--rounds', '2'))
    expect(sizes(scene)).toEqual([1, 2])
    expect(rest.knobs).toMatchObject({ width: 2 })
    expect(rest.alerts).toEqual(['the cache is cold'])
    expect(rest.edits.map((edit) => (edit as { from: number }).from)).toEqual(Array(6).fill(2))
    expect(asked(host, 'meta')).toHaveLength(1)
    expect(asked(host, 'scan')).toEqual([])
    const calls = host.calls().map(({ role, card }) => [card.round, role, card.lane, card.seam].join(' '))
    // It was at work when the driver was killed.
    expect(calls.filter((call, at) => calls.indexOf(call) < at)).toEqual(['1 collect  '])
    const [first, second] = asked(host, 'brief')
    expect(first?.prompt).not.toContain('Warm the cache first')
    expect(second?.prompt).toContain('- Warm the cache first')
    expect(second?.card.brief).toMatchObject({
      findings: [{ kind: 'before-brief', message: 'before-brief says 7 cold reads' }],
    })
    const implemented = asked(host, 'implement').at(-1)
    expect(implemented?.prompt).toContain(
      `Warm Make the number small. ms (minimize) ${implemented?.card.experiment} exp_0001 ${implemented?.card.worktree}`,
    )
    expect(implemented?.prompt).toMatch(/```text\ngo down in round 2, lane \d\n```/)

    const open = async () => dataOf(await scene.cli<Opened>(['round', 'open']))
    await open()
    const undo = ['edit_0001', 'edit_0002', 'edit_0003'].map((edit) => ({
      kind: 'undo',
      edit,
      rationale: 'it is warm',
      evidence: 'exp_0001',
    }))
    const taken = dataOf(await scene.cli<Applied>(['meta', 'apply'], { edits: undo }))
    expect(taken.applied.map(({ kind }) => kind)).toEqual(['undo', 'undo', 'undo'])
    const third = await open()
    expect(third).toMatchObject({
      round: 3,
      width: 2,
      phases: { scan: false },
      prompts: { brief: { append: ['Warm the cache first'] } },
      steps: [],
      learnings: ['after-collect says 7 cold reads'],
    })
    const briefs = [{ parent: 'exp_0001', objective: 'never begun' }]
    dataOf(await scene.cli(['round', 'briefs', '--token', third.token], { briefs }))
    dataOf(await scene.cli(['round', 'close', '--token', third.token], { lanes: [] }))
    const fourth = await open()
    expect(fourth).toMatchObject({ round: 4, width: 1, phases: { scan: true } })
    expect(Object.keys(fourth.prompts)).toEqual(['implement'])
    expect(asked(host, 'step')).toHaveLength(2)
  })

  test('an experiment is stopped without a fact about it, by a shell, or its fix is lost', async () => {
    const release = notebook().file
    const host = scriptedHost(
      answers(
        {
          meta: `({ brief: { facts } }) => ({ stops: [
            { experiment: 'exp_0001', failure_class: 'build', reason: 'a feeling', evidence: 'exp_0001' },
            { experiment: 'exp_0001; touch pwned', reason: 'x', evidence: facts[0].name },
            { experiment: 'exp_0001', failure_class: 'eval', evidence: facts[0].name,
              reason: "it's cold'; touch pwned; echo '", fix: 'Warm the\\ncache \`first\`' },
          ] })`,
        },
        release,
      ),
    )
    writeFileSync(release, '')
    // The first sample ends; the second one, which confirms, would not.
    const marks = notebook().file
    const scene = await openScene(
      files(`if [ -e '${marks}' ]; then sleep 3600; fi; echo seen > '${marks}'`),
      spec(host, { meta: { every: '1s' } }),
    )
    const done = dataOf(await scene.loop('--rounds', '2'))
    // The first verdict counts.
    const stopped = scene.eventsOf('judged').find(({ experiment }) => experiment === 'exp_0001')
    expect(stopped).toMatchObject({
      reason: 'aborted',
      failure_class: 'eval',
      message: "it's cold'; touch pwned; echo '",
      aborted: { fix: 'Warm the cache `first`' },
    })
    expect(done.stops).toEqual([
      { experiment: 'exp_0001', reason: stopped?.message, fix: 'Warm the cache `first`' },
    ])
    const [, second] = asked(host, 'brief')
    expect(second?.card.capsule).toMatchObject({
      notes: [expect.stringContaining("exp_0001 was stopped: it's cold")],
    })
    expect(JSON.stringify(second?.card.capsule)).toContain('Fix: Warm the cache `first`')
    expect(asked(host, 'meta')).toHaveLength(1)
  })

  test('an agent that fails is asked for ever, or its facts are lost with the first failure', async () => {
    const go = notebook().file
    const host = scriptedHost(answers({ meta: `() => process.exit(77)` }, go))
    const scene = await openScene(files(), spec(host, { meta: { every: '1s' } }))
    dataOf(await scene.cli(['config', 'set', 'loop.meta.on', 'false', '--reason', 'not yet']))
    const driver = scene.startLoop('--rounds', '1')
    // Looks begin when the experiment has its verdict: before, its sample would be a fact as well.
    await scene.happened(
      'the verdict on exp_0001',
      (event) => event.type === 'judged' && event.experiment === 'exp_0001',
    )
    dataOf(await scene.cli(['config', 'set', 'loop.meta.on', 'true', '--reason', 'now']))
    await driver.said('switched off')
    expect(asked(host, 'meta').map(({ card }) => (card.brief as Due).facts.map(({ name }) => name))).toEqual(
      Array(3).fill([FACT]),
    )
    writeFileSync(go, '')
    expect((await driver.ended).code).toBe(0)
    expect(scene.eventsOf('meta_ticked')).toHaveLength(3)
    expect(scene.eventsOf('adjusted')).toEqual([])
  })
})

test('two drivers claim one look, a usual warning of the benchmark is a fact, an edit is applied twice, or too late', async () => {
  const scene = await openScene(
    files(),
    spec(null, { stall: 1, ideate: { stall: 1, keeps: 100 }, meta: { every: '1h' } }),
  )
  const due = async (...args: string[]) => dataOf(await scene.cli<Due>(['meta', 'due', ...args]))
  expect(await due('--claim', 'a')).toMatchObject({ due: true, tick: null, facts: [] })
  expect(scene.eventsOf('meta_ticked')).toEqual([])

  const made = dataOf(await scene.cli<{ worktree: string }>(['new', '--parent', 'exp_0000', '-m', 'less']))
  writeFileSync(`${made.worktree}/src/number.txt`, '99\n')
  dataOf(await scene.cli(['run', 'exp_0001']))
  expect((await due()).facts).toEqual([
    {
      name: FACT,
      message: 'exp_0001 printed to standard error: WARNING: the cache is cold',
      experiments: ['exp_0001'],
    },
  ])
  const both = await Promise.all([due('--claim', 'a'), due('--claim', 'b')])
  expect(both.map(({ tick }) => tick).sort()).toEqual([1, null])
  const mine = both[0]?.tick === 1 ? 'a' : 'b'
  expect(await due('--claim', mine)).toMatchObject({ due: true, tick: 1, facts: [{ name: FACT }] })
  expect(await due('--claim', 'c')).toMatchObject({ due: false, tick: null })

  const edit = { kind: 'knob', knob: 'width', value: 2, rationale: 'cold', evidence: FACT }
  const apply = async (body: object) =>
    dataOf(await scene.cli<Applied>(['meta', 'apply', '--key', 'k1'], body))
  const first = await apply({ tick: 1, edits: [edit] })
  expect(first.applied).toMatchObject([{ id: 'edit_0001', kind: 'knob', from: null }])
  expect(await apply({ tick: 1, edits: [edit] })).toEqual({ ...first, repeated: true })
  expect((await due()).facts).toEqual([])
  const again = dataOf(await scene.cli<Applied>(['meta', 'apply'], { edits: [edit] }))
  expect(again.refused).toMatchObject([{ index: 0, reason: 'duplicate' }])
  expect(problemOf(await scene.cli(['meta', 'apply'], { changes: [] })).code).toBe('bad_input')
  const open = async () => dataOf(await scene.cli<Opened>(['round', 'open']))
  const round = await open()
  expect(round).toMatchObject({ width: 2, knobs: { width: 2 }, meta: { every_ms: 3_600_000 } })

  // The stall that ends the loop is lifted by an edit that waits for the next round.
  const turn = ['--token', round.token]
  const briefs = [{ parent: 'exp_0001', objective: 'never begun' }]
  dataOf(await scene.cli(['round', 'briefs', ...turn], { briefs }))
  dataOf(await scene.cli(['round', 'close', ...turn], { lanes: [] }))
  expect(await open()).toMatchObject({ round: null, stop: 'stall' })
  dataOf(await scene.cli(['meta', 'apply'], { edits: [{ ...edit, knob: 'stall', value: 3 }] }))
  expect(await open()).toMatchObject({ round: 2, stop: null, knobs: { stall: 3 } })
})

interface Tasks {
  tasks: { id: string; role: string; lane: number | null }[]
}

/** A session with a look that is due: a sample of its experiment has printed that the loss is not a number, and would run for an hour. */
async function openWithHopelessSample() {
  const scene = await openScene(
    files('echo "loss is nan" >&2; sleep 3600'),
    spec(null, { ideate: { stall: 1, keeps: 100 }, meta: { every: '1s' } }),
  )
  const next = async (...flags: string[]) => dataOf(await scene.cli<Tasks>(['round', 'next', ...flags]))
  const answer = async (id: string, said: object) => dataOf(await scene.cli(['answer', id], said))
  const promptOf = async (id: string) => dataOf(await scene.cli<{ prompt: string }>(['task', id])).prompt
  await next()
  await answer('r1/brief', { briefs: [{ parent: 'exp_0000', objective: 'less' }] })
  const { worktree } = JSON.parse(
    /```json\n(.*)\n```$/.exec(await promptOf('r1/l1/d1/implement'))?.[1] ?? '{}',
  ) as { worktree: string }
  writeFileSync(`${worktree}/src/number.txt`, '99\n')
  await answer('r1/l1/d1/implement', { hypothesis: 'less' })
  await answer('r1/l1/d1/verify', { passed: true })
  const first = await next('--lane', '1', '--wait', '60s')
  expect(first.tasks).toMatchObject([{ id: 'meta/1', role: 'meta', lane: null }])
  return { scene, next, answer, promptOf }
}
const HOPELESS =
  /running_sample:exp_0001:1: a sample of exp_0001 has run for \d+ s of at most \d+ s, and prints: .*loss is nan/

test('a session does not get a look, two get the same one, or a hopeless sample is neither reported nor ended', async () => {
  const { scene, next, answer, promptOf } = await openWithHopelessSample()
  expect((await next()).tasks).toEqual([])
  expect(await promptOf('meta/1')).toMatch(HOPELESS)
  const stop = { experiment: 'exp_0001', reason: 'it diverges', fix: 'Halve the step', failure_class: 'eval' }
  await answer('meta/1', { stops: [{ ...stop, evidence: 'running_sample:exp_0001:1' }] })
  expect(scene.eventsOf('judged').at(-1)).toMatchObject({ experiment: 'exp_0001', reason: 'aborted' })
  expect((await next('--wait', '60s')).tasks.map(({ id }) => id)).toContain('r1/collect')
})

test('an agent is asked about nothing because the sample that its look was about has ended', async () => {
  const { scene, promptOf } = await openWithHopelessSample()
  dataOf(await scene.cli(['abort', 'exp_0001', '--reason', 'it diverges']))
  expect(await promptOf('meta/1')).toMatch(HOPELESS)
})
