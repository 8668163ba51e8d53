/** `uninstall`: removes what `install` made, and nothing else. */
import { uninstall } from '../install/uninstall.ts'
import { ok, type Result } from '../result.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { wantedIn } from './install.ts'

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const wanted = wantedIn(context, args)
  if (!wanted.ok) return wanted
  const { env, signal } = context
  const done = await uninstall(wanted.value, { env, signal, cwd: wanted.value.project })
  if (!done.ok) return done
  const { was_there, commands, removed, kept } = done.value
  const { dryRun, host } = wanted.value
  return ok({
    data: { ...done.value, ...(dryRun ? { dry_run: true } : {}) },
    text: () =>
      was_there
        ? [
            dryRun
              ? 'Nothing was done. Without --dry-run, uninstall would:'
              : `Assay is removed from ${host}:`,
            ...commands.map((command) => `  ${command}`),
            ...removed.map((path) => `  ${dryRun ? 'remove' : 'removed'} ${path}`),
            ...kept.map((path) => `  ${dryRun ? 'leave' : 'left'}, because it was changed: ${path}`),
          ]
        : [`assay install put nothing into ${host} here`],
  })
}
