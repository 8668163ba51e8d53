/** A snapshot is a cache: with it, without it, or with a bad one, a ledger says the same. */
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { backlogOf } from '../../cli/ledger/backlog.ts'
import { bestOf, bestsInOrder } from '../../cli/ledger/best.ts'
import type { Event } from '../../cli/ledger/events.ts'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { PAGE } from '../../cli/ledger/pages.ts'
import { snapshotOf } from '../../cli/ledger/snapshot.ts'
import {
  addedGates,
  type Experiment,
  NUMBERED,
  type Numbered,
  newestFirst,
  newestNotes,
  pathTo,
  remarksIn,
  repairable,
  retestable,
  type State,
  select,
  traitsOf,
  withTraits,
} from '../../cli/ledger/state.ts'
import { candidatesOf } from '../../cli/loop/frontier.ts'
import { learningsOf, newestLearnings, patternsIn } from '../../cli/loop/open.ts'
import { budgetOf, stopCause, stopReason } from '../../cli/run/budget.ts'
import { mergePlan, unmerged } from '../../cli/search/unmerged.ts'
import { armsOf, bestPath, chartInput, stepData } from '../../cli/view/chart.ts'
import { contextFacts } from '../../cli/view/context.ts'
import { jobsDone, jobsInFlight } from '../../cli/view/jobs.ts'
import { nodeData } from '../../cli/view/node.ts'
import { objectionsOf } from '../../cli/view/objections.ts'
import { predictionsOf } from '../../cli/view/predictions.ts'
import { fileOf, lineOf, opened, texts, write } from './file.ts'
import { richHistory } from './histories.ts'

const linesOf = (events: readonly Event[]): string[] => events.map((event) => `${JSON.stringify(event)}\n`)

function whole(file: string): Ledger {
  const ledger = Ledger.open(file, { whole: true })
  if (!ledger.ok) throw new Error(ledger.problem.message)
  return ledger.value
}

/** Everything that a state holds, as plain data. The trees cannot be listed: they are asked for. */
function plain(state: State, trees: readonly string[]): unknown {
  const { experiments, rounds, notes, learnings, keys, answers, trees: judged, ...core } = state
  return fromJson({
    ...core,
    experiments: Array.from(experiments.values(), plainNode),
    ids: [...experiments.keys()],
    size: experiments.size,
    ...{ rounds: [...rounds], notes: [...notes], learnings: [...learnings], answers: [...answers.values()] },
    lengths: [rounds.length, notes.length, learnings.length, answers.size, keys.size],
    last: [rounds.at(-1) ?? null, notes.at(0) ?? null, rounds.findLast(({ closed }) => closed) ?? null],
    keys: Array.from(keys.keys(), (key) => [key, keys.get(key)]),
    trees: trees.map((tree) => judged.get(tree) ?? null),
  })
}

const plainNode = (node: Experiment) => ({
  ...{ id: node.id, parent: node.parent, parents: node.parents, children: node.children },
  ...{ generation: node.generation, status: node.status, hypothesis: node.hypothesis, created: node.created },
  ...{
    attempts: node.attempts,
    verdict: node.verdict,
    used: node.used,
    tries: node.tries,
    value: node.value,
  },
  ...{ epoch: node.epoch, gates: node.gates, droppedGates: node.droppedGates, why: node.why },
  ...{ annotations: node.annotations, flagged: node.flagged, lostTo: node.lostTo, agent: node.agent },
  ...{
    discard_class: node.discard_class,
    judgedSeq: node.judgedSeq,
    mark: traitsOf(node),
    data: nodeData(node),
  },
  // What a row tells of an event without its line.
  quick: [
    node.created.round,
    node.created.lane,
    node.created.depth,
    node.created.merge,
    node.created.experiment,
  ],
  judged: node.verdict && [
    ...[node.verdict.status, node.verdict.reason, node.verdict.failure_class, node.verdict.confirmed],
    ...[node.verdict.held_out, node.verdict.value, node.verdict.gates, node.verdict.tasks, node.verdict.at],
    ...[node.verdict.signature, node.verdict.aborted, node.verdict.experiment, node.verdict.message],
  ],
})

