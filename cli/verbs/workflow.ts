import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { schemaCheckOf } from '../hosts/agent-answer.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { checkScript } from '../workflow/check.ts'
import { listScripts } from '../workflow/scripts.ts'
import { scriptByName, scriptNamed, workflowFolders } from './workflow-places.ts'
import { resumeWorkflow, startWorkflow } from './workflow-run.ts'

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
