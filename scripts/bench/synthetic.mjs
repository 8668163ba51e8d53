/**
 * Runs of any number of experiments: a real `init`, three real experiments (kept, rejected, failed), then events that were made after
 * them, with real commits and refs, so that every command works on them and `doctor` finds nothing.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, copyFileSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ASSAY, tinyProject } from './project.mjs'

const LANES = 4
const ROUND = 3 * LANES
const KEPT = 0.08
const FAILED = 0.03
/** Three identical failures in a row would end the run. */
const APART = 3
const WORDS =
  'cache buffer loop parser token branch inline vector hash table memo lazy batch stream copy slice regex decode pool arena sort merge heap queue index lookup switch array shift mask prefetch unroll hoist guard early exit fast slow scan skip'.split(
    ' ',
  )

export const idOf = (number) => `exp_${String(number).padStart(4, '0')}`

/**
 * A project with such a run. `kept`: the share of experiments that are kept; `chain`: each kept one is built on the one before.
 * @param {{ experiments: number, kept?: number, chain?: boolean, spec?: string }} wanted
 * @returns {{ dir: string, env: object, clean: () => void, best: string, last: string, ledger: string }}
 */
export function syntheticRun({ experiments, kept = KEPT, chain = false, spec = '' }) {
  const project = tinyProject({
    spec: `loop: { width: ${LANES}, depth: 3, stall: 1000 }\nagent: { host: command, command: [node, agent.cjs] }\n${spec}`,
  })
  try {
    const real = realExperiments(project)
    const made = madeAfter({ experiments, kept, chain, ...random(experiments) })
    const ledger = join(real.run, 'ledger.jsonl')
    if (made.length > 0) {
      commit(project, made, real.kept.sealed.commit)
      record(ledger, eventsOf(made, real), Date.parse(real.last))
      for (const { number, kind } of made) linkSteps(real, number, kind)
    }
    const best = made.findLast((one) => one.kind === 'kept')?.number ?? 1
    return { ...project, ledger, best: idOf(best), last: idOf(Math.max(3, experiments)) }
  } catch (error) {
    project.clean()
    throw error
  }
}

/** Mulberry32: the same number of experiments gives the same run, but for its ids and times. */
function random(seed) {
  let a = seed >>> 0
  const next = () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, pick: (list) => list[Math.floor(next() * list.length)] }
}

