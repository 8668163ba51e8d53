import { describe, expect, test } from 'vitest'
import { assay, dataOf, problemOf } from '../rig/assay.ts'
import { type ScriptedHost, scriptedHost } from '../rig/host.ts'
import { openScene } from './loop-scene.ts'
import { numberFiles, numberSpec } from './number-scene.ts'

const spec = (host: ScriptedHost, { loop = {}, budget = { experiments: 2 }, agent = {} } = {}) =>
  numberSpec(host, { loop: { stall: 2, ...loop }, budget, agent })

/** Lowers the number by one; each call tells what it used, when the test says so. `also` runs first in `implement`. */
const answers = ({
  usage = '',
  also = '',
} = {}) => `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
const told = () => ${usage === '' ? '{}' : `console.error('usage ' + ${JSON.stringify(usage)})`}
const implement = async (card) => {
  told()
  ${also}
  const file = card.worktree + '/src/number.txt'
  writeFileSync(file, Number(readFileSync(file, 'utf8')) - 1 + '\\n')
  return { hypothesis: 'one less: ' + card.experiment }
}
const with_usage = (answer) => (card) => (told(), typeof answer === 'function' ? answer(card) : answer)
export default {
  brief: with_usage(({ round, capsule: { open } }) => ({
    briefs: Array.from({ length: open.width }, (_, lane) => ({
      parent: open.parents[0].experiment,
      objective: 'go down, round ' + round + ' lane ' + lane,
      pointers: ['place ' + lane],
    })),
  })),
  implement,
  revise: implement,
  verify: with_usage({ passed: true, findings: [] }),
  audit: with_usage({ findings: [] }),
  collect: with_usage({ learnings: [], suggestions: [] }),
  '*': with_usage({ findings: [], ideas: [] }),
}
`

/** Holds the implementer until the file is there. */
const waits = (gate: string) =>
  `while (!existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 20))`

const promptsOf = (host: ScriptedHost, role: string) =>
  host
    .calls()
    .filter((call) => call.role === role)
    .map(({ prompt }) => prompt)

