import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fail, ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from './command.ts'

const REFERENCES = new URL('../../references/', import.meta.url)

export async function run(_context: Context, args: Parsed): Promise<Result<Answer>> {
  const [topic] = args.positionals
  const topics = readdirSync(fileURLToPath(REFERENCES))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -3))
    .sort()
  if (topic === undefined)
    return ok({ data: { topics }, text: () => topics.map((one) => `assay guide ${one}`) })
  if (!topics.includes(topic)) {
    return fail({
      kind: 'usage',
      code: 'unknown_topic',
      message: `there is no guide on ${topic}`,
      hint: `topics: ${topics.join(', ')}`,
    })
  }
  const text = readFileSync(new URL(`${topic}.md`, REFERENCES), 'utf8')
  return ok({ data: { topic, text }, text: () => text })
}
