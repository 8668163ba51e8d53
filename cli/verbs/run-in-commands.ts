/** Adds `--run` to the commands in an answer, so that they work on the run that the call named. */
import { Next, type Said } from '../next.ts'
import { findSite, listRuns } from '../paths.ts'
import type { Context } from '../terminal/command.ts'
import { VERBS } from './table.ts'

/** How to say a command of an answer. It names the run that the call named if there are others to take it for. */
export function withRunNamed({ cwd }: Pick<Context, 'cwd'>, run: string): (said: Said) => string {
  const site = findSite(cwd)?.site ?? null
  const runs = site === null ? [] : listRuns(site)
  const named = runs.length > 1 && runs.includes(run) ? run : null
  return (said) => {
    if (said instanceof Next) return said.say(named, worksOnARun)
    return named === null ? said : withRun(said, named)
  }
}

export function worksOnARun(name: string): boolean {
  const verb = VERBS.find((one) => one.name === name.split(' ')[0])
  return verb !== undefined && verb.group !== 'start' && verb.group !== 'hidden'
}

/** A hint that is a sentence with commands inside: each command has the run behind its verb, if the verb works on a run. */
export function withRun(hint: string, run: string): string {
  return hint.replace(/\bassay ([a-z]+)\b( [a-z]+\b)?/g, (command, name: string, word = '', at: number) => {
    const verb = VERBS.find((one) => one.name === name)
    if (!worksOnARun(name) || hint.startsWith(' --run', at + command.length)) return command
    const sub = verb?.subs?.some((one) => one.name === word.trim()) ? word : ''
    return `assay ${name}${sub} --run ${run}${sub === '' ? word : ''}`
  })
}
