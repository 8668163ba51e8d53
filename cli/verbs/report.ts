/** `report`: the chart of a run, its numbers as JSON or CSV, and its page as one file. */
import { statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { whenLedger } from '../experiment/wait.ts'
import { findSite, listRuns } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { stopReason } from '../run/budget.ts'
import { livingDriver } from '../run/driver.ts'
import { nodeFor, noRun, type OpenRun, open } from '../run/open.ts'
import { painter } from '../terminal/colour.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { logLineOf } from '../terminal/loop-view.ts'
import { LivePainter } from '../terminal/painter.ts'
import { chartLines, chartView } from '../terminal/run-chart.ts'
import { plain } from '../text.ts'
import { type ListPart, USUAL_LIMIT } from '../view/node.ts'
import { reportCsv, reportData } from '../view/report.ts'
import { theRun } from './verb.ts'

// ----------------------------------------------------------------
// `report --watch`: the chart repainted as the ledger grows; on no terminal, a line a verdict and the chart
// at the end.

const INTERRUPTED = 130
/** Rows of the summary and the blank line above it, at most. */
const UNDER_CHART = 20

/** Until the driver that was seen at work is gone; without one, until the run has a reason to stop, or Ctrl-C. */
async function watchReport(
  context: Context,
  run: OpenRun,
  size: { width: number; height: number; colour: boolean },
  json: boolean,
  part: ListPart,
): Promise<Result<VerbAnswer>> {
  const live = context.tty && !json
  const screen = live ? new LivePainter(process.stdout, await painter(size.colour)) : null
  const { state } = run.ledger
  if (!live) {
    run.ledger.listen((event) => {
      const message = logLineOf(event, run)
      if (message !== null) context.tell({ type: 'log', message })
    })
    context.tell({ type: 'log', message: `watching ${run.run}; Ctrl-C ends it` })
  }
  let painted = -1
  let driven = false
  try {
    const ended = await whenLedger(run, Number.POSITIVE_INFINITY, () => {
      if (state.seq !== painted) {
        painted = state.seq
        screen?.draw((width, height) => frameOf(run, size, width, height))
      }
      const working = livingDriver(run) !== null
      driven ||= working
      return !working && (driven || stopReason(state) !== null) ? 'ended' : null
    })
    if (!ended.ok) return ended
  } finally {
    screen?.close()
  }
  const lines = live || json ? [] : await chartLines(run, size)
  return ok({
    data: json ? reportData(run, part) : null,
    text: () => lines,
    exit: context.signal.aborted ? INTERRUPTED : 0,
  })
}

function frameOf(run: OpenRun, size: { width: number; height: number }, width: number, height: number) {
  const rows = Math.max(1, Math.min(size.height, height - UNDER_CHART))
  return chartView(run, { width, height: rows })
}

const HEIGHT = 20

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  if (args.on('watch') && (args.on('all') || args.on('csv'))) {
    return fail({
      kind: 'usage',
      code: 'watch_one',
      message: '--watch shows one run as a chart',
      hint: 'leave out --all and --csv',
    })
  }
  if (args.on('all') && args.text('after') !== null) {
    return fail({
      kind: 'usage',
      code: 'after_one',
      message: '--after reads on in the list of one run',
      hint: 'leave out --all, and name the run with --run',
    })
  }
  const idle = idleFlag(args)
  if (idle !== null) return idle
  const runs = args.on('all') ? allRuns(context) : theRuns(context, args)
  if (!runs.ok) return runs
  const file = args.text('html')
  if (file !== null) return writePage(context, runs.value, file, args)
  const size = {
    width: args.integer('width') ?? context.columns,
    height: args.integer('height') ?? HEIGHT,
    colour: context.colour,
  }
  const [only] = runs.value
  const part = { limit: args.integer('limit') ?? USUAL_LIMIT, after: args.text('after') }
  const known = part.after === null || only === undefined ? ok(null) : nodeFor(only, part.after)
  if (!known.ok) return known
  if (args.on('watch') && only) return watchReport(context, only, size, args.json, part)
  const lines: string[] = []
  if (!args.json && !args.on('csv')) {
    const paint = await painter(size.colour)
    for (const [index, one] of runs.value.entries()) {
      if (index > 0) lines.push('')
      if (args.on('all')) lines.push(paint([{ text: `${one.run}  ${one.started.name}`, role: 'title' }]))
      lines.push(...(await chartLines(one, size)))
    }
  }
  const reports = args.json
    ? runs.value.map((one) => reportData(one, part))
    : // A table of all has all.
      args.on('csv')
      ? runs.value.map((one) => reportData(one))
      : []
  return ok({
    data: args.on('all') ? { runs: reports } : (reports[0] ?? null),
    text: () => (args.on('csv') ? reportCsv(reports) : lines),
  })
}

/** A flag that would change nothing is refused: whoever wrote it expects something. */
function idleFlag(args: Parsed): Result<never> | null {
  const needed = [
    { flag: 'limit', given: args.integer('limit') !== null, needs: '--json', there: args.json },
    { flag: 'after', given: args.text('after') !== null, needs: '--json', there: args.json },
    { flag: 'full', given: args.on('full'), needs: '--html FILE', there: args.text('html') !== null },
  ]
  const idle = needed.find(({ given, there }) => given && !there)
  if (!idle) return null
  return fail({
    kind: 'usage',
    code: 'no_effect',
    message: `--${idle.flag} has no effect without ${idle.needs}`,
    hint: `add ${idle.needs}, or leave out --${idle.flag}`,
  })
}

function theRuns(context: Context, args: Parsed): Result<OpenRun[]> {
  const opened = theRun(context, args)
  return opened.ok ? ok([opened.value]) : opened
}

/** Every run of the repository, finished ones too. */
function allRuns(context: Context): Result<OpenRun[]> {
  const found = findSite(context.cwd)
  const names = found ? listRuns(found.site) : []
  if (!found || names.length === 0) return fail(noRun(context.cwd))
  const runs: OpenRun[] = []
  for (const name of names) {
    const opened = open(context, found.site, name)
    if (!opened.ok) return opened
    runs.push(opened.value)
  }
  return ok(runs)
}

// ---------------------------------------------------------------- `report --html FILE`: the page of a run as one file that needs neither server nor network

/** Replaced by the build. */
const VERSION = process.env.ASSAY_VERSION ?? 'unbuilt'

/** Problems: `html_one` for several runs, `not_written`. */
async function writePage(
  context: Context,
  runs: readonly OpenRun[],
  file: string,
  args: Parsed,
): Promise<Result<VerbAnswer>> {
  const [run] = runs
  if (run === undefined || args.on('all') || args.on('csv') || args.on('watch')) {
    return fail({
      kind: 'usage',
      code: 'html_one',
      message: '--html writes the page of one run',
      hint: 'leave out --all, --csv and --watch; assay serve shows every run',
    })
  }
  const { htmlOf } = await import('../page/export.ts')
  const html = await htmlOf(run, { version: VERSION, full: args.on('full') })
  if (!html.ok) return html
  const path = resolve(context.cwd, file)
  try {
    writeFileSync(path, html.value)
  } catch (error) {
    return fail({
      kind: 'failed',
      code: 'not_written',
      message: `the page could not be written: ${(error as Error).message}`,
      at: path,
    })
  }
  const { size } = statSync(path)
  return ok({
    data: { run: run.run, file: path, bytes: size },
    text: () =>
      `${plain(path)} (${Math.ceil(size / 1024)} KB): open it in any browser; it needs neither server nor network`,
  })
}
