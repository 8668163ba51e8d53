/** `report --watch`: the chart repainted as the ledger grows; on no terminal, a line a verdict and the chart at the end. */
import { whenLedger } from '../experiment/wait.ts'
import { ok, type Result } from '../result.ts'
import { stopReason } from '../run/budget.ts'
import { livingDriver } from '../run/driver.ts'
import type { OpenRun } from '../run/open.ts'
import { painter } from '../terminal/colour.ts'
import type { Answer, Context } from '../terminal/command.ts'
import { LivePainter } from '../terminal/painter.ts'
import { chartLines, chartView } from '../terminal/run-chart.ts'
import { reportData } from '../view/report.ts'
import { lineOf } from './loop-view.ts'

const INTERRUPTED = 130
/** Rows of the summary and the blank line above it, at most. */
const UNDER_CHART = 20

/** Until the driver that was seen at work is gone; without one, until the run has a reason to stop, or Ctrl-C. */
export async function watchReport(
  context: Context,
  run: OpenRun,
  size: { width: number; height: number; colour: boolean },
  json: boolean,
): Promise<Result<Answer>> {
  const live = context.tty && !json
  const screen = live ? new LivePainter(process.stdout, await painter(size.colour)) : null
  const { state } = run.ledger
  if (!live) {
    run.ledger.listen((event) => {
      const message = lineOf(event, run)
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
    data: json ? reportData(run) : null,
    text: () => lines,
    exit: context.signal.aborted ? INTERRUPTED : 0,
  })
}

function frameOf(run: OpenRun, size: { width: number; height: number }, width: number, height: number) {
  const rows = Math.max(1, Math.min(size.height, height - UNDER_CHART))
  return chartView(run, { width, height: rows })
}
