import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fail, ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from './command.ts'

const PACKAGE = new URL('../../', import.meta.url)

/** Reference pages, then what agents read: the protocol of a lane, for one, wherever no plugin is installed. */
export async function run(_context: Context, args: Parsed): Promise<Result<Answer>> {
  const [topic] = args.positionals
  const pages = new Map([...filesIn('references'), ...skillsIn('skills')])
  for (const [name, page] of filesIn('agents')) pages.set(pages.has(name) ? `${name}-agent` : name, page)
  const topics = [...pages.keys()]
  if (topic === undefined)
    return ok({ data: { topics }, text: () => topics.map((one) => `assay guide ${one}`) })
  const page = pages.get(topic)
  if (page === undefined) {
    return fail({
      kind: 'usage',
      code: 'unknown_topic',
      message: `there is no guide on ${topic}`,
      hint: `topics: ${topics.join(', ')}`,
    })
  }
  const text = readFileSync(new URL(page, PACKAGE), 'utf8').replace(/^---\n.*?\n---\n+/s, '')
  return ok({ data: { topic, text }, text: () => text })
}

const filesIn = (folder: string): [string, string][] =>
  namesIn(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name.slice(0, -3), `${folder}/${name}`])

const skillsIn = (folder: string): [string, string][] =>
  namesIn(folder).map((name) => [name, `${folder}/${name}/SKILL.md`])

const namesIn = (folder: string): string[] => readdirSync(fileURLToPath(new URL(folder, PACKAGE))).sort()
