/** What a command that named its run says to do next: whoever does it means the same run. */
import { findSite, listRuns } from '../paths.ts'
import type { Problem } from '../result.ts'
import type { Context, Parsed } from '../terminal/command.ts'
import { VERBS } from './table.ts'

/** The problem with `--run` in the commands of its hints, when the verb had it and another run is here. */
export function inSameRun(problem: Problem, context: Where, args: Parsed): Problem {
  const run = runToName(context, args)
  return run === null ? problem : named(problem, run)
}

/** The same for what an answer says to do next. */
export function nextInSameRun(hint: string, context: Where, args: Parsed): string {
  const run = runToName(context, args)
  return run === null ? hint : withRun(hint, run)
}

type Where = Pick<Context, 'cwd'>

function runToName({ cwd }: Where, { run }: Parsed): string | null {
  const site = run === null ? null : (findSite(cwd)?.site ?? null)
  const runs = site === null ? [] : listRuns(site)
  return run !== null && runs.length > 1 && runs.includes(run) ? run : null
}

function named({ hint, more, ...problem }: Problem, run: string): Problem {
  return {
    ...problem,
    ...(hint === undefined ? {} : { hint: withRun(hint, run) }),
    ...(more === undefined ? {} : { more: more.map((one) => named(one, run)) }),
  }
}

/** Each command has it behind its verb, if the verb works on a run. */
export function withRun(hint: string, run: string): string {
  return hint.replace(/\bassay ([a-z]+)\b( [a-z]+\b)?/g, (command, name: string, word = '', at: number) => {
    const verb = VERBS.find((one) => one.name === name)
    const runless = verb === undefined || verb.group === 'start' || verb.group === 'hidden'
    if (runless || hint.startsWith(' --run', at + command.length)) return command
    const sub = verb.subs?.some((one) => one.name === word.trim()) ? word : ''
    return `assay ${name}${sub} --run ${run}${sub === '' ? word : ''}`
  })
}