/** The others name experiments in a way of their own. */
const COMPARABLE = (Object.keys(NUMBERED) as Numbered[]).filter((of) => of !== 'key' && of !== 'parent')
const KINDS = ['learning', 'infrastructure', 'note', 'objection'] as const

/** What the verbs that only read make of a state. */
const answers = (state: State): unknown =>
  fromJson({
    best: bestOf(state)?.id ?? null,
    bests: bestsInOrder(state).map(({ id }) => id),
    frontier: candidatesOf(state).map(({ id, parent, value, score, children, keptChildren, order }) => ({
      ...{ id, parent, value, score, children, keptChildren, order },
    })),
    repairable: repairable(state).map(({ id }) => id),
    retestable: retestable(state).map(({ id }) => id),
    stop: [stopReason(state), stopCause(state), budgetOf(state)],
    merges: [unmerged(state).map(({ id }) => id), mergePlan(state)],
    texts: [learningsOf(state), newestLearnings(state, 3), remarksIn(state), objectionsOf(state)],
    patterns: patternsIn(state),
    predictions: predictionsOf(state, 'minimize'),
    arms: armsOf(state),
    jobs: [jobsInFlight(state), jobsDone(state)],
    backlog: backlogOf(state),
    paths: Array.from(state.experiments.keys(), (id) => [
      pathTo(state, id).map((one) => one.id),
      addedGates(state, id),
    ]),
    newest: Array.from(newestFirst(state), ({ id }) => id),
    chart: state.run && chartInput({ started: state.run, ledger: { state } }),
    path: bestPath(state).map(stepData),
    roots: withTraits(state, ({ root }) => root).map(({ id }) => id),
    compared: COMPARABLE.map((of) =>
      Array.from(select(state, ({ status }) => status !== 'open').numbers(of)),
    ),
    notes: KINDS.map((kind) => newestNotes(state, kind, 3)),
    marked: withTraits(state, ({ status, remarks }) => status === 'kept' || remarks).map(({ id }) => id),
    context: ['exp_0000', 'exp_0001', null].map((id) =>
      contextFacts(
        state,
        {
          ...{ instructions: { text: null, file: null, rules: [] }, picks: [], eligible: 0, gates: [] },
          ...{ patterns: [], learnings: newestLearnings(state, 20) },
        },
        id,
      ),
    ),
  })

const fromJson = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, item) => (item instanceof Map || item instanceof Set ? [...item] : item)),
  )

function expectSame(file: string): Ledger {
  const [ledger, all] = [opened(file), whole(file)]
  const trees = [...all.state.trees.keys(), 'no tree']
  expect(answers(ledger.state)).toEqual(answers(all.state))
  expect(plain(ledger.state, trees)).toEqual(plain(all.state, trees))
  return ledger
}

const isStored = ({ state }: Ledger): boolean => !(state.experiments instanceof Map)

test('a snapshot and the events behind it say something else than the whole ledger', () => {
  fc.assert(
    fc.property(richHistory, fc.array(fc.nat(100), { minLength: 1, maxLength: 4 }), (events, cuts) => {
      const lines = linesOf(events)
      const ends = cuts.map((cut) => Math.floor((cut * lines.length) / 100)).sort((a, b) => a - b)
      const file = fileOf('')
      let at = 0
      // Each snapshot rests on the one before.
      for (const end of ends) {
        appendFileSync(file, lines.slice(at, end).join(''))
        at = end
        opened(file).keep(true)
        expect(isStored(opened(file))).toBe(true)
      }
      appendFileSync(file, lines.slice(at).join(''))
      expect(isStored(expectSame(file))).toBe(true)
    }),
    { numRuns: 120 },
  )
})

