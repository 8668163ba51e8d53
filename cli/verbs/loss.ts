/** `loss`: what a run of a task costs, computed by hand from what the run left. */
import { resolve } from 'node:path'
import { roughly } from '../evaluate/figure.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import {
  meanLoss,
  NO_SIGNALS,
  PARTS,
  type Signals,
  type TaskLoss,
  taskLoss,
  WEIGHTS,
  type Weights,
} from '../suite/loss.ts'
import { readLeft } from '../suite/read.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { plain } from '../text.ts'

interface FileLoss extends TaskLoss {
  file: string
  signals: Signals
  /** Why no signals were read; null when they were. */
  unread: string | null
}

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const weights = weightsIn(args.text('weights'))
  if (!weights.ok) return weights
  const files = args.positionals.map((file) => {
    const left = readLeft(resolve(context.cwd, file))
    const unread = typeof left === 'string' ? left : null
    const signals = typeof left === 'string' ? NO_SIGNALS : left.signals
    const crashed = args.on('crashed') || unread !== null
    return { file, signals, unread, ...taskLoss(signals, weights.value, { crashed }) }
  })
  const mean = meanLoss(files.map(({ loss }) => loss))
  return ok({
    data: { loss: mean, files },
    text: () => [
      ...files.flatMap(describe),
      ...(files.length > 1 ? [`mean of ${files.length}: ${roughly(mean, 4)}`] : []),
    ],
  })
}

/** `eval=0.5,critique=0`. */
function weightsIn(text: string | null): Result<Weights> {
  const weights = { ...WEIGHTS }
  for (const word of text === null ? [] : text.split(',')) {
    const [, name, value] = /^\s*(\w+)\s*=\s*(\d*\.?\d+)\s*$/.exec(word) ?? []
    const part = PARTS.find((one) => one === name)
    if (part === undefined || value === undefined) return fail(badWeights(word))
    weights[part] = Number(value)
  }
  if (PARTS.every((part) => weights[part] === 0)) return fail(badWeights(text ?? ''))
  return ok(weights)
}

const badWeights = (word: string): Problem => ({
  kind: 'usage',
  code: 'bad_weights',
  message: `--weights cannot be read at ${plain(word, 100)}`,
  hint: `write for example eval=0.5,critique=0; the parts are: ${PARTS.join(', ')}; at least one weighs more than 0`,
})

function describe({ file, loss, parts, missing, weights, crashed, unread }: FileLoss): string[] {
  const why = unread === null ? '' : ` (${unread})`
  return [
    `${plain(file, 300)}: loss ${roughly(loss, 4)}${crashed ? `; it failed${why}` : ''}`,
    ...PARTS.map((part) => {
      const value = parts[part]
      const said = value === null ? `missing, counts as ${missing}` : roughly(value, 4)
      return `  ${part.padEnd(16)}${roughly(weights[part], 4)} × ${said}`
    }),
  ]
}
