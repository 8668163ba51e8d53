import { describe, expect, test } from 'vitest'
import { assay, dataOf, problemOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { snapshotTree } from '../rig/snapshot.ts'
import { until } from '../rig/until.ts'
import { candidatesIn, openScene, processesIn, tuneFiles, tuneSpec } from './loop-scene.ts'
import { answers, numberFiles, numberSpec, play, rolesOf, verdicts } from './number-scene.ts'

describe('tune', () => {
  test('the same seed gives a different tree, the user’s files change, a process stays, or a line of the output is missing', async () => {
    const json = await openScene(tuneFiles, tuneSpec({ budget: { experiments: 6 } }))
    const before = snapshotTree(json.repo.dir, { except: ['.assay', '.git'] })
    const git = () => [
      json.repo.git('status', '--porcelain'),
      json.repo.git('for-each-ref'),
      json.repo.git('stash', 'list'),
    ]
    const gitBefore = git()
    const text = await openScene(tuneFiles, tuneSpec({ budget: { experiments: 6 } }))
    const loops = [json.startLoop('--json'), text.startLoop()] as const
    const [first, second] = await Promise.all([loops[0].ended, loops[1].ended])

    expect(first.code).toBe(0)
    expect(first.stdout.split('\n')).toHaveLength(2)
    expect(first.stderr).toBe('')
    const { usage, knobs, counts, best, ...rest } = dataOf(first)
    const rounds = json.eventsOf('round_closed').length
    expect(rest).toEqual({
      rounds,
      stop: 'budget',
      baseline: { experiment: 'exp_0000', value: 172 },
      edits: [],
      alerts: [],
      stops: [],
    })
    expect(best?.value).toBeLessThan(172)
    expect(knobs).toMatchObject({ width: 2, depth: 2, experiments: 6 })
    expect(counts).toMatchObject({ open: 0, running: 0, failed: 0 })
    expect(usage.agents).toBeGreaterThan(20)
    expect(json.eventsOf('started')).toHaveLength(1 + 6)
    expect(json.eventsOf('usage')).toEqual([])
    const phases = json.eventsOf('drove').map(({ phase }) => phase)
    expect(phases.filter((phase) => phase !== 'beat')).toEqual(['start', 'stop'])

    expect(candidatesIn(text)).toEqual(candidatesIn(json))
    expect(candidatesIn(json)).toHaveLength(1 + 6)
    expect(second.code).toBe(0)
    expect(second.stderr).toContain('round 1: 2 lanes, 2 deep, from exp_0000\n')
    expect(second.stderr).toMatch(/^ {2}exp_0001 (kept|rejected \(not_better\)) [\d.]+ .*%/m)
    expect(second.stderr).toMatch(/^round 1 closed: (new best exp_\d{4} [\d.]+|no new best, stall 1)$/m)
    expect(second.stderr.match(/^round 1 closed.*(new best|stall)/gm)?.length).toBe(1)
    expect(second.stderr).not.toContain('\u001b')
    expect(second.stdout).toContain('exp_0000')

    expect(snapshotTree(json.repo.dir, { except: ['.assay', '.git'] })).toEqual(before)
    expect(git()).toEqual(gitBefore)
    await until(() => processesIn(json.repo.dir).length === 0, { what: 'all processes of the run to end' })
    await until(() => processesIn(text.repo.dir).length === 0, { what: 'all processes of the run to end' })

    const over = await json.loop()
    expect([over.code, dataOf(over).rounds, dataOf(over).stop]).toEqual([0, 0, 'budget'])
    expect(json.eventsOf('round_opened')).toHaveLength(rounds)
  })

  test('a different seed gives the same tree', async () => {
    const scenes = await Promise.all(
      [1, 2].map((seed) => openScene(tuneFiles, tuneSpec({ seed, budget: { experiments: 2 } }))),
    )
    await Promise.all(scenes.map((scene) => scene.loop()))
    const [one, two] = scenes.map((scene) => candidatesIn(scene))
    expect(one).toHaveLength(3)
    expect(two).not.toEqual(one)
  })

  test('the target or --rounds does not end the loop', async () => {
    const target = { metric: { name: 'cost', direction: 'minimize', target: 171 } }
    const scene = await openScene(tuneFiles, tuneSpec({ ...target, loop: { depth: 1 } }))
    const one = dataOf(await scene.loop('--rounds', '1'))
    expect([one.rounds, scene.eventsOf('round_closed').length]).toEqual([1, 1])
    const rest = dataOf(await scene.loop())
    expect([rest.stop, (rest.best?.value ?? 172) <= 171]).toEqual(['target', true])
  })

  test('--rounds 2 ends after the first round, or opens a third one and leaves it open', async () => {
    const scene = await openScene(tuneFiles, tuneSpec({ loop: { width: 1, depth: 1 } }))
    expect(dataOf(await scene.loop('--rounds', '2')).rounds).toBe(2)
    const rounds = (type: 'round_opened' | 'round_closed') => scene.eventsOf(type).map(({ round }) => round)
    expect([rounds('round_opened'), rounds('round_closed')]).toEqual([
      [1, 2],
      [1, 2],
    ])
  })
})

const TARGET_89 = { name: 'ms', direction: 'minimize', target: 89 }

describe.concurrent('a command as the host', () => {
  test('its calls are not recorded as usage, or an unknown cost is recorded as zero', async () => {
    const { scene, host, data } = await play({}, { budget: { experiments: 1 } })
    expect(data.stop).toBe('budget')
    expect(rolesOf(host)).toEqual(['brief', 'implement', 'verify', 'audit', 'collect'])
    expect(
      scene
        .eventsOf('usage')
        .map(({ role, host: name, experiment, round, outcome, usage }) => [
          role,
          name,
          experiment,
          round,
          outcome,
          usage,
        ]),
    ).toEqual(
      [
        ['brief', null],
        ['implement', 'exp_0001'],
        ['verify', 'exp_0001'],
        ['audit', 'exp_0001'],
        ['collect', null],
      ].map(([role, experiment]) => [
        role,
        'command',
        experiment,
        1,
        'ok',
        { tokens_in: null, tokens_out: null, usd: null },
      ]),
    )
    expect(verdicts(scene)).toEqual([
      ['exp_0000', 'kept', 100],
      ['exp_0001', 'kept', 99],
    ])
  })

  test('a lane whose agent refuses, crashes or talks prose takes the round or the run with it', async () => {
    const { scene, host, data } = await play(
      {
        implement: `(card) => {
          if (card.lane === 2) refuse('I would rather not')
          if (card.lane === 3) throw new Error('I fell over')
          if (card.lane === 4) return 'Sure! I have made the number smaller.'
          return implement(card)
        }`,
        audit: `() => refuse('no audit today')`,
        collect: `() => 'Nothing was learnt.'`,
      },
      {
        loop: { width: 4, stall: 1 },
        metric: { name: 'ms', direction: 'minimize', target: 99 },
        agent: { concurrency: 4 },
      },
    )
    expect(data).toMatchObject({ rounds: 1, stop: 'target' })
    const first = host.calls().filter(({ role, card }) => role === 'implement' && card.round === 1)
    const asked = (lane: number) => first.filter(({ card }) => card.lane === lane).length
    expect([1, 2, 3, 4].map(asked)).toEqual([1, 1, 2, 3])
    expect(verdicts(scene)[1]).toEqual(['exp_0001', 'kept', 99])
    expect(
      scene
        .eventsOf('discarded')
        .slice(0, 3)
        .map(({ experiment, failure_class }) => `${experiment} ${failure_class}`)
        .sort(),
    ).toEqual(['exp_0002 environment', 'exp_0003 environment', 'exp_0004 environment'])
    expect(data.counts).toMatchObject({ running: 0, open: 0 })
  })

  test('a finished edit is discarded or paid twice because its agent then answers in prose, answers wrongly, crashes or reaches a limit', async () => {
    const { scene, host, data } = await play(
      {
        implement: `(card) => {
          if (card.lane === 5) return 'I looked, and changed nothing.'
          write(card, 90 - card.lane)
          if (card.lane === 1) return 'I changed the constant from 100 to 89.'
          if (card.lane === 2) return { hypothesis: 5 }
          if (card.lane === 3) throw new Error('I fell over')
          console.error('rate limit, retry after 1000 seconds')
          process.exit(1)
        }`,
      },
      { loop: { width: 5, stall: 1 }, agent: { concurrency: 5 }, metric: TARGET_89 },
    )
    const asked = (lane: number) =>
      host.calls().filter(({ role, card }) => role === 'implement' && card.lane === lane).length
    expect([1, 2, 3, 4, 5].map(asked)).toEqual([1, 1, 1, 1, 3])
    const judged = verdicts(scene)
      .slice(1)
      .map(([experiment, , value]) => [experiment, value])
    expect(judged.sort()).toEqual([
      ['exp_0001', 89],
      ['exp_0002', 88],
      ['exp_0003', 87],
      ['exp_0004', 86],
    ])
    expect(scene.eventsOf('discarded').map(({ experiment, why }) => [experiment, why])).toEqual([
      ['exp_0005', 'its agent gave no answer'],
    ])
    expect(data).toMatchObject({ rounds: 1, stop: 'target', best: { experiment: 'exp_0004', value: 86 } })
    expect(scene.eventsOf('round_closed')[0]?.learnings).toContain(
      'exp_0001 reported: I changed the constant from 100 to 89.',
    )
    const read = host.calls().find(({ role, card }) => role === 'verify' && card.lane === 1)
    expect(read?.card.claim).toMatchObject({ summary: 'I changed the constant from 100 to 89.' })
  })

  test('the edit of a revising agent is lost with its answer, or a revision without an edit is measured', async () => {
    const { scene, host } = await play(
      {
        implement: `(card) => (write(card, 90 - card.lane), done('a first try'))`,
        verify: `(card) => card.claim.hypothesis === 'a first try' ? { passed: false, findings: [{ message: 'no' }] } : { passed: true }`,
        revise: `(card) => {
          if (card.lane === 1) write(card, 70)
          process.kill(process.pid, 'SIGKILL')
        }`,
      },
      { loop: { width: 2, stall: 1 }, metric: TARGET_89 },
    )
    expect(verdicts(scene).slice(1)).toEqual([['exp_0001', 'kept', 70]])
    expect(scene.eventsOf('discarded').map(({ experiment }) => experiment)).toEqual(['exp_0002'])
    expect(host.calls().filter(({ role, card }) => role === 'revise' && card.lane === 1)).toHaveLength(1)
  })

  test('a finding of the CLI does not reach the agent, or a repaired candidate is not measured', async () => {
    const { scene, host, data } = await play(
      {
        implement: `(card) => {
          writeFileSync(card.worktree + '/src/sealed.txt', 'changed\\n')
          return implement(card)
        }`,
        revise: `(card) => {
          writeFileSync(card.worktree + '/src/sealed.txt', 'not to be changed\\n')
          return done('the same without the other file')
        }`,
      },
      { budget: { experiments: 1 } },
    )
    expect(rolesOf(host)).toEqual(['brief', 'implement', 'revise', 'verify', 'audit', 'collect'])
    const [lane, reader] = ['assay guide subagent', 'assay guide verifier']
    const guides = new Map(host.calls().map(({ role, card }) => [role, card.guide]))
    expect([...guides.values()]).toEqual([undefined, lane, lane, reader, reader, undefined])
    for (const { card, prompt } of host.calls())
      expect(prompt).toMatch(
        RegExp(`^Read this first, it is short: ${card.guide ? `${card.guide}, then ` : ''}assay context`),
      )
    const revise = host.calls().find(({ role }) => role === 'revise')
    expect(revise?.prompt).toContain('src/sealed.txt')
    expect(revise?.card.findings).toEqual([
      { code: 'out_of_scope', path: 'src/sealed.txt', message: expect.stringContaining('src/sealed.txt') },
    ])
    expect(verdicts(scene)[1]).toEqual(['exp_0001', 'kept', 99])
    expect(data.counts).toMatchObject({ kept: 2, rejected: 0 })
  })

  test('a verifier’s no is ignored, its findings do not reach the agent, or its yes afterwards does not count', async () => {
    const { scene, host } = await play(
      {
        verify: `(card) => read(card) < 99 ? { passed: true, findings: [] } : { passed: false, findings: [{ message: 'one less is too little' }] }`,
      },
      { budget: { experiments: 1 } },
    )
    expect(rolesOf(host)).toEqual(['brief', 'implement', 'verify', 'revise', 'verify', 'audit', 'collect'])
    expect(host.calls()[3]?.card.findings).toEqual([{ message: 'one less is too little' }])
    expect(verdicts(scene)[1]).toEqual(['exp_0001', 'kept', 98])
  })

  test('an auditor’s opinion does not flag, or the lane continues from a flagged experiment', async () => {
    const { scene, host, data } = await play(
      { audit: `() => ({ findings: [{ message: 'the gain is not what it claims' }] })` },
      { loop: { depth: 2 } },
    )
    expect(rolesOf(host)).toEqual(['brief', 'implement', 'verify', 'audit', 'collect'])
    expect(scene.eventsOf('audited').map(({ experiment, outcome }) => [experiment, outcome])).toEqual([
      ['exp_0001', 'flagged'],
    ])
    expect(data).toMatchObject({ stop: 'stall', best: { experiment: 'exp_0000', value: 100 } })
    const shown = dataOf(await scene.cli<{ flagged: boolean; status: string }>(['show', 'exp_0001']))
    expect(shown).toMatchObject({ status: 'kept', flagged: true })
  })
})

// ------------------------------------------------------------------ who may drive, and how it is stopped

describe('driving', () => {
  test('a loop without an agent or without a baseline begins, or does not say what to do', async () => {
    const host = scriptedHost(answers())
    const { agent: _, ...alone } = numberSpec(host) as Record<string, unknown>
    const scene = await openScene(numberFiles, alone)
    const refused = await scene.loop()
    expect([refused.code, problemOf(refused).code]).toEqual([3, 'no_agent'])
    expect(problemOf(refused).hint).toContain('agent')
    expect(scene.eventsOf('round_opened')).toEqual([])

    const other = await openScene(numberFiles, numberSpec(host), ['--prepare'])
    const early = await other.loop()
    expect([early.code, problemOf(early).code]).toEqual([3, 'no_baseline'])
    expect(problemOf(early).hint).toContain('assay run exp_0000')

    const nowhere = await assay(['loop', '--json'], { cwd: scene.repo.path('..') })
    expect([nowhere.code, problemOf(nowhere).code]).toEqual([3, 'no_run'])
  })
})
