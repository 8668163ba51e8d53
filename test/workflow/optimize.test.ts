import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { AgentCall, AgentReply } from '../../cli/agents/call.ts'
import { NO_USAGE } from '../../cli/hosts/host.ts'
import { pluginHost } from '../../cli/hosts/plugins.ts'
import { parseClerk } from '../../cli/workflow/clerk.ts'
import { play, text, useRig } from './rig.ts'

const rig = useRig()
const source = readFileSync(new URL('../../workflows/optimize.js', import.meta.url), 'utf8')

interface Played {
  arm?: boolean
  prompts?: object
  stop?: string
  width?: number
  meta?: object
}

/** One round of two lanes, two deep, as the CLI would tell it; everything is kept. */
function cli({ arm = false, prompts = {}, stop = 'stall', width = 2, ...more }: Played = {}) {
  let opened = 0
  let experiments = 0
  const knobs = { revise: 0 }
  const parents = [{ experiment: 'exp_0000', value: 1, rank: 1, why: 'the best' }]
  const turn = {
    round: 1,
    token: 't',
    stop: null,
    width,
    depth: 2,
    parents,
    ideate: null,
    direction: null,
    prompts,
    ...more,
  }
  const lane = (number: number) => ({
    lane: number,
    parent: 'exp_0000',
    brief: { objective: 'go', hard: false },
    ...(arm && number === 2 ? { arm: 'baseline' } : {}),
  })
  const answers: Record<string, () => object> = {
    'round open': () => (opened++ === 0 ? { ...turn, scan: { batches: [] }, metric: {}, knobs } : { stop }),
    'round briefs': () => ({
      lanes: Array.from({ length: width }, (_, index) => lane(index + 1)),
      refused: [],
    }),
    'round close': () => ({ improved: false, stall: 1, stop }),
    new: () => ({ experiment: `exp_000${++experiments}`, worktree: '/w', artifacts: '/a' }),
    check: () => ({ passed: true, findings: [] }),
    wait: () => ({ status: 'kept', timed_out: false }),
  }
  return (prompt: string): AgentReply => {
    const command = /assay ((?:round )?[a-z]+)/.exec(prompt)?.[1] ?? ''
    return text(JSON.stringify({ ok: true, data: answers[command]?.() ?? {} }))
  }
}

const roles: Record<string, object> = {
  brief: { briefs: [{ objective: 'one' }, { objective: 'two' }] },
  implement: { hypothesis: 'it' },
  verify: { passed: true },
  audit: { findings: [] },
  collect: { learnings: [], suggestions: [] },
}
const answered = (call: AgentCall): AgentReply => {
  const object = roles[call.label.split(' ')[0] ?? ''] ?? {}
  return { ...text(''), object } as AgentReply
}
const isClerk = (call: AgentCall) => call.agentType === 'assay:clerk'

test('an answer of the CLI that is lost on its way ends the run', async () => {
  const answer = cli()
  const lost = new Set<string>()
  const played = await play(rig, '', {
    source,
    play: (call) => {
      if (!isClerk(call)) return answered(call)
      if (lost.has(call.prompt)) return answer(call.prompt)
      lost.add(call.prompt)
      return text('I ran it for you, all is well.')
    },
  })
  expect(played.error).toBeNull()
  expect(played.result).toMatchObject({ rounds: 1, stop: 'stall' })
})

test.each(['round open', 'round briefs', 'round close'])(
  'another session drives, and %s is asked again, or ends the run like something broken',
  async (step) => {
    const answer = cli()
    const problem = { code: 'driven', message: 'a session of pi drives the run', hint: 'wait for it' }
    const asked: string[] = []
    const played = await play(rig, '', {
      source,
      play: (call) => {
        if (!isClerk(call)) return answered(call)
        if (!call.prompt.includes(step)) return answer(call.prompt)
        asked.push(call.prompt)
        return text(JSON.stringify({ ok: false, problem }))
      },
    })
    expect(played.error).toBeNull()
    const driven = 'a session of pi drives the run; wait for it'
    expect(played.result).toMatchObject({ rounds: 0, stop: null, driven })
    expect(asked).toHaveLength(1)
  },
)