test('a reader that asked something before it folded the rest comes to a different state', () => {
  fc.assert(
    fc.property(richHistory, fc.nat(100), (events, cut) => {
      const lines = linesOf(events)
      const end = Math.floor((cut * lines.length) / 100)
      const file = fileOf(...lines.slice(0, end))
      opened(file).keep(true)
      const early = opened(file)
      plain(early.state, [])
      appendFileSync(file, lines.slice(end).join(''))
      expect(early.refresh().ok).toBe(true)
      const all = whole(file)
      const trees = [...all.state.trees.keys()]
      expect(plain(early.state, trees)).toEqual(plain(all.state, trees))
      // What it writes then is what it read.
      early.keep(true)
      expectSame(file)
    }),
    { numRuns: 60 },
  )
})

const notes = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => lineOf(`note ${from + n}`))

/** A ledger of notes with a snapshot of all. */
function kept(count = 50): string {
  const file = fileOf(...notes(0, count))
  opened(file).keep(true)
  expect(existsSync(snapshotOf(file))).toBe(true)
  return file
}

describe('a snapshot that does not hold', () => {
  test.each<[string, (file: string, snapshot: string) => void]>([
    ['is deleted', (_, snapshot) => rmSync(snapshot)],
    ['is empty', (_, snapshot) => truncateSync(snapshot, 0)],
    ['is cut in its middle', (_, snapshot) => truncateSync(snapshot, readFileSync(snapshot).length >> 1)],
    ['lacks its last byte', (_, snapshot) => truncateSync(snapshot, readFileSync(snapshot).length - 1)],
    ['has a changed byte in its head', (_, snapshot) => change(snapshot, readFileSync(snapshot).length - 60)],
    ['is a folder of another program', (_, snapshot) => writeFileSync(snapshot, 'not ours\n'.repeat(99))],
    ['is of a ledger that was copied over', replaced],
    ['is of a ledger whose end was changed', (file) => change(file, readFileSync(file).length - 4)],
    ['is of a longer ledger', (file) => writeFileSync(file, notes(0, 20).join(''))],
    ['is of a ledger that was written again', (file) => writeFileSync(file, notes(100, 190).join(''))],
  ])('is believed when it %s', (_, spoil) => {
    const file = kept()
    spoil(file, snapshotOf(file))
    const ledger = opened(file)
    expect(isStored(ledger)).toBe(false)
    expect(texts(ledger)).toEqual(texts(whole(file)))
    // The next one is good again.
    ledger.keep(true)
    expect(isStored(expectSame(file))).toBe(true)
  })

  function change(file: string, at: number): void {
    const bytes = readFileSync(file)
    bytes[at] = bytes[at] === 0x31 ? 0x32 : 0x31
    writeFileSync(file, bytes)
  }

  function replaced(file: string): void {
    copyFileSync(file, `${file}.copy`)
    renameSync(`${file}.copy`, file)
  }

  afterEach(() => {
    vi.unstubAllEnvs()
    vi.resetModules()
  })

  test('is believed by another version of Assay, or two versions side by side spoil it for each other', async () => {
    const file = kept()
    vi.stubEnv('ASSAY_BUILD', 'another')
    vi.resetModules()
    const other = await import('../../cli/ledger/ledger.ts')
    const theirs = other.Ledger.open(file)
    if (!theirs.ok) throw new Error('it can be read')
    expect(theirs.value.state.experiments).toBeInstanceOf(Map)
    theirs.value.keep(true)
    const again = other.Ledger.open(file)
    expect(again.ok && again.value.state.experiments).not.toBeInstanceOf(Map)
    const ours = opened(file)
    expect(isStored(ours)).toBe(false)
    expect(texts(ours)).toEqual(texts(whole(file)))
  })
})

test('a reader loses what it has not read yet when its snapshot is deleted or replaced', () => {
  const file = kept()
  const [reader, other] = [opened(file), opened(file)]
  write(other, 'one more')
  other.keep(true)
  rmSync(snapshotOf(file))
  expect(texts(reader)).toEqual(Array.from({ length: 50 }, (_, n) => `note ${n}`))
  reader.refresh()
  expect(texts(reader).at(-1)).toBe('one more')
})

