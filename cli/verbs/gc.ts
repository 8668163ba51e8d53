import { collectGarbage, type GcAnswer } from '../experiment/gc.ts'
import { ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const done = await collectGarbage(opened.value, { dryRun: args.on('dry-run') })
  if (!done.ok) return done
  const next = context.next('assay gc')
  return ok({ data: done.value, text: () => describe(done.value, next) })
}

function describe({ dry_run, deleted, kept, stuck, bytes, truncated }: GcAnswer, next: string): string[] {
  const size = `${(bytes / 1024 / 1024).toFixed(1)} MiB`
  return [
    ...deleted.map(({ kind, path }) => `${dry_run ? 'would delete' : 'deleted'} ${kind} ${plain(path, 300)}`),
    ...kept.map(({ experiment, why }) => `kept the worktree of ${experiment}: ${plain(why, 300)}`),
    ...stuck.map(({ path, code }) => `could not delete ${plain(path, 300)}: ${plain(code, 40)}`),
    ...(truncated ? ['… and more'] : []),
    dry_run ? `${size} would be free; do it: ${next}` : `${size} freed`,
  ]
}