describe.concurrent('a person and a loop that runs', () => {
  test('words to the loop or to an experiment are lost, told twice, or never shown as delivered', async () => {
    const host = scriptedHost('')
    const scene = await openScene(numberFiles, spec(host))
    const gate = scene.repo.path('.gate')
    host.answer(answers({ also: waits(gate) }))
    dataOf(await scene.cli(['steer', 'Leave the parser alone', '--key', 'k']))
    dataOf(await scene.cli(['steer', 'Leave the parser alone', '--key', 'k']))
    const loop = scene.startLoop('--json')
    await host.calledAs('implement')
    dataOf(await scene.cli(['steer', 'Halve it instead']))
    dataOf(await scene.cli(['steer', 'exp_0001', 'Mind the second digit']))
    expect(dataOf(await scene.cli(['status']))).toMatchObject({ steering: { waiting: 2, delivered: 1 } })
    const mine = JSON.stringify(dataOf(await scene.cli(['context', 'exp_0001'])))
    expect(mine).toContain('Mind the second digit')
    expect(mine).not.toContain('Halve it instead')
    scene.repo.write({ '.gate': '' })
    dataOf(await loop.ended)

    const briefs = promptsOf(host, 'brief').map((prompt) => [
      prompt.split('says:\n')[1]?.includes('Leave the parser alone') ?? false,
      prompt.split('says:\n')[1]?.includes('Halve it instead') ?? false,
    ])
    expect(briefs).toEqual([
      [true, false],
      [false, true],
    ])
    const carried = host.calls().filter(({ prompt }) => prompt.includes('> Mind the second digit'))
    expect(carried.map(({ role, card }) => [role, card.experiment])).toEqual([['verify', 'exp_0001']])
    const { steering } = dataOf(
      await scene.cli<{ steering: { text: string; delivered: unknown }[] }>(['steer']),
    )
    expect(steering.map(({ text, delivered }) => [text, delivered])).toEqual([
      ['Leave the parser alone', { role: 'brief', round: 1, experiment: null }],
      ['Halve it instead', { role: 'brief', round: 2, experiment: null }],
      ['Mind the second digit', { role: 'verify', round: null, experiment: 'exp_0001' }],
    ])
    expect(problemOf(await scene.cli(['steer', 'exp_0099', 'x'])).code).toBe('unknown_experiment')
    expect(problemOf(await scene.cli(['steer', 'leave', 'it'])).code).toBe('bad_value')
  })

  test('a paused loop asks an agent, drops running work, forgets the pause after a crash, or never continues', async () => {
    const host = scriptedHost('')
    const scene = await openScene(numberFiles, spec(host))
    const gate = scene.repo.path('.gate')
    host.answer(answers({ also: waits(gate) }))
    const first = scene.startLoop('--json')
    await host.calledAs('implement')
    expect(dataOf(await scene.cli(['loop', 'pause', '--reason', 'lunch']))).toEqual({
      state: 'paused',
      why: 'lunch',
    })
    expect(dataOf(await scene.cli(['loop', 'pause']))).toMatchObject({ why: 'lunch', repeated: true })
    const second = await scene.loop()
    expect(problemOf(second)).toMatchObject({
      code: 'driven',
      message: expect.stringContaining(`${first.pid}`),
    })
    scene.repo.write({ '.gate': '' })
    await scene.happened(
      'the seal of what ran',
      ({ type, ...rest }) => type === 'sealed' && 'experiment' in rest && rest.experiment === 'exp_0001',
    )
    first.kill('SIGKILL')
    await first.ended

    const again = scene.startLoop()
    await again.said('the loop is paused (lunch)')
    expect(again.output().stderr).toContain('This budget buys about')
    expect(dataOf(await scene.cli(['status']))).toMatchObject({ paused: 'lunch', counts: { open: 1 } })
    expect(promptsOf(host, 'verify')).toEqual([])
    dataOf(await scene.cli(['loop', 'resume']))
    await again.ended
    expect(promptsOf(host, 'implement')).toHaveLength(2)
    expect(dataOf(await scene.cli(['status']))).toMatchObject({
      paused: null,
      best: { value: 98 },
      stop: 'budget',
    })
  })

  test('loop stop cuts off begun work, begins a lane, or has no reason, or a person’s own experiment joins a lane', async () => {
    const host = scriptedHost('')
    const scene = await openScene(
      numberFiles,
      spec(host, { loop: { depth: 3, stall: 9 }, budget: { experiments: 50 } }),
    )
    const gate = scene.repo.path('.gate')
    host.answer(answers({ also: waits(gate) }))
    const loop = scene.startLoop('--json')
    await host.calledAs('implement')
    const { experiment } = dataOf(await scene.cli<{ experiment: string }>(['new', '-m', 'mine']))
    dataOf(await scene.cli(['loop', 'stop', '--reason', 'enough']))
    scene.repo.write({ '.gate': '' })
    const data = dataOf(await loop.ended)
    expect([data.stop, data.rounds]).toEqual(['user', 1])
    expect(scene.eventsOf('judged').map(({ experiment: id, status }) => [id, status])).toEqual([
      ['exp_0000', 'kept'],
      ['exp_0001', 'kept'],
    ])
    expect(scene.eventsOf('created').map(({ experiment: id, lane }) => [id, lane])).toEqual([
      ['exp_0000', null],
      ['exp_0001', 1],
      [experiment, null],
    ])
    expect(dataOf(await scene.cli(['status']))).toMatchObject({ stop: 'user', stop_cause: 'enough' })
    // It stays a person's: the tree shows it, and no lane was given it.
    dataOf(await scene.cli(['prune', 'exp_0001', '--reason', 'too odd']))
    const { nodes } = dataOf(
      await scene.cli<{ nodes: { experiment: string; parent: string; status: string }[] }>(['tree']),
    )
    expect(nodes.map(({ experiment: id, parent, status }) => [id, parent, status])).toEqual([
      ['exp_0000', null, 'kept'],
      ['exp_0001', 'exp_0000', 'pruned'],
      [experiment, 'exp_0000', 'open'],
    ])
    const { parents } = dataOf(await scene.cli<{ parents: { experiment: string }[] }>(['frontier']))
    expect(parents.map((one) => one.experiment)).toEqual(['exp_0000'])
  })

  test('an experiment that is pruned during its lane gets a child, or becomes a parent of the next round', async () => {
    const host = scriptedHost('')
    const scene = await openScene(numberFiles, spec(host, { loop: { depth: 2, stall: 9 } }))
    const gate = scene.repo.path('.gate')
    host.answer(
      answers().replace(
        'audit: with_usage({ findings: [] })',
        `audit: async () => { ${waits(gate)}; return { findings: [] } }`,
      ),
    )
    const loop = scene.startLoop('--json', '--rounds', '2')
    await host.calledAs('audit')
    dataOf(await scene.cli(['prune', 'exp_0001', '--reason', 'too odd']))
    scene.repo.write({ '.gate': '' })
    dataOf(await loop.ended)
    const { nodes } = dataOf(
      await scene.cli<{ nodes: { experiment: string; parent: string; status: string }[] }>(['tree']),
    )
    expect(nodes.map(({ parent, status }) => [parent, status])).toEqual([
      [null, 'kept'],
      ['exp_0000', 'pruned'],
      ['exp_0000', 'kept'],
    ])
  })

  test('an agent starts beside a sample although the spec asks for quiet', async () => {
    const host = scriptedHost(answers())
    const scene = await openScene(
      { ...numberFiles, 'bench/run.sh': 'echo METRIC ms=$(cat src/number.txt)\nsleep 0.2\n' },
      spec(host, { loop: { quiet: true, width: 2 }, budget: { experiments: 4 }, agent: { concurrency: 2 } }),
    )
    dataOf(await scene.loop())
    let running = 0
    let starts = 0
    for (const event of scene.events()) {
      if (event.type === 'started') running++
      if (event.type === 'judged') running--
      if (event.type !== 'usage') continue
      const began = Date.parse(event.at) - event.ms
      const beside = scene.eventsOf('started').filter(({ experiment, attempt, at }) => {
        const end = scene
          .eventsOf('judged')
          .find((one) => one.experiment === experiment && one.attempt === attempt)
        return Date.parse(at) < began - 50 && end !== undefined && began + 50 < Date.parse(end.at)
      })
      expect(beside.map(({ experiment }) => `${event.role} beside ${experiment}`)).toEqual([])
      starts++
    }
    expect([running, starts > 8]).toEqual([0, true])
  })
})

