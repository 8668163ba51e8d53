/** The protocol of the loop, as an agent calls it: round next, task, answer. */
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { takeAnswer } from '../../cli/loop/take-answer.ts'
import { openRun } from '../../cli/run/open.ts'
import { problemOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { brief, start } from './rounds-scene.ts'
import { type AnswerData, answer, answered, briefed, card, edit, ids, ledger, next } from './tasks-scene.ts'

describe('a round by tasks', () => {
  test('an idea goes from its brief to a keep and an audit, and the next round opens, without any verb in between', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    expect(ids(await next(project))).toEqual(['r1/brief'])
    const laid = await answered(project, 'r1/brief', { briefs: [brief('exp_0000', 'halve it')] })
    expect(ids(laid.next)).toEqual(['r1/l1/d1/implement'])
    expect(ids((await edit(project, 'r1/l1/d1/implement', 50)).next)).toEqual(['r1/l1/d1/verify'])
    const verified = await answered(project, 'r1/l1/d1/verify', { passed: true })
    expect(verified.next.tasks).toEqual([])
    expect(ids(await next(project, '--wait', '60s'))).toEqual(['r1/l1/d1/audit'])
    expect(ids((await answered(project, 'r1/l1/d1/audit', { findings: [] })).next)).toEqual(['r1/collect'])
    await answered(project, 'r1/collect', { learnings: ['half is enough'], suggestions: [] })
    const second = await next(project)
    expect([second.round, second.over, ids(second)]).toEqual([2, null, ['r2/scan/1']])
    const { best } = await project.data<{ best: { value: number } }>('status')
    expect(best.value).toBe(50)
  })

  test('what the CLI finds free of charge comes back with the answer, and as the findings of a revision', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await briefed(project, 'change nothing')
    const empty = await answered(project, 'r1/l1/d1/implement', {})
    expect(empty.findings).toEqual(['nothing changed against the parent'])
    expect(ids(empty.next)).toEqual(['r1/l1/d1/revise.1'])
    expect((await card(project, 'r1/l1/d1/revise.1')).findings).toEqual([
      { code: 'empty', message: 'nothing changed against the parent', path: null },
    ])
    expect(ids((await edit(project, 'r1/l1/d1/revise.1', 70)).next)).toEqual(['r1/l1/d1/verify.1'])
  })

  test('a candidate that no verifier passed is held against its idea, or loses what the verifier found', async () => {
    const project = await start({ loop: { width: 1, depth: 1, revise: 0 } })
    await briefed(project, 'halve it')
    await edit(project, 'r1/l1/d1/implement', 50)
    const turned = await answered(project, 'r1/l1/d1/verify', {
      passed: false,
      findings: [{ message: 'it special-cases the input' }],
    })
    expect(ids(turned.next)).toEqual(['r1/collect'])
    expect(ledger(project).find(({ type }) => type === 'discarded')).toMatchObject({
      failure_class: 'eval',
      experiment: 'exp_0001',
    })
    expect(await project.data('annotate', 'exp_0001')).toMatchObject({
      remarks: [{ tag: 'verify', text: 'it special-cases the input' }],
    })
  })

  test('ideas that a round paid for reach the briefs of the same round', async () => {
    const project = await start({ loop: { width: 1, depth: 1, stall: 5, ideate: { stall: 1 } } })
    await briefed(project, 'halve it')
    await project.data('answer', 'r1/l1/d1/implement', '--none')
    await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
    const second = await next(project)
    expect(ids(second)).toEqual(['r2/ideate/exploit', 'r2/ideate/explore', 'r2/ideate/failures'])
    await answered(project, 'r2/ideate/exploit', { ideas: [{ hypothesis: 'Intern the keys' }] })
    await answered(project, 'r2/ideate/explore', { ideas: [] })
    await project.data('answer', 'r2/ideate/failures', '--none')
    const { prompt } = await project.data<{ prompt: string }>('task', 'r2/brief')
    expect(prompt).toContain('Ideas that no experiment has tried yet')
    expect((await card(project, 'r2/brief')).brief.proposals).toEqual([
      { id: 'idea_0001', hypothesis: 'Intern the keys' },
    ])
  })

  test('while a person has paused the loop, a session opens a round, is given a task, or loses what its agents hand in', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    const pause = () => project.data('loop', 'pause', '--reason', 'the machine is needed')
    const resume = () => project.data('loop', 'resume')
    const paused = () => {
      const at = ledger(project).findLast(({ type }) => type === 'paused')?.at
      return { why: 'the machine is needed', since: at }
    }
    await pause()
    expect(await next(project)).toMatchObject({ round: null, over: null, tasks: [], paused: paused() })
    await resume()
    expect(await next(project)).toMatchObject({ round: 1, tasks: [{ id: 'r1/brief' }], paused: null })
    await pause()
    expect(await next(project)).toMatchObject({ round: 1, tasks: [], paused: paused() })
    const laid = await answered(project, 'r1/brief', { briefs: [brief('exp_0000', 'halve it')] })
    expect(laid.next).toMatchObject({ tasks: [], lanes: [1] })
    await resume()
    expect(ids(await next(project))).toEqual(['r1/l1/d1/implement'])
    await pause()
    expect((await edit(project, 'r1/l1/d1/implement', 50)).next).toMatchObject({ tasks: [], lanes: [1] })
    const waiting = next(project, '--wait', '60s')
    await resume()
    expect(ids(await waiting)).toEqual(['r1/l1/d1/verify'])
  })

  test('a run that a person aborted as hopeless ends its lane; nobody is asked to revise it', async () => {
    const project = await start({
      loop: { width: 1, depth: 1 },
      measure: { command: 'sh bench/run.sh', timeout: '5m' },
    })
    await briefed(project, 'hang')
    const { worktree } = await card(project, 'r1/l1/d1/implement')
    writeFileSync(join(worktree, 'src/hook.sh'), 'sleep 300\n')
    await answered(project, 'r1/l1/d1/implement', {})
    const begun = await answered(project, 'r1/l1/d1/verify', { passed: true })
    expect(begun.next.measuring).toEqual(['exp_0001'])
    await project.data('abort', 'exp_0001', '--failure-class', 'build', '--reason', 'it hangs')
    expect(ids(await next(project, '--wait', '60s'))).toEqual(['r1/collect'])
  })

  test('why a person aborted a run is lost for the next round when no fix was named', async () => {
    const project = await start({
      loop: { width: 1, depth: 1 },
      measure: { command: 'sh bench/run.sh', timeout: '5m' },
    })
    const made = await project.open({ 'src/hook.sh': 'sleep 300\n' })
    await project.data('run', made.experiment, '--detach')
    await project.data('abort', made.experiment, '--reason', 'the loss diverges')
    const said = `${made.experiment} was stopped: the loss diverges`
    expect(await project.data('round', 'open')).toMatchObject({ notes: [said] })
    await answered(project, 'r1/scan/1', { findings: [] })
    expect((await card(project, 'r1/brief')).capsule.notes).toEqual([said])
    expect(await project.data('context')).toMatchObject({ infrastructure: { items: [said] } })
  })

  test('no round is opened after the one that --until names', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await briefed(project, 'halve it')
    await project.data('answer', 'r1/l1/d1/implement', '--none')
    await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
    expect(await next(project, '--until', '1')).toMatchObject({ round: null, over: 'until', tasks: [] })
    expect(ledger(project).filter(({ type }) => type === 'round_opened')).toHaveLength(1)
  })
})

