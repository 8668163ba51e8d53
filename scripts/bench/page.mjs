/**
 * `npm run bench:page`: the page in Debian's chromium at 100, 10,000 and 100,000 experiments. What counts is the ratio to the
 * same page at 100, so that a slow machine is slow for both; milliseconds are printed beside it. Ends with 1 when a bar does
 * not hold.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { execa, execaSync } from 'execa'
import { chromium } from 'playwright-core'
import { median } from './median.mjs'
import { ASSAY, tinyProject } from './project.mjs'
import { aligned } from './table.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const ROUNDS = 5
const LATEST_MS = 1000
const SIZES = [100, 10_000, 100_000]

/** `at`: the size; `most`: times what it is at 100. */
const BARS = [
  { what: 'first row after opening', key: 'first', at: 100_000, most: 6 },
  { what: 'filter', key: 'filter', at: 100_000, most: 8 },
  { what: 'drawing the chart', key: 'chart', at: 10_000, most: 60 },
  { what: 'elements in the document', key: 'elements', at: 100_000, most: 1.5 },
  { what: 'memory', key: 'memory', at: 100_000, most: 60 },
]

const WORDS = ['cache', 'inline', 'parser', 'header', 'loop', 'table', 'buffer', 'merge', 'sort', 'hash']
/** In the order of `cli/view/page-model.ts`. */
const MARKS = ['kept', 'confirmed', 'flagged', 'inconclusive', 'rejected', 'failed']

const folder = mkdtempSync(join(tmpdir(), 'assay-page-'))
const browser = await chromium.launch({
  executablePath: PROGRAM,
  args: ['--no-sandbox', '--enable-precise-memory-info'],
})
try {
  const files = new Map(SIZES.map((size) => [size, written(size)]))
  const seen = new Map(SIZES.map((size) => [size, []]))
  // In turns, so that a neighbour on the machine disturbs all sizes alike.
  for (let round = 0; round < ROUNDS; round++)
    for (const size of SIZES) seen.get(size).push(await measured(files.get(size)))
  const middle = (size, key) => median(seen.get(size).map((one) => one[key]))
  const rows = BARS.map(({ what, key, at, most }) => {
    const [here, floor] = [middle(at, key), middle(100, key)]
    const ratio = here / floor
    return {
      ok: ratio <= most,
      cells: [what, `${at}`, round(here), round(floor), `${round(ratio)} ×`, `≤ ${most} ×`],
    }
  })
  const head = ['', 'experiments', 'there', 'at 100', 'ratio', 'bar']
  process.stdout.write(
    `${aligned([head, ...rows.map(({ cells, ok }) => [...cells, ok ? '' : 'does not hold'])])}\n`,
  )
  const late = await lateness()
  process.stdout.write(
    `a verdict is on the live page ${round(late)} ms after its line in the ledger (bar: ${LATEST_MS})\n`,
  )
  process.exitCode = rows.every(({ ok }) => ok) && late <= LATEST_MS ? 0 : 1
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}

/** Median of what passes between the time in a verdict's line and the moment at which the page shows it. */
async function lateness() {
  const { dir, env, clean } = tinyProject()
  const serve = spawn(process.execPath, [ASSAY, 'serve'], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const address = await new Promise((resolve, reject) => {
      serve.on('exit', () => reject(new Error('assay serve ended')))
      serve.stdout.on('data', (text) => {
        const found = /http:\S+/.exec(String(text))
        if (found) resolve(found[0])
      })
    })
    const page = await browser.newPage()
    await page.goto(address)
    await page.waitForSelector('.badge:text("connected")')
    const times = []
    for (let value = 9; value > 9 - ROUNDS; value--) {
      const call = (...args) =>
        JSON.parse(execaSync(process.execPath, [ASSAY, ...args, '--json'], { cwd: dir, env }).stdout).data
      const { experiment, worktree } = call('new', '--parent', 'exp_0000', '-m', 'less')
      writeFileSync(join(worktree, 'src/number.txt'), `${value}\n`)
      const shown = page.waitForFunction(
        (text) => document.querySelector('.headline .big')?.textContent === text && Date.now(),
        String(value),
        { polling: 10 },
      )
      const running = execa(process.execPath, [ASSAY, 'run', experiment, '--json'], { cwd: dir, env })
      const at = await (await shown).jsonValue()
      await running
      const judged = readFileSync(join(dir, '.assay/runs/run_0001/ledger.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .findLast((event) => event.type === 'judged')
      times.push(at - Date.parse(judged.at))
    }
    return median(times)
  } finally {
    serve.removeAllListeners('exit')
    serve.kill('SIGTERM')
    clean()
  }
}

function round(value) {
  return String(Number(value.toPrecision(3)))
}

async function measured(address) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const began = performance.now()
  await page.goto(`${address}#view=tree`)
  await page.waitForSelector('[role=treeitem]')
  const first = performance.now() - began
  const filter = await page.evaluate(async () => {
    const box = document.querySelector('input[type=search]')
    await new Promise((resolve) => setTimeout(resolve, 600))
    const times = []
    for (const word of ['cache', 'parser cache', 'exp_0000042', 'inline']) {
      const from = performance.now()
      box.value = word
      box.dispatchEvent(new Event('input', { bubbles: true }))
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      times.push(performance.now() - from)
    }
    return times.sort((a, b) => a - b)[times.length >> 1]
  })
  const elements = await page.evaluate(
    () => document.querySelector('[role=tree]').querySelectorAll('*').length,
  )
  const memory = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6)
  await page.goto(`${address}#view=overview`)
  await page.waitForFunction(() => document.querySelector('canvas')?.dataset.ms !== undefined)
  const chart = await page.evaluate(() => Number(document.querySelector('canvas').dataset.ms))
  await page.close()
  return { first, filter, elements, memory, chart: Math.max(chart, 0.1) }
}

