import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NO_USAGE } from '../../cli/hosts/host.ts'
import { play, text, useRig } from './rig.ts'

const rig = useRig()
let next = 0
const freshJournal = () => join(rig.folder, `journal-${next++}.jsonl`)
const prompts = (run: { calls: { prompt: string }[] }) => run.calls.map((call) => call.prompt)

test('a resumed run gives the same result without asking anyone', async () => {
  const journal = freshJournal()
  const body = `const a = await agent('A'); const o = await agent('O', { schema: { type: 'object' } }); return [a, o, args]`
  const answer = () => ({ outcome: 'ok', text: 'once', object: { n: 1, ü: 'ö' }, usage: NO_USAGE }) as const
  const first = await play(rig, body, { journal, play: answer, args: 1 })
  const again = await play(rig, body, { journal, resume: true, args: 2 })
  expect(first.result).toEqual(['once', { n: 1, ü: 'ö' }, 1])
  expect(again.result).toEqual(['once', { n: 1, ü: 'ö' }, 2])
  expect(prompts(again)).toEqual([])
  expect(again.agents).toBe(2)
  expect(again.facts).toEqual([
    { type: 'agent', state: 'replayed', label: 'A', phase: null, ms: 0 },
    { type: 'agent', state: 'replayed', label: 'O', phase: null, ms: 0 },
  ])
})

test('without resume a journal is written and not read', async () => {
  const journal = freshJournal()
  await play(rig, `return agent('A')`, { journal })
  expect(prompts(await play(rig, `return agent('A')`, { journal }))).toEqual(['A'])
})

test('an edited call and everything after it run again; labels and phases are no edit', async () => {
  const journal = freshJournal()
  await play(rig, `await agent('A'); await agent('B'); await agent('C')`, { journal })
  const edited = await play(
    rig,
    `await agent('A', { label: 'new', phase: 'P' }); await agent('B2'); await agent('C')`,
    {
      journal,
      resume: true,
    },
  )
  expect(prompts(edited)).toEqual(['B2', 'C'])
  const model = await play(rig, `await agent('A', { model: 'm' }); await agent('B')`, {
    journal,
    resume: true,
  })
  expect(prompts(model)).toEqual(['A', 'B'])
})

test('lanes that interleave in a different order on resume are not paid twice', async () => {
  const journal = freshJournal()
  const body = `return parallel(['a', 'b'].map((lane) => async () => { const out = []; for (let i = 0; i < 3; i += 1) out.push(await agent(lane + i)); return out }))`
  let free = () => {}
  const laneB = new Promise<void>((resolve) => {
    free = resolve
  })
  const first = await play(rig, body, {
    journal,
    play: async (call) => {
      if (call.prompt === 'a0') await laneB
      if (call.prompt === 'b2') free()
      return text(`1st ${call.prompt}`)
    },
  })
  expect(prompts(first)).toEqual(['a0', 'b0', 'b1', 'b2', 'a1', 'a2'])
  expect(first.calls.map((call) => call.thread)).toEqual(['/0.0', '/0.1', '/0.1', '/0.1', '/0.0', '/0.0'])
  const again = await play(rig, body, { journal, resume: true })
  expect(prompts(again)).toEqual([])
  expect(again.result).toEqual(first.result)
})

test('an edit in one lane leaves the others paid, and what follows the join runs again', async () => {
  const journal = freshJournal()
  const body = (b: string) =>
    `await pipeline([1, 2], (x) => agent('s' + x), (_, x) => agent('t' + x + (x === 2 ? '${b}' : ''))); await parallel([() => parallel([() => agent('deep')])]); await agent('end')`
  await play(rig, body(''), { journal })
  expect(prompts(await play(rig, body(''), { journal, resume: true }))).toEqual([])
  expect(prompts(await play(rig, body('!'), { journal, resume: true }))).toEqual(['t2!', 'deep', 'end'])
})

test('equal calls have keys of their own', async () => {
  const journal = freshJournal()
  let turn = 0
  const body = `return [await agent('same'), await agent('same'), ...await parallel([() => agent('same'), () => agent('same')])]`
  const first = await play(rig, body, { journal, play: () => text(String(turn++)) })
  expect(first.result).toEqual(['0', '1', '2', '3'])
  expect((await play(rig, body, { journal, resume: true })).result).toEqual(['0', '1', '2', '3'])
})