describe.concurrent('the price of agents', () => {
  const cost = '{"tokens_in": 60, "tokens_out": 40, "usd": 0.5}'

  test('a cap on dollars is overrun, or the loop ends in the middle of what is paid', async () => {
    const host = scriptedHost(answers({ usage: cost }))
    const scene = await openScene(
      numberFiles,
      spec(host, { budget: { usd: 5.2, unknown: 'allow' } as never }),
    )
    const ran = await scene.startLoop().ended
    expect(ran.code).toBe(0)
    expect(ran.stderr).toContain('warning: 50 % of budget.usd is used')
    expect(ran.stderr).toContain('warning: 80 % of budget.usd is used')
    const spent = scene.eventsOf('usage').reduce((sum, { usage }) => sum + (usage.usd ?? 0), 0)
    expect(spent).toBe(5)
    expect(dataOf(await scene.cli(['status']))).toMatchObject({
      stop: 'budget',
      counts: { open: 0, running: 0, discarded: 0, kept: 3 },
      budget: { usd: { used: 5, limit: 5.2, at_least: false }, tokens: { used: 1000, limit: null } },
    })
  })

  test('an open round continues beyond the budget, or the end of the budget is reported as a broken host', async () => {
    const host = scriptedHost(answers({ usage: cost }))
    const scene = await openScene(numberFiles, spec(host, { budget: { usd: 50, unknown: 'allow' } as never }))
    dataOf(await scene.loop('--rounds', '1'))
    const { token } = dataOf(await scene.cli<{ token: string }>(['round', 'open']))
    const briefs = [
      { parent: 'exp_0000', kind: 'edit', objective: 'Make it small', boundaries: [], pointers: [] },
    ]
    dataOf(await scene.cli(['round', 'briefs', '--token', token, '--input', JSON.stringify({ briefs })]))
    const calls = host.calls().length
    dataOf(await scene.cli(['config', 'set', 'budget.usd', '0.5', '--reason', 'enough']))
    expect(dataOf(await scene.loop())).toMatchObject({ stop: 'budget' })
    expect(host.calls()).toHaveLength(calls)
  })

  test('a cost limit is claimed for a host that reports no cost, or a loop without a limit needs no permission', async () => {
    const host = scriptedHost(answers())
    const scene = await openScene(
      numberFiles,
      spec(host, { budget: { failures: 3 } as never, loop: { stall: 1 } }),
    )
    expect(problemOf(await scene.loop())).toMatchObject({ code: 'uncapped' })
    dataOf(await scene.cli(['config', 'set', 'budget.tokens', '1000', '--reason', 'careful']))
    expect(problemOf(await scene.loop())).toMatchObject({ code: 'usage_unknown' })
    expect(host.calls()).toEqual([])
    dataOf(await scene.cli(['config', 'set', 'budget.unknown', 'allow', '--reason', 'so be it']))
    expect(dataOf(await scene.loop('--rounds', '1')).rounds).toBe(1)
    dataOf(await scene.cli(['config', 'set', 'budget.tokens', 'none', '--reason', 'fine']))
    expect(dataOf(await scene.loop('--rounds', '1', '--uncapped')).rounds).toBe(1)
    expect(dataOf(await scene.cli(['status']))).toMatchObject({
      budget: { usd: { used: 0, at_least: true } },
    })
  })
})

