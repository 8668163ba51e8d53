/** What a turn is told, and what ends the loop. */
import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { hook, ms, type Project } from './project.ts'
import { brief, briefs, close, open, send, start, turn } from './rounds-scene.ts'

describe('what a turn is told', () => {
  test('ideas are not asked for after a stall or after keeps, or are asked for again at once', async () => {
    const project = await start({ loop: { width: 2, depth: 1, stall: 9, ideate: { stall: 2, keeps: 3 } } })
    const asked: (string | null)[] = []
    const next = async (values: number[]) => {
      const { token, ideate } = await open(project)
      asked.push(ideate?.why ?? null)
      await briefs(project, token, [brief('exp_0000', `reach ${values}`)])
      for (const value of values) await project.attempt(ms(value))
      await close(project, token)
    }
    await next([])
    await next([])
    await next([])
    await next([])
    await next([90, 80, 70])
    await next([])
    await next([])
    expect(asked).toEqual([
      null,
      null,
      '2 rounds without a new best',
      null,
      '4 rounds without a new best',
      '3 experiments kept since ideas were last asked for',
      null,
    ])
  })

  test('a scan reads more than its limit, or what earlier rounds have read', async () => {
    const project = await start({ loop: { width: 2, depth: 1, scan: { batch: 2, max: 3 } } })
    const first = await open(project)
    expect(first.scan.batches).toEqual([])
    await briefs(project, first.token, [brief('exp_0000', 'five at once')])
    for (const value of [110, 120, 130, 140, 150]) await project.attempt(ms(value))
    await close(project, first.token)
    const second = await open(project)
    expect(second.scan.batches).toEqual(
      [['exp_0003', 'exp_0004'], ['exp_0005']].map((ids) => ids.map(shifted)),
    )
    await briefs(project, second.token, [brief('exp_0000', 'nothing')])
    await close(project, second.token)
    expect((await open(project)).scan.batches).toEqual([])
  })

  test('a finding is believed whose quote was never printed, or was by another; or one that was printed is not', async () => {
    const project = await start()
    const said = (text: string) => hook(`echo '${text}' >&2`)
    const one = await project.attempt({ ...said('cache  miss at\t0x7f: evicted'), ...ms(120) })
    const two = await project.attempt({ ...said('cache miss at 0x80: evicted'), ...ms(130) })
    const trace = hook(
      `echo '{"task":"parse","log":["said \\"no more room\\" twice"]}' > "$ASSAY_TRACES/parse.json"`,
    )
    const three = await project.attempt({ ...trace, ...ms(140) })
    // As a comparison leaves it: what the parent printed in the same attempt.
    const samples = `.assay/runs/run_0001/exp/${one.experiment.slice(4)}/attempts/1/samples`
    for (const name of ['judge-1-parent.out', 'judge-1-a.json'])
      writeFileSync(project.repo.path(samples, name), '{"said":"only by the parent"}')
    const quote = ({ experiment }: { experiment: string }, text: string) => ({ experiment, quote: text })
    const evicted = [quote(one, 'cache miss at 0x7f: evicted'), quote(two, 'miss at 0x80: evicted')]
    const findings = [
      { kind: 'shared_cause', message: 'The cache is too small', evidence: evicted },
      {
        kind: 'wall',
        message: 'Never printed',
        evidence: [quote(one, 'cache hit at 0x7f'), quote(two, 'miss')],
      },
      { kind: 'wall', message: 'Printed by another', evidence: [quote(two, 'cache miss at 0x7f: evicted')] },
      { kind: 'shared_cause', message: 'Only one shows it', evidence: evicted.slice(0, 1) },
      { kind: 'wall', message: 'In a trace', evidence: [quote(three, 'said "no more room" twice')] },
      { kind: 'shared_cause', message: 'the cache is too small!', evidence: evicted.slice(1) },
      { kind: 'wall', message: 'Of nobody', evidence: [quote({ experiment: 'exp_0404' }, 'cache miss')] },
      { kind: 'wall', message: 'Of the parent', evidence: [quote(one, 'only by the parent')] },
      { kind: 'hunch', message: 'Something is odd', evidence: [] },
    ]
    const before = project.repo.read('.assay/runs/run_0001/ledger.jsonl')
    const answer = dataOf(
      await send<{ findings: { message: string; experiments: string[]; evidence: { file: string }[] }[] }>(
        project,
        ['round', 'findings'],
        { findings },
      ),
    )
    expect(answer.findings.map(({ message, experiments }) => [message, experiments])).toEqual([
      ['The cache is too small', [one.experiment, two.experiment]],
      ['In a trace', [three.experiment]],
    ])
    expect(answer.findings[0]?.evidence[0]?.file).toBe('attempts/1/samples/judge-0-candidate.err')
    expect(answer).toMatchObject({
      dropped: [
        { index: 1, reason: 'unverified' },
        { index: 2, reason: 'unverified' },
        { index: 3, reason: 'not_shared' },
        { index: 5, reason: 'duplicate' },
        { index: 6, reason: 'unverified' },
        { index: 7, reason: 'unverified' },
        { index: 8, reason: 'malformed' },
      ],
    })
    expect(project.repo.read('.assay/runs/run_0001/ledger.jsonl')).toBe(before)
  })

  test('an idea that was tried or proposed before is taken, or a good one does not reach the next turn', async () => {
    const project = await start()
    await project.attempt(ms(90))
    const ideas = [
      {
        hypothesis: 'Cache the parsed header',
        parent: 'exp_0000',
        kind: 'cache',
        uplift: 0.1,
        confidence: 0.5,
      },
      { hypothesis: 'cache the header parsed' },
      { hypothesis: 'an idea' },
      { hypothesis: 'Skip the checksum', parent: 'exp_0099' },
      { hypothesis: '  ' },
    ]
    expect(dataOf(await send(project, ['propose'], { ideas }))).toEqual({
      accepted: [{ id: 'idea_0001', ...ideas[0] }],
      refused: [
        { index: 1, reason: 'duplicate', message: expect.any(String) },
        { index: 2, reason: 'tried', message: expect.stringContaining('exp_0001') },
        { index: 3, reason: 'parent', message: expect.stringContaining('exp_0099') },
        { index: 4, reason: 'empty', message: expect.any(String) },
      ],
    })
    expect(dataOf(await send(project, ['propose'], { ideas: ideas.slice(0, 1) }))).toMatchObject({
      accepted: [],
      refused: [{ index: 0, reason: 'duplicate' }],
    })
    expect((await open(project)).proposals).toEqual([{ id: 'idea_0001', ...ideas[0] }])
    const wrong = await send(project, ['propose'], { ideas: [{ parent: 'exp_0000' }] })
    expect(wrong.code).toBe(2)
  })
})