// ---------------------------------------------------------------- a run of any size, as the file has it

function written(size) {
  let seed = 7
  const draw = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed / 2147483648
  }
  const word = () => WORDS[Math.floor(draw() * WORDS.length)]
  const kept = [0]
  const bests = [0]
  let best = 100
  const rows = [[0, -1, 'kept', 0, null, null, 100, 1, null, null, null, null, 0, 1, 0, 1, 1, 'the baseline']]
  for (let i = 1; i < size; i++) {
    const stays = draw() < 0.12
    const value = stays ? best * (1 - draw() * 0.01) : 100 * (0.8 + draw() * 0.6)
    const parent = kept[Math.floor(kept.length * (1 - draw() ** 3 * 0.99))] ?? 0
    const mark = stays ? 'kept' : MARKS[3 + Math.floor(draw() * 3)]
    const status = mark === 'inconclusive' ? 'rejected' : mark
    const text = `${word()} the ${word()} before the ${word()} of the ${word()}, as the ${word()} does`
    const reason = stays ? 'improved' : status === 'failed' ? 'crash' : 'not_better'
    rows.push([
      i,
      parent,
      status,
      MARKS.indexOf(mark),
      reason,
      null,
      status === 'failed' ? null : value,
      1,
      null,
      0.01,
      1 + (i >> 4),
      1,
      0,
      1,
      i * 1000,
      i * 1000 + 500,
      i,
      text,
    ])
    if (stays) {
      kept.push(i)
      best = value
      if (bests.length < 40) bests.push(i)
    }
  }
  const blocks = []
  for (let at = 0; at < rows.length; at += 10_000) blocks.push(block('rows', rows.slice(at, at + 10_000)))
  const html = readFileSync(join(root, 'bin', 'lib', 'page.html'), 'utf8')
    .replace('{{TITLE}}', 'bench')
    .replace('{{CONNECT}}', "'none'")
    .replace('<!--DATA-->', () =>
      [
        block('head', { head: headOf(bests, rows), runs: [] }),
        ...blocks,
        block('nodes', {}),
        block('patches', { patches: {}, diffs: {} }),
      ].join('\n'),
    )
  const file = join(folder, `${size}.html`)
  writeFileSync(file, html)
  return pathToFileURL(file).href
}

function block(kind, value) {
  return `<script type="application/json" data-kind="${kind}">${JSON.stringify(value)}</script>`
}

function headOf(bests, rows) {
  const id = (n) => `exp_${String(n).padStart(4, '0')}`
  const at = '2026-01-01T00:00:00.000Z'
  const last = bests.at(-1) ?? 0
  return {
    run: 'run_0001',
    name: 'bench',
    goal: 'a run of any size',
    version: '0',
    started: at,
    last: at,
    offset: 0,
    metric: { name: 'ms', direction: 'minimize', target: null },
    noise: 'deterministic',
    epoch: 1,
    epochs: [],
    baseline: { experiment: 'exp_0000', value: 100 },
    baseline_band: null,
    best: { experiment: id(last), value: rows[last][6], confirmed: false, samples: 2 },
    gain: 0.1,
    interval: null,
    against: null,
    counts: {
      open: 0,
      running: 0,
      kept: bests.length,
      rejected: 0,
      failed: 0,
      discarded: 0,
      pruned: 0,
      revoked: 0,
    },
    inconclusive: 0,
    budget: {},
    stop: null,
    stop_cause: null,
    paused: null,
    driver: null,
    stall: { now: 0, limit: null },
    buys: null,
    bests: bests.map(id),
    path: bests.slice(0, 20).map((n) => ({ experiment: id(n), value: rows[n][6], hypothesis: rows[n][17] })),
    doubts: [],
    stuck: [],
    duration: { ms: 1, active_ms: 1 },
    spend: { calls: 0, tokens_in: 0, tokens_out: 0, usd: 0, at_least: false },
    costs: { agents_ms: 0, measuring_ms: 0, calls: [], dearest: null, timeline: [] },
    arms: null,
    left: { repairable: [], retests: [], ideas: [] },
    rounds: [],
    edits: [],
    texts: [],
    tasks: null,
    metrics: [],
    environment: {
      isolation: 'none',
      without: [],
      host: null,
      machine: null,
      other_machines: [],
      git_rules: null,
      seed: 1,
      base: 'f'.repeat(40),
    },
  }
}