test('a lane waits for a slower one before it goes deeper', async () => {
  const answer = cli()
  const depthOf = (call: AgentCall) => Number(/"depth":(\d)/.exec(call.prompt)?.[1])
  let deeper = () => {}
  const wentDeeper = new Promise<void>((resolve) => {
    deeper = resolve
  })
  const played = await play(rig, '', {
    source,
    play: async (call) => {
      if (isClerk(call)) return answer(call.prompt)
      const implements1 = call.label.startsWith('implement lane 1')
      if (call.label.startsWith('implement lane 2') && depthOf(call) === 2) deeper()
      if (implements1 && depthOf(call) === 1) await wentDeeper
      return answered(call)
    },
  })
  expect(played.error).toBeNull()
  const labels = played.calls.filter((call) => !isClerk(call)).map(({ label }) => label)
  expect(labels.filter((label) => label.startsWith('implement'))).toHaveLength(4)
  expect(
    labels.filter((label) => !/^[a-z]+( batch \d+| [a-z]+)?( lane \d+ exp_\d{4})?$/.test(label)),
  ).toEqual([])
})

test('what agents say is changed on its way to the CLI, or a host would take the command for a trick', async () => {
  const answer = cli()
  const said = `it's 5 %27 \\ "a" {"b": '1'} =x ~[a] <1-2> \`id\` $HOME \\u0041 of\u00a0\u2028\u200bü\u{1f600}\t\n\u0007`
  const commands: string[] = []
  const played = await play(rig, '', {
    source,
    play: (call) => {
      if (!isClerk(call)) {
        if (call.label === 'brief')
          return { ...text(''), object: { briefs: [{ objective: said }] } } as AgentReply
        if (call.label.startsWith('implement'))
          return {
            ...text(''),
            object: { hypothesis: call.label.includes('lane 2') ? `${'x'.repeat(499)}\\then` : said },
          } as AgentReply
        return answered(call)
      }
      commands.push(call.prompt.split('\n').slice(1, -1).join('\n'))
      return answer(call.prompt)
    },
  })
  expect(played.error).toBeNull()
  const briefs = parseClerk(`\`\`\`sh\n${commands.find((one) => one.includes('round briefs'))}\n\`\`\``)
  if (!briefs.ok) throw new Error(briefs.problem.message)
  expect(JSON.parse(briefs.value.input ?? '')).toMatchObject({ briefs: [{ objective: said }] })
  const hazards = [/\n/, /\p{Cc}/u, /(?! )\p{Z}/u, /\u200b/, /\\[ux ']/, /~\[/, /(^|[\s;&|])=\w/, /<\d*-\d*>/]
  expect(commands.filter((one) => hazards.some((hazard) => hazard.test(one)))).toEqual([])
  expect(commands.filter((one) => (one.match(/'/g) ?? []).length % 2 === 1)).toEqual([])
})

test('a command grows longer than a host looks through, or in the loop of Assay its input is cut', async () => {
  const learnings = Array.from({ length: 40 }, (_, index) => `${index} ${"it's ".repeat(200)}`)
  const closing = async (args: object) => {
    const answer = cli()
    const commands: string[] = []
    const played = await play(rig, '', {
      source,
      args,
      play: (call) => {
        if (!isClerk(call))
          return call.label === 'collect'
            ? ({ ...text(''), object: { learnings, suggestions: [] } } as AgentReply)
            : answered(call)
        commands.push(call.prompt)
        return answer(call.prompt)
      },
    })
    expect(played.error).toBeNull()
    return commands.find((one) => one.includes('round close')) ?? ''
  }
  const cut = await closing({})
  expect(cut.length).toBeLessThan(9500)
  expect(cut.length).toBeGreaterThan(5000)
  expect(cut).toContain('39 it%27s')
  expect((await closing({ launch: 1 })).length).toBeGreaterThan(40_000)
})

test('after a refused command another is asked for, or it does not say what the installer says', async () => {
  const answer = cli()
  const asked: string[] = []
  const played = await play(rig, '', {
    source,
    play: (call) => {
      asked.push(call.label.split(' ').slice(0, 2).join(' '))
      if (!isClerk(call)) return answered(call)
      const denied = { ok: false, problem: { code: 'denied', message: 'requires approval' } }
      return call.label.startsWith('assay seal') ? text(JSON.stringify(denied)) : answer(call.prompt)
    },
  })
  expect(played.status).toBe('failed')
  expect(played.error).toContain('requires approval')
  expect(played.error).toContain(pluginHost('claude-code').permissions[0])
  // Both lanes were at work; neither gets beyond the refusal.
  expect(asked.filter((one) => one === 'assay seal').length).toBeLessThanOrEqual(2)
  expect(asked.slice(asked.indexOf('assay seal')).filter((one) => one === 'verify lane')).toEqual([])
  expect(asked.at(-1)).not.toMatch(/^assay (round|status)/)
})

test('a lane of the baseline arm hears what the meta controller saw in the search', async () => {
  const prompts = {
    state: { replace: null, append: ['the cache is cold'] },
    implement: { replace: 'Warm {objective}', append: [] },
  }
  const answer = cli({ arm: true, prompts })
  const played = await play(rig, '', {
    source,
    play: (call) => (isClerk(call) ? answer(call.prompt) : answered(call)),
  })
  const told = (lane: number) =>
    played.calls.find(({ label }) => label.startsWith(`implement lane ${lane}`))?.prompt ?? ''
  expect(told(1)).toContain('the cache is cold')
  expect(told(1)).toContain('Warm')
  expect(told(2)).toContain('You improve one thing')
  expect(told(2)).not.toContain('the cache is cold')
})

test('who makes its claim too long for any model is verified by nobody', async () => {
  const answer = cli()
  const long = 'y'.repeat(50_000)
  const implemented = { hypothesis: long, summary: long, learnings: Array(30).fill(long) }
  const played = await play(rig, '', {
    source,
    args: { launch: 1 },
    play: (call) => {
      if (isClerk(call)) return answer(call.prompt)
      return call.label.startsWith('implement') ? { ...text(''), object: implemented } : answered(call)
    },
  })
  expect(played.error).toBeNull()
  const readers = played.calls.filter(({ label }) => /^(verify|collect)/.test(label))
  expect(readers.map(({ label }) => label.split(' ')[0]).sort()).toEqual([
    'collect',
    ...Array(4).fill('verify'),
  ])
  for (const { prompt } of readers) expect(prompt.length).toBeLessThan(100_000)
})

test('a launch that is left in its midst takes along what its lanes have learnt', async () => {
  const left = async (agents: number) => {
    const answer = cli()
    const learnt = (call: AgentCall) => [`-o2 isn't the cause, says ${call.label.slice(0, 16)}`]
    const played = await play(rig, '', {
      source,
      args: { agents },
      play: (call) => {
        if (isClerk(call)) return answer(call.prompt)
        const object = { hypothesis: 'it', learnings: learnt(call), suggestions: ['try the cache'] }
        return call.label.startsWith('implement') ? ({ ...text(''), object } as AgentReply) : answered(call)
      },
    })
    expect(played.error).toBeNull()
    expect(played.calls.length).toBeLessThanOrEqual(agents)
    const told = played.calls.flatMap(({ prompt }) => {
      const clerk = parseClerk(prompt)
      return clerk.ok && clerk.value.argv[0] === 'note' ? [clerk.value.argv] : []
    })
    return { result: played.result, told }
  }
  const midst = await left(35)
  expect(midst.result).toMatchObject({ rounds: 0, continue: true })
  expect(midst.told).toEqual(
    [1, 2].map((lane) => [
      ...['note', '--kind', 'learning', '--key', expect.stringMatching(new RegExp(`^t/l${lane}/\\d+$`))],
      `Lane ${lane} of round 1: -o2 isn’t the cause, says implement lane ${lane} try the cache`,
      '--json',
    ]),
  )
  // Before any lane has said something there is nothing to tell; after the round was closed it is in there.
  expect((await left(25)).told).toEqual([])
  expect((await left(1000)).told).toEqual([])
})

/** What a launch noted, and how many agents it asked. `lost`: commands whose answer never arrives. */
async function leftBehind({ agents = 1000, lost = [] as string[], driven = '', learning = 'a', ...more }) {
  const answer = cli(more)
  const problem = { code: 'driven', message: 'a session of pi drives the run', hint: 'wait for it' }
  const played = await play(rig, '', {
    source,
    args: { agents },
    play: (call) => {
      if (lost.some((command) => call.label.startsWith(`assay ${command}`))) return text('All is well.')
      if (isClerk(call) && driven !== '' && call.prompt.includes(driven))
        return text(JSON.stringify({ ok: false, problem }))
      if (isClerk(call)) return answer(call.prompt)
      if (call.label === 'collect')
        return { ...text(''), object: { learnings: ['of all'], suggestions: [] } } as AgentReply
      const object = { hypothesis: 'it', learnings: [learning], suggestions: [] }
      return call.label.startsWith('implement') ? ({ ...text(''), object } as AgentReply) : answered(call)
    },
  })
  const notes = played.calls.flatMap(({ prompt }) => {
    const clerk = parseClerk(prompt)
    return clerk.ok && clerk.value.argv[0] === 'note' ? [clerk.value.argv] : []
  })
  return { played, asked: played.calls.length, notes, told: notes.map((argv) => argv[5]) }
}

test('a launch whose round another closes loses what was learnt in it', async () => {
  const { played, told } = await leftBehind({ driven: 'round close' })
  expect(played.result).toMatchObject({ driven: expect.stringContaining('pi') })
  // Each lane went two deep.
  expect(told).toEqual(['Lane 1 of round 1: a a', 'Lane 2 of round 1: a a', 'Round 1: of all'])
})

test('what two launches learnt shares a key, and the second is lost', async () => {
  const keys = async (learning: string) => {
    const { notes } = await leftBehind({ driven: 'round close', learning })
    return notes.slice(0, 2).map((argv) => argv[4])
  }
  const [one, other] = [await keys('the cache'), await keys('the parse')]
  expect(new Set([...one, ...other])).toHaveLength(4)
  expect(await keys('the cache')).toEqual(one)
})

test('a launch that is left asks more agents than it may when answers are lost at its end', async () => {
  const lost = ['note', 'status', 'meta']
  for (const agents of [43, 44, 45]) {
    const { asked, played, told } = await leftBehind({ agents, lost, width: 12, meta: { every_ms: 60_000 } })
    expect([played.error, played.result]).toEqual([null, expect.objectContaining({ continue: true })])
    // In the midst of the implementers, whose candidates are sealed first.
    expect(told.length).toBeGreaterThan(3)
    expect(asked).toBeLessThanOrEqual(agents)
  }
})

test('a lane that finds no room on the disk costs a round, does not end the loop with the cause, or leaves another without its seal', async () => {
  const answer = cli()
  const asked: string[] = []
  const full = { code: 'disk_full', message: 'exp_0002 has no worktree', hint: 'free some space' }
  let refuse = () => {}
  const wasRefused = new Promise<void>((resolve) => {
    refuse = resolve
  })
  let begin = () => {}
  const hasBegun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const played = await play(rig, '', {
    source,
    play: async (call) => {
      asked.push(call.label.split(' ').slice(0, 3).join(' '))
      if (call.label.startsWith('implement')) {
        begin()
        await wasRefused
      }
      if (!isClerk(call)) return answered(call)
      if (!call.prompt.includes('/l2/d1/new')) return answer(call.prompt)
      await hasBegun
      refuse()
      return text(JSON.stringify({ ok: false, problem: full }))
    },
  })
  expect(played.status).toBe('failed')
  expect(played.error).toContain('exp_0002 has no worktree; free some space')
  // What was paid for is sealed; the next start takes the round up with it.
  const since = asked.slice(asked.indexOf('implement lane 1') + 1)
  expect(since).toContain('assay seal exp_0001')
  expect(since.filter((one) => /^(verify|collect|implement|assay (run|round))/.test(one))).toEqual([])
})

test('a budget that lets nobody be asked is called a host that does not answer, or such a host a stop of the loop', async () => {
  const launched = (stop: string) => {
    const answer = cli({ stop })
    const nobody: AgentReply = { outcome: 'null', message: 'not asked', usage: NO_USAGE }
    return play(rig, '', { source, play: (call) => (isClerk(call) ? answer(call.prompt) : nobody) })
  }
  for (const stop of ['budget', 'user', 'target']) {
    const { error, result } = await launched(stop)
    expect([error, result]).toEqual([null, expect.objectContaining({ rounds: 1, stop })])
  }
  for (const stop of ['stall', 'failures', 'no_hypothesis'])
    expect((await launched(stop)).error).toContain('no agent answered')
})

test('in the workflow tool of a host, an edit whose agent answers null is discarded, or a lane without an edit is judged', async () => {
  const answer = cli()
  const commands: string[] = []
  const played = await play(rig, '', {
    source,
    play: (call) => {
      if (call.label.startsWith('implement')) return { outcome: 'null', message: 'skipped', usage: NO_USAGE }
      if (!isClerk(call)) return answered(call)
      const command = /assay ((?:seal|run|discard) exp_\d{4}.*?) --json/.exec(call.prompt)?.[1]
      if (command === undefined) return answer(call.prompt)
      commands.push(command)
      const changed = command.includes('exp_0001')
      const data = changed ? { attempt: 1, changed } : { attempt: null, changed }
      return command.startsWith('seal') ? text(JSON.stringify({ ok: true, data })) : answer(call.prompt)
    },
  })
  expect(played.error).toBeNull()
  const of = (experiment: string) => commands.filter((one) => one.includes(experiment))
  expect(of('exp_0001')).toEqual(['seal exp_0001 --if-changed', 'run exp_0001 --detach --sealed'])
  expect(of('exp_0002')).toEqual([
    'seal exp_0002 --if-changed',
    "discard exp_0002 --failure-class environment --reason 'its agent gave no answer'",
  ])
})
