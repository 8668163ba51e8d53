import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { AgentCall, AgentReply } from '../../cli/workflow/call.ts'
import { play, text, useRig } from './rig.ts'

const rig = useRig()
const source = readFileSync(new URL('../../workflows/optimize.js', import.meta.url), 'utf8')

/** One round of two lanes, two deep, as the CLI would tell it; everything is kept. */
function cli() {
  let opened = 0
  let experiments = 0
  const knobs = { revise: 0 }
  const parents = [{ experiment: 'exp_0000', value: 1, rank: 1, why: 'the best' }]
  const turn = {
    round: 1,
    token: 't',
    stop: null,
    width: 2,
    depth: 2,
    parents,
    ideate: null,
    direction: null,
  }
  const lane = (number: number) => ({
    lane: number,
    parent: 'exp_0000',
    brief: { objective: 'go', hard: false },
  })
  const answers: Record<string, () => object> = {
    'round open': () =>
      opened++ === 0 ? { ...turn, scan: { batches: [] }, metric: {}, knobs } : { stop: 'stall' },
    'round briefs': () => ({ lanes: [lane(1), lane(2)], refused: [] }),
    'round close': () => ({ improved: false, stall: 1, stop: 'stall' }),
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