/** The folder of the run, and of each kind its experiment's events and steps. */
function realExperiments({ dir, env }) {
  const assay = (...args) => {
    const { stdout, stderr } = spawnSync(process.execPath, [ASSAY, ...args, '--json'], { cwd: dir, env })
    const { data } = JSON.parse(stdout)
    if (data === undefined) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`)
    return data
  }
  const run = join(dir, '.assay/runs/run_0001')
  const tried = [
    ['exp_0000', 'kept', '9\n'],
    ['exp_0001', 'rejected', '9.5\n'],
    ['exp_0001', 'failed', 'no number\n'],
  ].map(([parent, kind, text]) => {
    const { experiment, worktree } = assay('new', '--parent', parent, '-m', `inline the ${kind} cache`)
    writeFileSync(join(worktree, 'src/number.txt'), text)
    const { status } = assay('run', experiment)
    if (status !== kind) throw new Error(`${experiment} is ${status}, not ${kind}`)
    return [kind, experiment]
  })
  const lines = readFileSync(join(run, 'ledger.jsonl'), 'utf8').trim().split('\n')
  const events = lines.map((line) => JSON.parse(line))
  const of = (type, experiment) => {
    const { v, id, at, key, ...rest } = events.find(
      (one) => one.type === type && one.experiment === experiment,
    )
    return rest
  }
  const kinds = tried.map(([kind, experiment]) => [
    kind,
    {
      sealed: of('sealed', experiment),
      started: of('started', experiment),
      judged: of('judged', experiment),
      steps: join(run, 'exp', experiment.slice(4), 'attempts/1/steps.jsonl'),
    },
  ])
  return { run, last: events.at(-1).at, ...Object.fromEntries(kinds) }
}

function madeAfter({ experiments, kept: share, chain, next, pick }) {
  const kept = [{ number: 1, value: 9 }]
  const made = []
  let failed = 0
  for (let number = 4; number <= experiments; number++) {
    const chance = next()
    const isFailed = chance >= share && chance < share + FAILED && number - failed > APART
    const kind = chance < share ? 'kept' : isFailed ? 'failed' : 'rejected'
    if (kind === 'failed') failed = number
    const near = kept[Math.max(0, kept.length - 1 - Math.floor(next() * 8))]
    const parent = chain || next() < 0.5 ? kept.at(-1) : next() < 0.5 ? near : pick(kept)
    const gain = kind === 'kept' ? -1e-5 * (0.5 + next()) : 1e-4 * (0.1 + next())
    const value = kind === 'failed' ? null : Number((parent.value * (1 + gain)).toFixed(9))
    const words = (count) => Array.from({ length: count }, () => pick(WORDS)).join(' ')
    const one = { number, kind, parent, value, idea: words(16), objective: words(14), learnt: words(12) }
    made.push(one)
    if (kind === 'kept') kept.push(one)
  }
  return made
}

/** Their commits and refs, all in one pack. */
function commit({ dir, env }, made, first) {
  const store = join(dir, '.assay/.git')
  const script = made.map(({ number, parent, value }) => {
    const text = `${value ?? 'no number'}\n\n${number}\n`
    const from = parent.number === 1 ? first : `:${parent.number}`
    return `commit refs/assay/run_0001/${idOf(number)}/1\nmark :${number}\ncommitter Assay <assay@localhost> 1700000000 +0000\ndata 9\nsynthetic\nfrom ${from}\nM 100644 inline src/number.txt\ndata ${text.length}\n${text}\n`
  })
  const marks = join(dir, '.assay/marks')
  const git = (args, input) => {
    const ran = spawnSync('git', ['--git-dir', store, ...args], { env, input, maxBuffer: 1 << 30 })
    if (ran.status !== 0) throw new Error(`git ${args.join(' ')}: ${ran.stderr}`)
    return ran.stdout.toString().trim().split('\n')
  }
  git(['fast-import', '--quiet', `--export-marks=${marks}`], script.join(''))
  const commits = new Map(
    readFileSync(marks, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.slice(1).split(' '))
      .map(([mark, oid]) => [Number(mark), oid]),
  )
  const asked = made.map(({ number }) => `${commits.get(number)}^{tree}\n`).join('')
  const trees = git(['cat-file', '--batch-check=%(objectname)'], asked)
  for (const [at, one] of made.entries())
    Object.assign(one, { commit: commits.get(one.number), tree: trees[at] })
}

function* eventsOf(made, real) {
  const owner = { pid: 999999, started: '1@bench', host: 'bench' }
  const driver = { type: 'drove', driver: 'assay loop', owner }
  yield { ...driver, phase: 'start', active_ms: 0 }
  let best = { number: 1, value: 9 }
  for (let at = 0, round = 1; at < made.length; at += ROUND, round++) {
    const group = made.slice(at, at + ROUND)
    const token = `token-${round}`
    const lanes = group.slice(0, LANES)
    const before = best
    const call = (role, experiment, usage) => ({
      type: 'usage',
      ...{ role, host: 'command', experiment, round, ms: 9000, outcome: 'ok', usage },
    })
    const parents = lanes.map(({ parent }, rank) => ({
      ...{ experiment: idOf(parent.number), value: parent.value, rank: rank + 1, why: 'one of the best' },
    }))
    yield {
      type: 'round_opened',
      ...{ round, token, width: LANES, depth: 3, parents, policy: 'open_only', seed: 1 },
      ...{ ideate: null, direction: null },
    }
    yield call('brief', null, { tokens_in: 9000, tokens_out: 800, usd: 0.02 })
    yield {
      type: 'round_briefed',
      ...{ round, token, refused: [] },
      lanes: lanes.map(({ number, parent, objective }, lane) => ({
        ...{ lane: lane + 1, parent: idOf(parent.number), experiment: idOf(number) },
        brief: {
          ...{ parent: idOf(parent.number), kind: 'algorithm', objective, hard: false },
          ...{ boundaries: ['leave the interface as it is'], pointers: ['src/number.txt'] },
        },
      })),
    }
    for (const [index, one] of group.entries()) {
      const experiment = idOf(one.number)
      const parent = idOf(one.parent.number)
      const { sealed, started, judged } = real[one.kind]
      const [lane, depth] = [(index % LANES) + 1, Math.floor(index / LANES) + 1]
      const hypothesis = `${one.idea} (${one.number})`
      const key = `r${round}/l${lane}/d${depth}/new`
      yield { type: 'created', experiment, parent, hypothesis, round, lane, depth, key }
      yield call('implement', experiment, { tokens_in: 50000, tokens_out: 3000, usd: 0.2 })
      yield { ...sealed, experiment, commit: one.commit, tree: one.tree }
      yield { ...started, experiment, owner }
      const gain = one.value === null ? null : one.parent.value - one.value
      yield {
        ...judged,
        ...{ experiment, value: one.value, parent_value: one.parent.value, against: parent },
        ...{ improvement: gain === null ? null : gain / one.parent.value, improvement_abs: gain },
        metrics: one.value === null ? {} : { ...judged.metrics, score: one.value },
        message:
          gain === null ? judged.message : `score = ${one.value}: ${gain.toFixed(6)} against ${parent}`,
      }
      if (one.kind !== 'kept') continue
      yield { type: 'audited', experiment, attempt: 1, outcome: 'passed', findings: [] }
      if (one.value < best.value) best = one
    }
    const [{ number, learnt }] = group
    yield { type: 'noted', kind: 'learning', experiment: idOf(number), text: `learned: ${learnt}` }
    yield {
      type: 'round_closed',
      ...{ round, token, improved: best !== before, best: idOf(best.number), stall: 0 },
      ...{ learnings: [`the ${learnt}`, `no ${learnt}`], suggestions: [learnt], prune: [] },
    }
    if (round % 10 === 0) yield { ...driver, phase: 'beat', active_ms: 20000 }
  }
  yield { ...driver, phase: 'stop', active_ms: 1000 }
}

function record(ledger, events, begun) {
  let lines = []
  let serial = 0
  const flush = () => {
    appendFileSync(ledger, lines.join(''))
    lines = []
  }
  for (const event of events) {
    serial++
    const stamp = { v: '1.0', id: `made${serial}`, at: new Date(begun + serial * 700).toISOString() }
    lines.push(`${JSON.stringify({ ...stamp, ...event })}\n`)
    if (lines.length === 20_000) flush()
  }
  flush()
}

function linkSteps(real, number, kind) {
  const folder = join(real.run, 'exp', idOf(number).slice(4), 'attempts/1')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'steps.jsonl')
  try {
    linkSync(real[kind].steps, file)
  } catch (error) {
    if (error.code !== 'EMLINK') throw error
    // A file has at most so many names, on ext4 65,000: the next ones are names of a copy.
    copyFileSync(real[kind].steps, file)
    real[kind].steps = file
  }
}
