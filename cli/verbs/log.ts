/** `assay log`: stored output of setup, build, gates and samples; with --follow also what is printed right now. */
import { readFileSync, statSync } from 'node:fs'
import { settled, whenLedger } from '../experiment/wait.ts'
import { lastJudged } from '../ledger/state.ts'
import { runningOutput } from '../measure/output.ts'
import { call, next, type Said } from '../next.ts'
import { redact } from '../redact.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import type { Context, VerbAnswer } from '../terminal/command.ts'
import { print, printable } from '../terminal/output.ts'
import { verbatim } from '../text.ts'
import { attemptWithLog, type LogAnswer, type LogPart, logOf, logPartsOf } from '../view/log.ts'
import { onExperiment } from './verb.ts'

const KINDS = ['setup', 'build', 'gate', 'sample'] as const

export const run = onExperiment((opened, node, args, context) => {
  if (args.on('follow')) return follow(context, opened, node.id, args.json)
  const [, part, name] = args.positionals
  const kind = KINDS.find((one) => one === part)
  if (part !== undefined && kind === undefined)
    return fail({
      kind: 'usage',
      code: 'unknown_part',
      message: `there is no part ${JSON.stringify(part)} of an attempt`,
      hint: `it is one of: ${KINDS.join(', ')}`,
    })
  const found = logOf(opened, node, {
    ...(kind !== undefined && { kind }),
    ...(name !== undefined && { name }),
    stderr: args.on('stderr'),
  })
  if (!found.ok) return found
  return ok({ data: found.value, text: () => linesOf(found.value) })
})

function linesOf(log: LogAnswer): Said[] {
  const { experiment, attempt, kind, name, stream, output, cut, elsewhere, parts } = log
  const what = kind === 'gate' || kind === 'sample' ? `${kind} ${name}` : kind
  const other =
    stream === 'stdout'
      ? call('log', experiment, kind, name, '--stderr')
      : call('log', experiment, kind, name)
  return [
    `${experiment}, attempt ${attempt}: ${what}${kind === 'sample' ? `, ${stream}` : ''} (${parts.length} parts are stored)`,
    ...(cut ? ['… only its end'] : []),
    output === '' ? '(it printed nothing)' : printable(output.trimEnd()),
    ...(elsewhere ? [next`The other stream has text, too: ${other}`] : []),
  ]
}

/** Prints what each part printed, as it comes, until the attempt has a verdict or its process is gone. */
async function follow(
  context: Context,
  run: OpenRun,
  id: string,
  json: boolean,
): Promise<Result<VerbAnswer>> {
  const begun = run.ledger.state.experiments.get(id)
  if (!begun) throw new Error(`${id} was there a moment ago`)
  const attempt = attemptWithLog(begun)
  if (!attempt.ok) return attempt
  const tell = (line: string) =>
    json ? context.tell({ type: 'log', message: line }) : print('stdout', `${verbatim(redact(line))}\n`)
  const following = new Following(run, id)
  const ended = await whenLedger(run, Number.POSITIVE_INFINITY, () => {
    for (const line of following.look()) void tell(line)
    const node = run.ledger.state.experiments.get(id)
    return node ? settled(node) : 'lost'
  })
  if (!ended.ok) return ended
  for (const line of following.look()) void tell(line)
  if (ended.value === null)
    return fail({ kind: 'interrupted', code: 'interrupted', message: 'interrupted; the attempt continues' })
  const node = run.ledger.state.experiments.get(id)
  const judged = node && lastJudged(node)
  return ok({
    data: { experiment: id, status: node?.status ?? null, reason: judged?.reason ?? null },
    text: () =>
      ended.value === 'lost'
        ? next`the process that judged ${id} is gone; continue it: ${call('run', id)}`
        : printable(`${id} ${judged?.status}: ${judged?.message}`),
  })
}

/** Lines of the parts of an attempt, each once, whether it is printed now or was stored meanwhile. */
class Following {
  /** Parts that were printed whole. */
  #done = 0
  /** Lines of the part behind them that were printed while it ran. */
  #printed = { stdout: 0, stderr: 0 }
  #headed = false
  readonly #run: OpenRun
  readonly #id: string

  constructor(run: OpenRun, id: string) {
    this.#run = run
    this.#id = id
  }

  look(): string[] {
    const node = this.#run.ledger.state.experiments.get(this.#id)
    const attempt = node?.attempts.findLast(({ claim }) => claim !== null)
    if (!node || !attempt) return []
    const parts = logPartsOf(this.#run, node, attempt)
    const lines = parts.slice(this.#done).flatMap((part) => this.#stored(part))
    this.#done = parts.length
    return [...lines, ...this.#live(runningOutput(this.#run.site, attempt))]
  }

  #stored(part: LogPart): string[] {
    const { stdout, stderr } = this.#printed
    const rest = [
      ...wholeLines(part.stdout, true).slice(stdout),
      ...(part.stderr === null ? [] : wholeLines(part.stderr, true).slice(stderr)),
    ]
    this.#printed = { stdout: 0, stderr: 0 }
    this.#headed = false
    const how = part.passed === null ? '' : part.passed ? ': passed' : ': failed'
    const name = part.kind === part.name ? part.name : `${part.kind} ${part.name}`
    return [...rest, `--- ${name}${how}`]
  }

  #live(files: { stdout: string; stderr: string } | null): string[] {
    if (files === null) return []
    const lines = (['stdout', 'stderr'] as const).flatMap((stream) => {
      const all = wholeLines(files[stream], false)
      // A shorter file is of the next sample; what the last one printed comes when it is stored.
      const fresh = all.slice(this.#printed[stream])
      this.#printed[stream] = Math.max(this.#printed[stream], all.length)
      return fresh
    })
    if (lines.length === 0 || this.#headed) return lines
    this.#headed = true
    return ['--- a sample runs', ...lines]
  }
}

const MOST_BYTES = 8 * 1024 * 1024

/** `ended`: the text behind the last end of line counts as a line, too. A huge file is not followed. */
function wholeLines(file: string, ended: boolean): string[] {
  try {
    if (statSync(file).size > MOST_BYTES) return []
    const lines = readFileSync(file, 'utf8').split('\n')
    const last = lines.pop() ?? ''
    return ended && last !== '' ? [...lines, last] : lines
  } catch {
    return []
  }
}
