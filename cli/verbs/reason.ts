/** Decisions that others have to understand later need a reason. */
import { fail, ok, type Result } from '../result.ts'
import type { Parsed } from '../terminal/command.ts'

export function reasonOf(args: Parsed, example: string): Result<string> {
  const reason = args.text('reason')
  if (reason !== null && reason.trim() !== '') return ok(reason)
  return fail({
    kind: 'usage',
    code: 'no_reason',
    message: `${args.verb}${args.sub === null ? '' : ` ${args.sub}`} needs a reason, which the ledger keeps`,
    hint: `example: ${example}`,
  })
}

/** The positional TEXT at `index`, when it says something. */
export function textAt(args: Parsed, index: number): string | null {
  const text = args.positionals[index]
  return text === undefined || text.trim() === '' ? null : text
}
