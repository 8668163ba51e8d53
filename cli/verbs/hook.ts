/** What a host's hooks ask: one JSON object on standard input; the answer is the host's form, or nothing at all. */
import { deny, goOn, readHookCall } from '../hosts/session.ts'
import { ok, type Result } from '../result.ts'
import { whyGoOn, whyNotEdit } from '../run/driver.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'

/** Never fails: an answer that is wrong costs a turn, an error would hinder every session. */
export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  let answer = ''
  try {
    answer = await ask(context, args.sub)
  } catch {
    // No message: the reader is a host, and `assay doctor` reports what is wrong with a run.
  }
  return ok({ data: answer, text: () => answer })
}

async function ask(context: Context, sub: string | null): Promise<string> {
  const call = readHookCall(await context.stdin())
  if (call === null) return ''
  if (sub === 'stop') {
    const why = whyGoOn(context, call)
    return why === null ? '' : goOn(why)
  }
  const why = whyNotEdit(context, call)
  return why === null ? '' : deny(why)
}
