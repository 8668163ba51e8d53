/** `workflow run`, `check`, `list`, `eject` and `resume`: scripts that ask agents. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { openHost, openNamed } from '../agents/open-host.ts'
import { schemaCheckOf } from '../hosts/agent-answer.ts'
import { type Chain, chain, hostNames, isHostName } from '../hosts/registry.ts'
import {
  findLooseRun,
  type LooseRequest,
  type LooseRun,
  newLooseRun,
  runLoose,
} from '../loop/loose-workflow.ts'
import { scriptByName, scriptNamed, withNamesHint, workflowFolders } from '../loop/named-script.ts'
import { call, next, type Said } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import { openRun } from '../run/open.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { printable } from '../terminal/output.ts'
import { plain } from '../text.ts'
import { checkScript } from '../workflow/check.ts'
import type { WorkflowOutcome } from '../workflow/run.ts'
import { loadScript } from '../workflow/script.ts'
import { listScripts } from '../workflow/scripts.ts'

/** Works in any folder: with a run or without, with git or without. */
export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  switch (args.sub) {
    case 'check':
      return check(context, args)
    case 'list':
      return list(context)
    case 'eject':
      return eject(context, args)
    case 'resume':
      return resumeWorkflow(context, args)
    default:
      return startWorkflow(context, args)
  }
}

async function check(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const [named = ''] = args.positionals
  const script = scriptNamed(named, context.cwd)
  if (!script.ok) return script
  const { file, source } = script.value
  const beside = relative(context.cwd, file)
  const text = { text: source, file: beside.startsWith('..') ? file : beside }
  const meta = await checkScript(text, schemaCheckOf)
  if (!meta.ok) return meta
  const { name, description, phases } = meta.value
  return ok({
    data: { file, name, description, phases: phases.map(({ title }) => title) },
    text: () => `${plain(name, 200)}: nothing speaks against running it`,
  })
}

function list(context: Context): Result<VerbAnswer> {
  const workflows = listScripts(workflowFolders(context.cwd)).map(({ name, description, file }) => ({
    name,
    description,
    file,
  }))
  return ok({
    data: { workflows },
    text: () =>
      workflows.flatMap(({ name, description, file }) => [
        `${plain(name, 100)}: ${plain(description, 300)}`,
        `  ${plain(file, 500)}`,
      ]),
  })
}

/** A copy to adapt, where hosts and `assay workflow run` find it; the spec names it by its path. */
function eject(context: Context, args: Parsed): Result<VerbAnswer> {
  const [name = ''] = args.positionals
  const script = scriptByName(name, context.cwd)
  if (!script.ok) return script
  const to = args.text('to') ?? join('.claude', 'workflows', basename(script.value.file))
  const file = resolve(context.cwd, to)
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, script.value.source, { flag: 'wx' })
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EEXIST'
    return fail({
      kind: 'refused',
      code: taken ? 'file_exists' : 'cannot_write',
      message: taken ? `${to} is there already` : `cannot write ${to}: ${(error as Error).message}`,
      hint: 'name a different file: --to FILE',
      at: file,
    })
  }
  return ok({
    data: { name: script.value.name, file },
    text: () => [
      `${plain(script.value.name, 100)} was copied to ${plain(to, 500)}`,
      next`  after a change: ${call('workflow check', to)}`,
      `  for the loop, in assay.yaml: loop: { workflow: ./${plain(to, 500)} }`,
    ],
  })
}

// ---------------------------------------------------------------- `workflow run` and `resume`

const LONGEST_RESULT = 4000

async function startWorkflow(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const request = requestOf(context, args)
  if (!request.ok) return request
  const host = await hostOf(context, args.run, request.value)
  if (!host.ok) return host
  return finish(context, newLooseRun(context, request.value), host.value)
}

async function resumeWorkflow(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const [id = ''] = args.positionals
  const found = findLooseRun(context.env, id)
  if (!found.ok) return found
  const host = await hostOf({ ...context, cwd: found.value.request.cwd }, args.run, found.value.request)
  return host.ok ? finish(context, found.value, host.value) : host
}

function requestOf(context: Context, args: Parsed): Result<LooseRequest> {
  const [named = ''] = args.positionals
  const script = scriptNamed(named, context.cwd)
  if (!script.ok) return script
  const { file, source } = script.value
  const loaded = loadScript(source, { file, inline: false })
  if (!loaded.ok) return loaded
  const given = args.text('args')
  if (given !== null) {
    const wrong = jsonTrouble(given)
    if (wrong !== null) return wrong
  }
  const command = args.text('command')
  return ok({
    file,
    cwd: context.cwd,
    args: given,
    host: args.text('host') ?? (command === null ? null : 'command'),
    command,
    concurrency: args.integer('concurrency') ?? Math.min(16, Math.max(2, cpus().length - 2)),
  })
}

function jsonTrouble(text: string): Result<never> | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    const message = `--args is not JSON: ${(error as Error).message}`
    return fail({ kind: 'usage', code: 'bad_value', message, hint: `for example: --args '{"rounds":3}'` })
  }
}

/** The host that is named, else that of the run in this folder. Problem `no_host` without either. */
async function hostOf(context: Context, run: string | null, request: LooseRequest): Promise<Result<Chain>> {
  const { host, command } = request
  if (host !== null) {
    if (isHostName(host)) {
      const opened = await openNamed(host, command)
      return opened.ok ? ok(chain([opened.value])) : opened
    }
    const hint = `one of: ${hostNames.join(', ')}`
    return fail({ kind: 'usage', code: 'bad_value', message: `--host cannot be "${host}"`, hint })
  }
  const around = openRun(context, run)
  if (!around.ok) {
    if (around.problem.code !== 'no_run') return around
    const message =
      'the workflow needs a host: none was named, and this repository has no run whose host could answer'
    return fail({ kind: 'usage', code: 'no_host', message, hint: NAME_ONE })
  }
  const opened = await openHost(around.value)
  return opened.ok ? ok(opened.value.chain) : opened
}

const NAME_ONE = "name a program that answers prompts: --host command --command 'CMD'"

async function finish(context: Context, run: LooseRun, chain: Chain): Promise<Result<VerbAnswer>> {
  const { id, request } = run
  const folders = workflowFolders(request.cwd)
  const done = withNamesHint(await runLoose(context, run, { chain, entry: process.argv[1] ?? '', folders }))
  if (!done.ok) return done
  if (context.signal.aborted) {
    const hint = next`continue, without paying again for answers that were given: ${call('workflow resume', id)}`
    return fail({
      kind: 'interrupted',
      code: 'interrupted',
      message: `the workflow ${id} was interrupted`,
      hint,
      data: { run: id },
    })
  }
  const { status, result, error, logs, phases, agents, usage } = done.value
  const data = { status, result, error, logs, phases, agents, usage, run: id }
  return ok({ data, text: () => describe(done.value, id), exit: status === 'completed' ? 0 : 4 })
}

function describe(outcome: WorkflowOutcome, id: string): Said[] {
  const { status, result, error, agents, failures } = outcome
  const counts = `${id}: ${status}, ${agents} agent calls${failures.length > 0 ? `, ${failures.length} failures` : ''}`
  if (status === 'failed') {
    return [
      `${counts}: ${plain(error ?? 'no reason given', 2000)}`,
      next`  continue with: ${call('workflow resume', id)}`,
    ]
  }
  const text = typeof result === 'string' ? result : JSON.stringify(result, null, 2)
  const cut = text.length > LONGEST_RESULT ? `${text.slice(0, LONGEST_RESULT)}… (all of it: --json)` : text
  return [printable(cut), counts]
}
