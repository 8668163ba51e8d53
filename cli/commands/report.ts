import { ok, type Result } from '../result.ts'
import { chartData, chartLines, summaryData } from './chart-lines.ts'
import type { Answer, Context, Parsed } from './command.ts'
import { theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const width = args.integer('width') ?? context.columns
  const height = args.integer('height') ?? 20
  const lines = await chartLines(opened.value, { width, height, colour: context.colour })
  return ok({ data: { ...chartData(opened.value), ...summaryData(opened.value) }, text: () => lines })
}