test('a ledger that was healed behind its snapshot is read as it was before', () => {
  const file = kept()
  appendFileSync(file, lineOf('half of it').slice(0, 40))
  const before = opened(file)
  expect([isStored(before), texts(before).length]).toEqual([true, 50])
  write(before, 'after the torn line')
  const ledger = expectSame(file)
  expect([isStored(ledger), texts(ledger).at(-1)]).toEqual([true, 'after the torn line'])
  ledger.keep(true)
  expect(isStored(expectSame(file))).toBe(true)
})

test('a small run gets a snapshot, a long one gets none, or what killed writers left stays for ever', () => {
  const small = fileOf(...notes(0, 900))
  opened(small).keep()
  expect(existsSync(snapshotOf(small))).toBe(false)
  const long = fileOf(...notes(0, 1_100))
  const left = [`${snapshotOf(long)}.1.new`, `${snapshotOf(long)}.2.new`] as const
  for (const file of left) writeFileSync(file, 'half')
  utimesSync(left[0], 1, 1)
  opened(long).keep()
  expect(readdirSync(dirname(long)).sort()).toEqual([
    'ledger.jsonl',
    'ledger.jsonl.snapshot',
    'ledger.jsonl.snapshot.2.new',
  ])
  expect(isStored(opened(long))).toBe(true)
})

test('a state that no snapshot can hold is written wrongly, or ends the command', () => {
  const file = fileOf(
    ...notes(0, 5),
    lineOf('odd', { type: 'meta_ticked', facts: [], every_ms: 1, $event: 1 }),
  )
  const run = { type: 'configured', changes: {}, settings: { a: { $event: 5 } } }
  appendFileSync(file, lineOf('never', run))
  opened(file).keep(true)
  expect(texts(opened(file))).toEqual(texts(whole(file)))
})

test('a damaged page of a snapshot is believed, or goes over into the next snapshot', () => {
  const file = kept()
  const snapshot = snapshotOf(file)
  const good = readFileSync(snapshot)
  const told = texts(whole(file))
  const pages = Math.floor(good.length / PAGE)
  expect(pages).toBeGreaterThan(5)
  let found = 0
  for (let page = 0; page < pages; page++) {
    const bad = Buffer.from(good)
    bad.fill(0x31, page * PAGE, page * PAGE + 64)
    writeFileSync(snapshot, bad)
    try {
      const ledger = opened(file)
      expect(texts(ledger)).toEqual(told)
      write(ledger, `page ${page}`)
      told.push(`page ${page}`)
      ledger.keep(true)
    } catch (error) {
      expect(error).toMatchObject({ code: 'EDAMAGED', path: snapshot })
      expect(existsSync(snapshot)).toBe(false)
      found++
    }
    if (existsSync(snapshot)) expect(texts(expectSame(file))).toEqual(told)
    opened(file).keep(true)
  }
  expect(found).toBeGreaterThan(0)
})

test('a line that two writers share is longer than what is read of it', () => {
  const file = fileOf(...notes(0, 50))
  const event = lineOf('shared', { type: 'noted', text: 'n'.repeat(30_000), experiment: null })
  appendFileSync(file, `{"torn":"${'t'.repeat(40_000)}${event}`)
  appendFileSync(file, notes(60, 70).join(''))
  opened(file).keep(true)
  expect(texts(opened(file))).toEqual(texts(whole(file)))
})

test('a snapshot is written of lines that the ledger has lost meanwhile', () => {
  const file = fileOf(...notes(0, 90))
  const ledger = opened(file)
  writeFileSync(file, notes(0, 40).join(''))
  ledger.keep(true)
  expect(existsSync(snapshotOf(file))).toBe(false)
})

test('a process that was long at work replaces a newer snapshot, or shows others what its ledger hides', () => {
  const file = fileOf(...notes(0, 50))
  chmodSync(file, 0o600)
  const early = opened(file)
  const late = opened(file)
  write(late, 'one more')
  late.keep(true)
  const newer = readFileSync(snapshotOf(file))
  early.keep(true)
  expect(readFileSync(snapshotOf(file)).equals(newer)).toBe(true)
  expect(statSync(snapshotOf(file)).mode & 0o777).toBe(0o600)
})
