import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { openScene, tuneFiles, tuneSpec } from './loop-scene.ts'

interface Judged {
  accepted: unknown[]
  applied: unknown[]
  lanes: unknown[]
  refused: unknown[]
  learnings: string[]
  flagged: boolean
}

test('what agents say at length is more than the ledger takes, and ends the loop', async () => {
  const scene = await openScene(tuneFiles, tuneSpec({ loop: { width: 12, depth: 1 } }))
  const send = async (args: string[], input: object) => dataOf(await scene.cli<Judged>(args, input))
  const { token } = dataOf(await scene.cli<{ token: string }>(['round', 'open']))
  const long = (word: string) => Array.from({ length: 20 }, (_, n) => `${word} ${n} `.repeat(100))

  const written = Array.from({ length: 12 }, (_, n) => ({
    parent: 'exp_0000',
    objective: `way${n} `.repeat(500),
    boundaries: long(`edge${n}`),
    pointers: long(`look${n}`),
  }))
  const strangers = Array.from({ length: 500 }, (_, n) => ({ parent: 'x'.repeat(900), objective: `${n}` }))
  const laid = await send(['round', 'briefs', '--token', token], { briefs: [...written, ...strangers] })
  expect([laid.lanes.length, laid.refused.length]).toEqual([12, 20])
  expect(laid.lanes[11]).toMatchObject({ brief: { objective: expect.stringMatching(/^(way11 ){50}/) } })

  const ideas = Array.from({ length: 20 }, (_, n) => ({ hypothesis: `idea${n}`, sources: long('source') }))
  expect((await send(['propose'], { ideas })).accepted).toHaveLength(20)

  const edits = Array.from({ length: 2000 }, (_, n) => ({ kind: `nonsense ${n}` }))
  expect((await send(['meta', 'apply'], { edits })).refused).toHaveLength(20)

  const findings = Array.from({ length: 10 }, () => ({ message: 'it cheats', path: 'src/'.repeat(3000) }))
  expect(await send(['audit', 'exp_0000'], { findings })).toMatchObject({ flagged: true })

  const learnings = Array.from({ length: 10 }, () => '\u0007'.repeat(400))
  const lanes = [1, 2].map((lane) => ({ lane, learnings, suggestions: learnings }))
  expect((await send(['round', 'close', '--token', token], { lanes })).learnings).toHaveLength(30)
})
