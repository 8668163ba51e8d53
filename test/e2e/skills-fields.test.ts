import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { skillPages } from '../../cli/install/bundle.ts'
import { assay, dataOf } from '../rig/assay.ts'
import { makeProject, ms, type NewData, writeFiles } from './project.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const pages = [...skillPages(ROOT).values(), ...readdirSync(`${ROOT}/agents`).map((name) => `agents/${name}`)]

interface Claim {
  path: string
  /** `data.best.value` */
  field: string
  /** The command whose answer has it: the last one before it, or the one right after it. */
  verbs: string[]
}

/** Every `data.…` and `problem.…` in backticks, with the commands around it in the same paragraph or phase. */
function claimsIn(path: string): Claim[] {
  const text = readFileSync(`${ROOT}/${path}`, 'utf8')
  return text.split(/\n(?=## )/).flatMap((phase) => {
    const verbs = [...phase.matchAll(/assay ([a-z]+(?: open| next| briefs| close| list| get)?)/g)].map(
      (found) => found[1] ?? '',
    )
    return [...phase.matchAll(/`(data(?:\.\w+)+|problem\.\w+)`/g)].map((found) => ({
      path,
      field: found[1] ?? '',
      verbs,
    }))
  })
}

test('a skill names a field that no command of its phase answers', async () => {
  const project = makeProject({
    spec: { metric: { name: 'ms', direction: 'minimize', min_improvement: '1%' } },
  })
  const answers: Record<string, unknown> = {}
  const ask = async (verb: string, args: string[], input?: string) => {
    const ran = await assay([...verb.split(' '), ...args, '--json'], {
      cwd: project.repo.dir,
      ...(input ? { input } : {}),
    })
    const data = dataOf(ran) as Record<string, unknown>
    answers[verb] = { ...(answers[verb] as object | undefined), ...data }
    return data
  }
  // Each verb that a skill names fields of, once, on a run with something to tell.
  await ask('init', [])
  const prepared = makeProject()
  answers.init = { ...(answers.init as object), ...(await prepared.data<object>('init', '--prepare')) }
  const asked = makeProject()
  await asked.data('init')
  answers['round next'] = await asked.data<object>('round', 'next')
  const { token, round } = (await ask('round open', [])) as { token: string; round: number }
  const briefs = { briefs: [{ parent: 'exp_0000', kind: 'edit', objective: 'less' }] }
  const laid = await ask('round briefs', ['--token', token], JSON.stringify(briefs))
  const { experiment, worktree } = (await ask('new', [
    '--round',
    String(round),
    '--lane',
    '1',
    '--depth',
    '1',
    '-m',
    'less',
  ])) as unknown as NewData
  writeFiles(worktree, ms(80))
  await ask('seal', [experiment])
  await ask('check', [experiment])
  await ask('run', [experiment])
  await ask('wait', ['--for', experiment])
  await ask(
    'round close',
    ['--token', String(laid.token)],
    '{"lanes":[{"lane":1,"learnings":[],"suggestions":[]}]}',
  )
  await ask('note', ['the benchmark counts only the first call', '--kind', 'objection'])
  await ask('config get', ['loop.driver'])
  await ask('status', [])
  await ask('show', [experiment])
  await ask('report', [])
  await ask('discards', [])
  await ask('workflow list', [])
  await ask('finish', [])

  const claims = pages.flatMap(claimsIn)
  expect(claims.length).toBeGreaterThan(25)
  const wrong = claims.filter(({ field, verbs }) => {
    if (field.startsWith('problem.'))
      return !['problem.code', 'problem.message', 'problem.hint'].includes(field)
    return !verbs.some((verb) => verb in answers && has(answers[verb], field.split('.').slice(1)))
  })
  expect(wrong.map(({ path, field }) => `${path}: ${field}`)).toEqual([])
  expect(has({ a: { b: null } }, ['a', 'b'])).toBe(true)
  expect(has({ a: { b: null } }, ['a', 'c'])).toBe(false)
})

/** A value that is null may hold the rest. */
function has(data: unknown, [first, ...rest]: string[]): boolean {
  if (first === undefined || data === null) return true
  if (typeof data !== 'object' || !(first in data)) return false
  return has((data as Record<string, unknown>)[first], rest)
}
