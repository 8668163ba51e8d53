/** The chart of a run and the numbers under it: what `report` shows, and `loop` at its end. */
import type { OpenRun } from '../run/open.ts'
import { chartInput, summaryData } from '../view/chart.ts'
import { itemsLines, judgedItems, judgingLine, judgingOf } from '../view/judging.ts'
import { suiteView } from '../view/suite.ts'
import { chart } from './chart.ts'
import { painter } from './colour.ts'
import { BLANK, cell, clip, type Line } from './lines.ts'
import { suiteLines } from './suite-table.ts'
import { summary } from './summary.ts'

export async function chartLines(
  run: OpenRun,
  size: { width: number; height: number; colour: boolean },
): Promise<string[]> {
  const paint = await painter(size.colour)
  const suite = suiteView(run)
  const texts = suite === null ? [] : [BLANK, ...suiteLines(suite, size.width)]
  return [...chartView(run, size), ...texts].map(paint)
}

export function chartView(run: OpenRun, size: { width: number; height: number }): Line[] {
  const judging = judgingOf(run)
  const told = judging ? [...judgingLine(judging).split('; '), ...itemsLines(judgedItems(run))] : []
  return [
    ...chart(chartInput(run), size),
    [],
    ...summary(summaryData(run), size.width),
    ...told.map((text) => clip([cell(text)], size.width)),
  ]
}