/** Ids after the one that the only lane reserved. */
const shifted = (id: string) => `exp_${String(Number(id.slice(4)) + 1).padStart(4, '0')}`

describe('the end of the loop', () => {
  const over = async (project: Project, stop: string) => {
    expect(await open(project)).toMatchObject({ round: null, token: null, stop, parents: [], width: 0 })
  }

  test('target: the loop continues although the best has reached it', async () => {
    const project = await start({ metric: { name: 'ms', direction: 'minimize', target: 80 } })
    expect(await turn(project, 'exp_0000', [81])).toMatchObject({ stop: null })
    expect(await turn(project, 'exp_0002', [])).toMatchObject({ stop: null })
    const { token } = await open(project)
    await briefs(project, token, [brief('exp_0000', 'the last step')])
    await project.attempt(ms(80))
    expect(await close(project, token)).toMatchObject({ improved: true, stop: 'target' })
    await over(project, 'target')
  })

  test('stall: the loop continues after as many turns without a new best', async () => {
    const project = await start({ loop: { width: 1, depth: 1, stall: 2 } })
    expect(await turn(project, 'exp_0000', [])).toMatchObject({ stall: 1, stop: null })
    expect(await turn(project, 'exp_0000', [])).toMatchObject({ stall: 2, stop: 'stall' })
    await over(project, 'stall')
  })

  test('budget: near its end a round is as large as before, or one attempt too many is paid', async () => {
    const project = await start({ loop: { width: 2, depth: 2 }, budget: { experiments: 3 } })
    const { token, ...size } = await open(project)
    expect([size.width, size.depth]).toEqual([2, 1])
    await briefs(project, token, [brief('exp_0000', 'one'), brief('exp_0000', 'two')])
    await project.attempt(ms(110))
    await project.attempt(ms(120))
    expect(await close(project, token)).toMatchObject({ stop: null })
    const last = await open(project)
    expect([last.width, last.depth]).toEqual([1, 1])
    await project.attempt(ms(130))
    const beyond = await project.open(ms(140))
    expect(await project.problem('run', beyond.experiment)).toMatchObject({
      exit: 3,
      code: 'budget_experiments',
    })
    expect(await close(project, last.token)).toMatchObject({ stop: 'budget' })
    await over(project, 'budget')
    expect(project.starts().filter((id) => id !== 'exp_0000')).toHaveLength(3)
  })

  test('failures: three identical ones in a row, or as many as the budget allows, do not end it', async () => {
    const alike = await start()
    const fail = async (project: Project, text: string) => {
      const { experiment } = await project.open({ 'src/metrics.txt': text })
      expect((await project.cli(['run', experiment])).code).toBe(4)
    }
    await fail(alike, 'first\n')
    await fail(alike, 'second\n')
    expect((await open(alike)).stop).toBeNull()
    await fail(alike, 'third\n')
    const { token } = await open(alike)
    expect(await close(alike, token)).toMatchObject({ stop: 'failures' })
    await over(alike, 'failures')

    const capped = await start({ budget: { failures: 1 } })
    await fail(capped, 'METRIC ms=NaN\n')
    await over(capped, 'failures')
  })

  test('frontier_empty: a round opens although nothing may become a parent', async () => {
    const project = await start()
    const doubt = { findings: [{ code: 'opinion', message: 'the baseline measures the wrong thing' }] }
    dataOf(await send(project, ['audit', 'exp_0000'], doubt))
    await over(project, 'frontier_empty')
  })

  test('no_hypothesis: the loop asks for ever although nobody has an idea', async () => {
    const project = await start()
    const { token } = await open(project)
    expect(await briefs(project, token, [])).toMatchObject({ lanes: [], refused: [] })
    expect(await close(project, token)).toMatchObject({ stop: 'no_hypothesis' })
    await over(project, 'no_hypothesis')
  })
})
