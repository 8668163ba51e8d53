import { fail, ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from './command.ts'
import { guideTopics, referenceText } from './references.ts'

export async function run(_context: Context, args: Parsed): Promise<Result<Answer>> {
  const [topic] = args.positionals
  const topics = guideTopics()
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
  const text = referenceText(`${topic}.md`)
  return ok({ data: { topic, text }, text: () => text })
}
