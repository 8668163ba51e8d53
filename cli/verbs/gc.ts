/** `gc`: removes worktrees of ended experiments, the trash and old logs. */
import { collectGarbage, type GcAnswer } from '../experiment/gc.ts'
import { call, next, type Said } from '../next.ts'
import { plain } from '../text.ts'
import { verb } from './verb.ts'

export const { run } = verb('gc', {
  run: (run, { flags }) => collectGarbage(run, { dryRun: flags['dry-run'] }),
  say: describe,
})

function describe({ dry_run, deleted, kept, stuck, bytes, truncated }: GcAnswer): Said[] {
  const size = `${(bytes / 1024 / 1024).toFixed(1)} MiB`
  return [
    ...deleted.map(({ kind, path }) => `${dry_run ? 'would delete' : 'deleted'} ${kind} ${plain(path, 300)}`),
    ...kept.map(({ experiment, why }) => `kept the worktree of ${experiment}: ${plain(why, 300)}`),
    ...stuck.map(({ path, code }) => `could not delete ${plain(path, 300)}: ${plain(code, 40)}`),
    ...(truncated ? ['… and more'] : []),
    dry_run ? next`${size} would be freed; to do it: ${call('gc')}` : `${size} freed`,
  ]
}