test('null and errors are asked again; what follows them stays paid', async () => {
  const journal = freshJournal()
  const body = `const a = await agent('A'); const b = await agent('B').catch((e) => e.message); return [a, b, await agent('C')]`
  const first = await play(rig, body, {
    journal,
    play: (call) => {
      if (call.prompt === 'A') return { outcome: 'null', message: 'down', usage: NO_USAGE }
      return call.prompt === 'B' ? { outcome: 'error', message: 'broken' } : text('c')
    },
  })
  expect(first.result).toEqual([null, 'broken', 'c'])
  const again = await play(rig, body, { journal, resume: true })
  expect(again.result).toEqual(['re: A', 're: B', 'c'])
  expect(prompts(again)).toEqual(['A', 'B'])
})

test('answers are in the journal before the script continues, so a stopped run has lost none', async () => {
  const journal = freshJournal()
  const stop = new AbortController()
  const body = `await agent('A'); await agent('B'); await agent('C')`
  await play(rig, body, {
    journal,
    signal: stop.signal,
    play: (call) => {
      if (call.prompt === 'C') stop.abort()
      return text(call.prompt)
    },
  })
  expect(
    prompts(await play(rig, body, { journal, resume: true })).filter((prompt) => prompt !== 'C'),
  ).toEqual([])
})

test('a torn last line costs that call only, and the next line starts on its own', async () => {
  const journal = freshJournal()
  const body = `return [await agent('A'), await agent('B')]`
  await play(rig, body, { journal })
  const [lineA = '', lineB = ''] = readFileSync(journal, 'utf8').split('\n')
  const torn = freshJournal()
  appendFileSync(torn, `${lineA}\n${lineB.slice(0, -9)}`)
  const again = await play(rig, body, { journal: torn, resume: true })
  expect(prompts(again)).toEqual(['B'])
  expect(again.facts[0]).toEqual({
    type: 'warning',
    message: "the workflow's journal has 1 damaged line(s): those calls are made again",
  })
  expect(readFileSync(torn, 'utf8')).toBe(`${lineA}\n${lineB.slice(0, -9)}\n${lineB}\n`)
  expect(prompts(await play(rig, body, { journal: torn, resume: true }))).toEqual([])
})

test('a line whose result is no JSON costs that call only, and is told', async () => {
  const journal = freshJournal()
  const body = `return [await agent('A'), await agent('B'), await agent('C')]`
  await play(rig, body, { journal })
  const [lineA = '', lineB = '', lineC = ''] = readFileSync(journal, 'utf8').split('\n')
  writeFileSync(journal, `${lineA}\n${lineB.replace('"re: B"', '"re: B')}\n${lineC}\n`)
  const again = await play(rig, body, { journal, resume: true })
  expect([again.result, prompts(again)]).toEqual([['re: A', 're: B', 're: C'], ['B']])
  expect(again.facts.filter((fact) => fact.type === 'warning')).toHaveLength(1)
  expect(prompts(await play(rig, body, { journal, resume: true }))).toEqual([])
})

test('text beyond ASCII comes out of the journal as it went in', async () => {
  const journal = freshJournal()
  const body = `return agent('ü \u2028 🦀')`
  await play(rig, body, { journal })
  const again = await play(rig, body, { journal, resume: true })
  expect([again.result, prompts(again)]).toEqual(['re: ü \u2028 🦀', []])
})

test('a journal that cannot be written costs a warning, not the run', async () => {
  const run = await play(rig, `await agent('A'); return agent('B')`, {
    journal: join(rig.folder, 'no', 'such', 'folder.jsonl'),
  })
  expect(run.result).toBe('re: B')
  expect(run.facts.filter((fact) => fact.type === 'warning')).toHaveLength(1)
})

test('clerk answers are kept like those of agents', async () => {
  const journal = freshJournal()
  const body = `return agent('status', { agentType: 'assay:clerk' })`
  let asked = 0
  const clerk = async () => {
    asked += 1
    return text('{"ok":true}')
  }
  await play(rig, body, { journal, clerk })
  expect((await play(rig, body, { journal, clerk, resume: true })).result).toBe('{"ok":true}')
  expect(asked).toBe(1)
})
