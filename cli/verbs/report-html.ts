/** `report --html FILE`: the page of a run as one file that needs neither server nor network. */
import { statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { htmlOf } from '../page/export.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { plain } from '../text.ts'

/** Replaced by the build. */
const VERSION = process.env.ASSAY_VERSION ?? 'unbuilt'

/** Problems: `html_one` for several runs, `not_written`. */
export async function writePage(
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