describe('answers that are not as they should be', () => {
  test('the same answer twice is one answer; a different one is refused with the first', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await briefed(project, 'halve it')
    await edit(project, 'r1/l1/d1/implement', 50)
    const again = await answered(project, 'r1/l1/d1/implement', { summary: 'done' })
    expect([again.repeated, ids(again.next)]).toEqual([true, ['r1/l1/d1/verify']])
    const other = problemOf(await answer(project, 'r1/l1/d1/implement', { summary: 'something else' }))
    expect(other).toMatchObject({ code: 'answered', data: { answer: { summary: 'done' } } })
    expect(ledger(project).filter(({ task }) => task === 'r1/l1/d1/implement')).toHaveLength(1)
  })

  test('an answer to a task that is not open says which are', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await briefed(project, 'halve it')
    for (const id of ['r1/l1/d1/verify', 'r9/l9/d9/implement', '__proto__'])
      expect(problemOf(await answer(project, id, {}))).toMatchObject({
        code: 'not_open',
        data: { open: ['r1/l1/d1/implement'] },
      })
  })

  test('an agent that edited and answers in prose is judged all the same, and its prose is kept', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await briefed(project, 'halve it')
    const taken = await edit(project, 'r1/l1/d1/implement', 50, 'I halved the number.')
    expect(ids(taken.next)).toEqual(['r1/l1/d1/verify'])
    expect(ledger(project).find(({ task }) => task === 'r1/l1/d1/implement')).toMatchObject({
      answer: { summary: 'I halved the number.' },
    })
  })

  test('an agent that edited and gave no answer is judged; one that left nothing says nothing about the idea', async () => {
    const project = await start({ loop: { width: 2, depth: 1 } })
    await briefed(project, 'halve the number', 'write another parser')
    const { worktree } = await card(project, 'r1/l1/d1/implement')
    writeFileSync(join(worktree, 'src/metrics.txt'), 'METRIC ms=50\n')
    expect(ids((await project.data<AnswerData>('answer', 'r1/l1/d1/implement', '--none')).next)).toContain(
      'r1/l1/d1/verify',
    )
    await project.data<AnswerData>('answer', 'r1/l2/d1/implement', '--none')
    expect(ledger(project).find(({ type }) => type === 'discarded')).toMatchObject({
      experiment: 'exp_0002',
      failure_class: 'environment',
    })
  })

  test('prose, a wrong type and five megabytes are refused, and the task stays open', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await next(project)
    for (const [input, code] of [
      ['I have no idea', 'bad_answer'],
      ['{"briefs":"none"}', 'bad_answer'],
      [`{"briefs":[{"objective":"${'x'.repeat(5_000_000)}"}]}`, 'too_long'],
    ])
      expect(problemOf(await answer(project, 'r1/brief', input))).toMatchObject({ code })
    expect(ids(await next(project))).toEqual(['r1/brief'])
  })

  test('a candidate whose author answers more than a model can read is never verified', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await briefed(project, 'halve it')
    const long = 'y'.repeat(50_000)
    await edit(project, 'r1/l1/d1/implement', 50, {
      hypothesis: long,
      summary: long,
      learnings: Array(10).fill(long),
    })
    const { prompt } = await project.data<{ prompt: string }>('task', 'r1/l1/d1/verify')
    expect(prompt.length).toBeLessThan(30_000)
  })

  test('a driver that says of an agent that it ended takes back the answer that the agent handed in', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await briefed(project, 'halve it')
    await edit(project, 'r1/l1/d1/implement', 50)
    const none = await project.data<AnswerData>('answer', 'r1/l1/d1/implement', '--none')
    expect([none.repeated, ids(none.next)]).toEqual([true, ['r1/l1/d1/verify']])
    expect(ledger(project).find(({ task }) => task === 'r1/l1/d1/implement')).toMatchObject({
      answer: { summary: 'done' },
    })
  })

  test('a caller that asks about one lane waits for the other, is not answered that its lane has ended, or begins a round', async () => {
    const project = await start({ loop: { width: 2, depth: 1 } })
    await briefed(project, 'halve the number', 'write another parser')
    await project.data('answer', 'r1/l2/d1/implement', '--none')
    expect(await next(project, '--lane', '2', '--wait', '60s')).toMatchObject({ over: 'lane', tasks: [] })
    const one = await next(project, '--lane', '1')
    expect([one.over, one.lanes, ids(one)]).toEqual([null, [1], ['r1/l1/d1/implement']])
    await project.data('answer', 'r1/l1/d1/implement', '--none')
    await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
    expect(await next(project, '--lane', '1')).toMatchObject({ round: null, over: 'lane' })
    expect(ledger(project).filter(({ type }) => type === 'round_opened')).toHaveLength(1)
  })

  test('fields that nobody reads are named, and not kept', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await next(project)
    const taken = await answered(
      project,
      'r1/brief',
      '{"briefs":[{"parent":"exp_0000","objective":"halve it"}],"score":9999,"__proto__":{"hard":true}}',
    )
    expect(taken.ignored).toEqual(['score', '__proto__'])
    expect(ledger(project).find(({ task }) => task === 'r1/brief')?.answer).toEqual({
      briefs: [{ parent: 'exp_0000', objective: 'halve it' }],
    })
  })

  test('an agent in the worktree of one lane cannot answer for the other', async () => {
    const project = await start({ loop: { width: 2, depth: 1 } })
    await briefed(project, 'halve the number', 'write another parser')
    const { worktree } = await card(project, 'r1/l1/d1/implement')
    const other = await project.cli(['answer', 'r1/l2/d1/implement'], { cwd: worktree, input: '{}' })
    expect(problemOf(other)).toMatchObject({ code: 'other_experiment' })
  })

  test('a caller that reaches the worktree of one lane through a link cannot answer for the other', async () => {
    const project = await start({ loop: { width: 2, depth: 1 } })
    await briefed(project, 'halve the number', 'write another parser')
    const { worktree } = await card(project, 'r1/l1/d1/implement')
    const link = join(makeTemp('link'), 'worktree')
    symlinkSync(worktree, link)
    const { signal } = new AbortController()
    const world = { env: {}, tell: () => {}, signal, clock: () => new Date(), random: () => 'x' }
    const run = openRun({ ...world, cwd: link }, null)
    if (!run.ok) throw new Error(run.problem.message)
    const taken = await takeAnswer(run.value, 'r1/l2/d1/implement', '{}')
    expect(taken).toMatchObject({ ok: false, problem: { code: 'other_experiment' } })
  })

  test('two drivers that ask at once open one round, one lane and one experiment', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    const opened = await Promise.all([next(project), next(project), next(project)])
    expect(opened.map(ids)).toEqual([['r1/brief'], ['r1/brief'], ['r1/brief']])
    const input = { briefs: [brief('exp_0000', 'halve it')] }
    await Promise.all([answered(project, 'r1/brief', input), answered(project, 'r1/brief', input)])
    await Promise.all([next(project), next(project)])
    // A line of the slower one may stay in the file: it counts for nothing.
    const { counts } = await project.data<{ counts: Record<string, number> }>('status')
    expect(counts).toMatchObject({ kept: 1, open: 1 })
    expect(ids(await next(project))).toEqual(['r1/l1/d1/implement'])
  })

  test('a lane whose worktree was deleted says so as a finding, and is edited again', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await briefed(project, 'halve it')
    const { worktree } = await card(project, 'r1/l1/d1/implement')
    rmSync(worktree, { recursive: true, force: true })
    const taken = await answered(project, 'r1/l1/d1/implement', { summary: 'done' })
    expect(taken.findings[0]).toMatch(/the worktree of exp_0001 was deleted/)
    expect(ids((await edit(project, 'r1/l1/d1/revise.1', 50)).next)).toEqual(['r1/l1/d1/verify.1'])
  })
})
