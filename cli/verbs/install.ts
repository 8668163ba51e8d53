/** `install`: puts the skills of Assay into an agent program. */
import { fileURLToPath } from 'node:url'
import { type PluginHostName, pluginHost, pluginHostNames, type Scope } from '../hosts/plugins.ts'
import { install } from '../install/install.ts'
import { call, next } from '../next.ts'
import { checkoutAround } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { closest } from '../spec/words.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  if (args.positionals.length === 0)
    return ok({
      data: { hosts: pluginHostNames },
      text: () => pluginHostNames.map((name) => next`${call('install', name)}`),
    })
  const wanted = wantedIn(context, args)
  if (!wanted.ok) return wanted
  const { env, signal } = context
  const done = await install({ ...wanted.value, root: ROOT }, { env, signal, cwd: wanted.value.project })
  if (!done.ok) return done
  const { method, version, commands, files, already } = done.value
  const { call: calls, permissions } = pluginHost(wanted.value.host)
  const { dryRun } = wanted.value
  const start = calls[method === 'plugin' ? 'plugin' : 'copied']
  return ok({
    data: { ...done.value, call: start, permissions, ...(dryRun ? { dry_run: true } : {}) },
    text: () => [
      dryRun
        ? 'Nothing was done. Without --dry-run, install would run these commands and write these files:'
        : `Assay ${version} is ${already ? 'installed already' : 'installed'}:`,
      ...commands.map((command) => `  ${command}`),
      ...files.map((file) => `  ${file}`),
      `Start a new session of ${wanted.value.host}, then: ${start}`,
      `To let it run Assay's commands without asking:`,
      ...permissions.map((line) => `  ${line}`),
    ],
  })
}

/** What both verbs are asked for. */
export function wantedIn(
  context: Context,
  args: Parsed,
): Result<{ host: PluginHostName; scope: Scope; project: string; dryRun: boolean }> {
  const [name = ''] = args.positionals
  const host = pluginHostNames.find((one) => one === name)
  if (host === undefined) {
    const meant = closest(name, pluginHostNames)
    return fail({
      kind: 'usage',
      code: 'unknown_host',
      message: `there is no host "${name}"`,
      hint: `${meant === null ? '' : `did you mean ${meant}? `}the hosts: ${pluginHostNames.join(', ')}`,
    })
  }
  if (args.on('user') && args.on('project'))
    return fail({ kind: 'usage', code: 'bad_value', message: '--user and --project exclude each other' })
  const around = checkoutAround(context.cwd)
  if (args.on('project') && around === null) {
    return fail({
      kind: 'usage',
      code: 'no_checkout',
      message: '--project needs a git checkout, and there is none around this folder',
      hint: 'go into the project, or leave out --project',
      at: context.cwd,
    })
  }
  const scope = args.on('project') ? 'project' : 'user'
  return ok({ host, scope, project: around?.top ?? context.cwd, dryRun: args.on('dry-run') })
}