test('lanes of the baseline arm are not every fifth, know of the search, become parents, or are not reported', async () => {
  const host = scriptedHost(
    answers()
      .replace("utf8')) - 1", "utf8')) - card.round - card.lane / 10")
      .replace(
        'collect: with_usage({ learnings: []',
        "collect: with_usage({ learnings: ['learnt-in-the-tree']",
      ),
  )
  const scene = await openScene(
    numberFiles,
    spec(host, { loop: { width: 2, depth: 1, stall: 9, baseline_arm: 0.25 }, budget: { experiments: 8 } }),
  )
  dataOf(await scene.loop())
  expect(scene.eventsOf('round_opened').map(({ arm }) => arm ?? 0)).toEqual([0, 1, 0, 1])
  const arm = scene.eventsOf('created').filter((event) => event.arm === 'baseline')
  expect(arm.map(({ round, lane, parent, depth }) => [round, lane, parent, depth])).toEqual([
    [2, 2, 'exp_0000', 1],
    [4, 2, 'exp_0000', 1],
  ])
  const ids = arm.map(({ experiment }) => experiment)
  const told = host
    .calls()
    .filter(({ role, card }) => role === 'implement' && ids.includes(String(card.experiment)))
    .map(({ prompt }) => prompt)
  expect(told).toHaveLength(2)
  for (const prompt of told) {
    expect(prompt).toContain('Make the number small.')
    expect(prompt).not.toContain('learnt-in-the-tree')
  }
  expect(promptsOf(host, 'implement').some((prompt) => prompt.includes('learnt-in-the-tree'))).toBe(true)
  const context = dataOf(await scene.cli<{ best: unknown }>(['context', ids[1] ?? '']))
  expect(JSON.stringify(context)).not.toContain('learnt-in-the-tree')
  expect(context.best).toBeNull()
  const digest = await assay(['context', ids[1] ?? ''], { cwd: scene.repo.dir })
  expect(digest.stdout).toMatch(/Baseline 100$/m)
  const parents = new Set(scene.eventsOf('created').map(({ parent }) => parent))
  expect(ids.filter((id) => parents.has(id))).toEqual([])
  expect(dataOf(await scene.cli(['report']))).toMatchObject({
    arms: {
      baseline: { experiments: 2, best: 95.8 },
      search: { experiments: 6, best: expect.closeTo(89.4), best_at_same: 98.8 },
    },
  })
  const again = await scene.cli([
    'new',
    '--parent',
    'exp_0000',
    '--round',
    '4',
    '--lane',
    '2',
    '--depth',
    '2',
    '-m',
    'x',
  ])
  expect(problemOf(again).code).toMatch(/baseline_arm|loop_over/)
}, 60_000)
