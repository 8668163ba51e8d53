/** `assay serve`: the page of all runs of a repository, until Ctrl-C. It reads ledgers, and holds none of their locks. */
import { addressOf, lastServed, recordServed } from '../page/record.ts'
import { Runs } from '../page/runs.ts'
import { type ServerOptions, type Serving, startServer } from '../page/server.ts'
import type { Site } from '../paths.ts'
import { endProcess, execute } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { print } from '../terminal/output.ts'

/** Replaced by the build. */
const VERSION = process.env.ASSAY_VERSION ?? 'unbuilt'
const GRACE_MS = 3000

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const runs = Runs.of(context, VERSION)
  if (!runs.ok) return runs
  const { site } = runs.value
  if (args.on('stop')) return stop(context, site)
  const last = lastServed(context.env, site)
  if (last?.alive) {
    const address = addressOf(last)
    await show(context, args, address)
    return ok({
      data: { address, pid: last.owner.pid, already: true },
      text: () => `process ${last.owner.pid} serves this repository already: ${address}`,
    })
  }
  const readOnly = args.on('read-only')
  const token = last?.token ?? context.random(16)
  const started = await listen(args.integer('port'), last?.port ?? 0, {
    runs: runs.value,
    version: VERSION,
    token: readOnly ? null : token,
    call: async (argv) => {
      const done = await context.call(argv, insideOf(context, site))
      return done.ok ? ok(done.value.data) : done
    },
  })
  if (!started.ok) return started
  const served = { port: started.value.port, token, read_only: readOnly }
  recordServed(context.env, site, served)
  const address = addressOf(served)
  const line = `serving ${site.root}: ${address} (Ctrl-C ends it)`
  if (args.json) context.tell({ type: 'log', message: line })
  else await print('stdout', `${line}\n`)
  await show(context, args, address)
  await new Promise<void>((resolve) => {
    if (context.signal.aborted) resolve()
    context.signal.addEventListener('abort', () => resolve())
  })
  await started.value.close()
  return ok({ data: { address, pid: process.pid, already: false }, text: () => [] })
}

/** Pages that are open look for the server at the port that they know, so the last one is tried first. */
async function listen(
  asked: number | null,
  last: number,
  options: Omit<ServerOptions, 'port'>,
): Promise<Result<Serving>> {
  if (asked !== null) return startServer({ ...options, port: asked })
  const again = await startServer({ ...options, port: last })
  return again.ok || last === 0 ? again : startServer({ ...options, port: 0 })
}

const insideOf = (context: Context, site: Site): Context => ({
  ...context,
  cwd: site.root,
  tty: false,
  colour: false,
  stdin: async () => '',
  tell: () => {},
  // Ctrl-C ends the server, not an action that still runs.
  onLeave: () => {},
})

async function stop(context: Context, site: Site): Promise<Result<VerbAnswer>> {
  const last = lastServed(context.env, site)
  if (!last?.alive) {
    return fail({
      kind: 'refused',
      code: 'not_served',
      message: 'no process serves this repository',
      hint: 'start it: assay serve',
      at: site.root,
    })
  }
  await endProcess(last.owner, GRACE_MS)
  return ok({ data: { pid: last.owner.pid }, text: () => `process ${last.owner.pid} has stopped serving` })
}

/** Failing is harmless: the address is printed anyway. */
async function show(context: Context, args: Parsed, address: string): Promise<void> {
  if (!args.on('open')) return
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const opened = await execute({ argv: [opener, address], cwd: context.cwd })
  if (opened.code !== 0) context.tell({ type: 'warning', message: `${opener} could not open ${address}` })
}
