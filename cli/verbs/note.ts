import type { Noted } from '../ledger/events.ts'
import { ok, type Result } from '../result.ts'
import { listNotes, note } from '../run/steer.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { textAt, theRun } from './verb.ts'

const LIMIT = 50

/** Without TEXT it lists. */
export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const kind = args.text('kind') as Noted['kind'] | null
  const text = textAt(args, 0)
  if (text === null) {
    const found = listNotes(opened.value, kind, args.integer('limit') ?? LIMIT)
    return ok({
      data: found,
      text: () => [
        ...(found.truncated ? ['… older ones: --limit'] : []),
        ...found.notes.map(
          ({ at, kind: sort, text: said }) => `${at.slice(0, 16)}  ${sort}  ${plain(said, 500)}`,
        ),
        ...(found.notes.length === 0 ? ['nothing has been noted: assay note TEXT'] : []),
      ],
    })
  }
  const done = note(opened.value, { text, kind: kind ?? 'note', key: args.key })
  return done.ok
    ? ok({ data: done.value, text: () => `noted (${done.value.kind}); the next rounds are told` })
    : done
}
