import { findSite, listRuns } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { type OpenRun, open } from '../run/open.ts'
import { painter } from '../terminal/colour.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { chartLines } from '../terminal/run-chart.ts'
import { reportCsv, reportData } from '../view/report.ts'
import { watchReport } from './report-watch.ts'
import { theRun } from './verb.ts'

const HEIGHT = 20

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  if (args.on('watch') && (args.on('all') || args.on('csv'))) {
    return fail({
      kind: 'usage',
      code: 'watch_one',
      message: '--watch shows one run as a chart',
      hint: 'leave out --all and --csv',
    })
  }
  const runs = args.on('all') ? allRuns(context) : theRuns(context, args)
  if (!runs.ok) return runs
  const size = {
    width: args.integer('width') ?? context.columns,
    height: args.integer('height') ?? HEIGHT,
    colour: context.colour,
  }
  const [only] = runs.value
  if (args.on('watch') && only) return watchReport(context, only, size, args.json)
  const lines: string[] = []
  if (!args.json && !args.on('csv')) {
    const paint = await painter(size.colour)
    for (const [index, one] of runs.value.entries()) {
      if (index > 0) lines.push('')
      if (args.on('all')) lines.push(paint([{ text: `${one.run}  ${one.started.name}`, role: 'title' }]))
      lines.push(...(await chartLines(one, size)))
    }
  }
  const reports = args.json || args.on('csv') ? runs.value.map(reportData) : []
  return ok({
    data: args.on('all') ? { runs: reports } : (reports[0] ?? null),
    text: () => (args.on('csv') ? reportCsv(reports) : lines),
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
  if (!found || names.length === 0) {
    return fail({
      kind: 'refused',
      code: 'no_run',
      message: 'no run was found here',
      hint: 'start one: assay init',
      at: context.cwd,
    })
  }
  const runs: OpenRun[] = []
  for (const name of names) {
    const opened = open(context, found.site, name)
    if (!opened.ok) return opened
    runs.push(opened.value)
  }
  return ok(runs)
}
