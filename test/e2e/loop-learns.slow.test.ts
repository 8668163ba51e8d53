/** What one round of the loop tells the next one. */
import { describe, expect, test } from 'vitest'
import type { Scene } from './loop-scene.ts'
import { play } from './number-scene.ts'

describe.concurrent('a command as the host', () => {
  test('a lane loses its good step to a second one in doubt, or the agent that writes briefs does not get the learnings', async () => {
    const { scene, host, data } = await play(
      {
        implement: `(card) => {
          write(card, read(card) - 1)
          return { hypothesis: 'to ' + read(card), learnings: ['learnt at ' + card.depth], suggestions: ['go on at ' + card.depth] }
        }`,
        verify: `(card) => card.depth === 2 && !card.claim.hypothesis.startsWith('again')
          ? { passed: false, findings: [{ message: 'say it again' }] } : { passed: true }`,
        revise: `() => ({ hypothesis: 'again', learnings: ['learnt in revision'], suggestions: [] })`,
        audit: `(card) => ({ findings: card.depth === 2 ? [{ message: 'too good' }] : [] })`,
        brief: `(card, { prompt }) => {
          if (card.round === 2 && card.again === undefined) refuse('not now')
          return brief(card)
        }`,
        collect: `(card) => ({ learnings: ['lanes ' + card.brief.lanes.length], suggestions: [] })`,
      },
      { loop: { depth: 2 }, budget: { experiments: 3 } },
    )
    expect(scene.eventsOf('round_closed').map(({ improved, best }) => [improved, best])).toEqual([
      [true, 'exp_0001'],
      expect.anything(),
    ])
    expect(data).toMatchObject({ rounds: 2, best: { experiment: 'exp_0001', value: 99 } })
    const [refused, written] = host.calls().filter(({ role, card }) => role === 'brief' && card.round === 2)
    const told = ['learnt at 1', 'learnt at 2', 'learnt in revision', 'lanes 1', 'go on at 1', 'go on at 2']
    expect(refused?.card.capsule).toMatchObject({ learnings: told })
    expect(written?.card.capsule).toMatchObject({ learnings: told })
    const collect = host.calls().find(({ role }) => role === 'collect')
    expect(collect?.card.brief).toMatchObject({
      lanes: [
        {
          experiments: [
            { experiment: 'exp_0001', status: 'kept' },
            { experiment: 'exp_0002', status: 'kept' },
          ],
          learnings: ['learnt at 1', 'learnt at 2', 'learnt in revision'],
          suggestions: ['go on at 1', 'go on at 2'],
        },
      ],
    })
  })

  test('a plateau changes nothing, labels change, invented findings are believed, three ideators do not see each other’s ideas, or a rejected candidate is not read again', async () => {
    const ledgerOf = (scene: Scene) => scene.eventsOf('round_opened')
    const { scene, host } = await play(
      {
        implement: `(card) => {
          write(card, card.round === 1 ? 99 : 100 + card.round)
          return done('round ' + card.round)
        }`,
        scan: `({ brief: { experiments } }) => ({
          findings: ['METRIC ms=102', 'METRIC ms=7'].map((quote) => ({
            kind: 'wall', message: 'It says ' + quote, evidence: [{ experiment: experiments.at(-1), quote }],
          })),
        })`,
        ideate: `({ brief: { kind } }) => ({
          ideas: [{ hypothesis: kind === 'explore' ? 'halve it' : 'Round 2', uplift: 0.5, confidence: 0.5 }],
        })`,
      },
      { loop: { stall: 3, ideate: { stall: 2 } }, budget: { experiments: 4 } },
    )
    expect(
      ledgerOf(scene).map(({ direction, parents }) => [direction?.change.parent, parents[0]?.experiment]),
    ).toEqual([
      [undefined, 'exp_0000'],
      [undefined, 'exp_0001'],
      [undefined, 'exp_0001'],
      ['exp_0000', 'exp_0000'],
    ])
    const ofRound = (round: number, role: string) =>
      host.calls().filter(({ role: one, card }) => one === role && card.round === round)
    expect(
      ofRound(4, 'ideate')
        .map(({ card }) => (card.brief as { kind: string }).kind)
        .sort(),
    ).toEqual(['exploit', 'explore', 'failures'])
    const proposed = scene.eventsOf('proposed')
    expect(proposed.flatMap(({ accepted }) => accepted)).toHaveLength(1)
    expect(proposed.flatMap(({ refused }) => refused)).toHaveLength(2)
    const [third] = ofRound(3, 'brief')
    expect(third?.card.brief).toMatchObject({
      findings: [{ message: 'It says METRIC ms=102' }],
      direction: null,
    })
    const [fourth] = ofRound(4, 'brief')
    expect(fourth?.prompt).toContain('2 rounds without a new best: start from exp_0000 too')
    expect(scene.eventsOf('round_briefed').map(({ lanes }) => lanes[0]?.brief.hard)).toEqual([
      false,
      false,
      false,
      true,
    ])
    expect(scene.eventsOf('task_answered').map(({ task }) => task)).toEqual(
      expect.arrayContaining([
        'r2/scan/1',
        'r4/ideate/explore',
        'r1/brief',
        'r1/l1/d1/implement',
        'r1/collect',
      ]),
    )
    expect(ofRound(2, 'collect')[0]?.prompt).toContain(
      'one by one (assay show ID, assay diff ID): exp_0002 (not_better)',
    )
  })
})
