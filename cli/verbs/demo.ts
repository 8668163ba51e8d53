/** The whole job on a real small project, with the built-in host: no model, no key, no network. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commitFresh } from '../git/porcelain.ts'
import { BASELINE } from '../ledger/state.ts'
import { call, next, type Said } from '../next.ts'
import { SPEC_FILE, STATE_FOLDER, worktreePath } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { type OpenRun, openRun } from '../run/open.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { print, printable } from '../terminal/output.ts'
import { shellWord } from '../text.ts'
import { statusOf } from '../view/run.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/binpack', import.meta.url))
/** Where git does not see it. */
const PAGE = join(STATE_FOLDER, 'report.html')
/** Prints what a search may not see: best fit and the heuristic on other instances. */
const HELD_OUT = 'holdout/measure.js'

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const folder = placeFor(context, args.positionals[0] ?? null)
  if (!folder.ok) return folder
  // The answers of the verbs are shown one after the other, and a progress line that is updated in place would disturb them.
  const inside: Context = { ...context, cwd: folder.value, tell: () => {} }
  const say = (text: string) => (args.json ? Promise.resolve() : print('stdout', `${text}\n`))
  const verb = async (title: string, argv: string[]): Promise<Result<void>> => {
    await say(`\n— ${title}`)
    const answer = await context.call(args.json ? [...argv, '--json'] : argv, inside)
    if (!answer.ok) return fail({ ...answer.problem, at: answer.problem.at ?? folder.value })
    if (!args.json) await say([answer.value.text()].flat().map(String).join('\n').trimEnd())
    return ok(undefined)
  }

  await say(`— A repository with the example, for best-fit bin packing: ${folder.value}`)
  plant(folder.value, args.integer('seed'))
  const made = await commitFresh(folder.value, 'Best fit')
  if (!made.ok) return made
  const begun = await verb('assay init: is the benchmark sound, and how good is best fit?', ['init'])
  if (!begun.ok) return begun
  const searched = await verb('assay loop: the built-in host proposes, Assay measures and decides', ['loop'])
  if (!searched.ok) return searched

  const opened = openRun(inside, null)
  if (!opened.ok) return opened
  const status = statusOf(opened.value)
  const best = status.best?.experiment ?? BASELINE
  const shown = await verb(`The winner's change: assay diff ${best} ${BASELINE}`, ['diff', best, BASELINE])
  if (!shown.ok) return shown
  await say(`\n— On instances that the search never saw: node ${HELD_OUT}`)
  const held = await heldOut(opened.value, best, args.json)
  if (!held.ok) return held
  if (!args.json) await say(printable(held.value.trimEnd()))
  const page = join(folder.value, PAGE)
  const written = await context.call(['report', '--html', page], inside)
  if (!written.ok) return written
  const { run: name, baseline, stop } = status
  return ok({
    data: {
      folder: folder.value,
      run: name,
      baseline,
      best: status.best,
      stop,
      held_out: args.json ? JSON.parse(held.value) : null,
      page,
    },
    text: () => farewell(context.env, folder.value, best, page),
  })
}

/** The folder for the example, empty. Problem: `folder_in_use`. */
function placeFor(context: Context, asked: string | null): Result<string> {
  if (asked === null) return ok(mkdtempSync(join(tmpdir(), 'assay-demo-')))
  const folder = resolve(context.cwd, asked)
  if (!isFree(folder)) {
    return fail({
      kind: 'usage',
      code: 'folder_in_use',
      message: 'the demo needs an empty folder, and this one is not empty',
      hint: 'name a different folder, or none: then the demo makes one in the temporary folder',
      at: folder,
    })
  }
  mkdirSync(folder, { recursive: true })
  return ok(folder)
}

const isFree = (folder: string): boolean =>
  !existsSync(folder) || (statSync(folder).isDirectory() && readdirSync(folder).length === 0)

function plant(folder: string, seed: number | null): void {
  cpSync(EXAMPLE, folder, { recursive: true })
  if (seed === null) return
  const spec = join(folder, SPEC_FILE)
  writeFileSync(spec, readFileSync(spec, 'utf8').replace(/seed: \d+/, `seed: ${seed}`))
}

async function heldOut({ site, run: name }: OpenRun, best: string, json: boolean): Promise<Result<string>> {
  // The baseline has no worktree of its own: it is what was committed.
  const cwd = best === BASELINE ? site.root : worktreePath(site, name, best)
  const { execaNode } = await import('execa')
  const done = await execaNode(HELD_OUT, json ? ['--json'] : [], { cwd, reject: false })
  if (done.exitCode === 0) return ok(done.stdout)
  return fail({
    kind: 'failed',
    code: 'held_out_failed',
    message: `node ${HELD_OUT} did not answer: ${done.stderr || done.originalMessage}`,
    hint: `repeat it there: node ${HELD_OUT}`,
    at: cwd,
  })
}

function farewell(env: NodeJS.ProcessEnv, folder: string, best: string, page: string): Said[] {
  const entry = process.argv[1] ?? ''
  return [
    '',
    '— What to look at next',
    `cd ${shellWord(folder)}`,
    ...(onPath(env, 'assay', entry)
      ? []
      : [`alias assay=${shellWord(`${process.execPath} ${shellWord(entry)}`)}`]),
    next`${call('report')}             # this chart again`,
    next`${call('tree')}               # everything that was tried`,
    next`${call('show', best)}      # why the winner was kept`,
    next`${call('finish')}             # the winner, measured again, as a branch of that repository`,
    '',
    next`The run as one file, for any browser: ${shellWord(page)} (live, with actions: ${call('serve', '--open')})`,
    `Everything is in that folder; to delete it: rm -rf ${shellWord(folder)}`,
    next`Your own project: ${call('guide', 'first-use')}; in a coding agent: ${call('guide', 'usage')}`,
  ]
}

/** Whether the first `name` on PATH is the file `program`, links followed. */
function onPath(env: NodeJS.ProcessEnv, name: string, program: string): boolean {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const found = realOrNull(join(folder || '.', name))
    if (found !== null) return found === realOrNull(program)
  }
  return false
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
