/** The pages and templates that come with Assay. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { skillPages } from '../install/bundle.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'

// ---------------------------------------------------------------- the pages and templates that come with Assay

const REFERENCES = new URL('../../references/', import.meta.url)

export const referenceText = (file: string): string => readFileSync(new URL(file, REFERENCES), 'utf8')

const PACKAGE = new URL('../../', import.meta.url)

/** Reference pages, then what agents read: the protocol of a lane, for one, wherever no plugin is installed. */
export async function run(_context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const [topic, key] = args.positionals
  if (topic === 'spec' && key !== undefined) return aboutKey(key)
  const pages = new Map([...filesIn('references'), ...skillPages(fileURLToPath(PACKAGE))])
  for (const [name, page] of filesIn('agents')) pages.set(pages.has(name) ? `${name}-agent` : name, page)
  const topics = [...pages.keys()]
  if (topic === undefined) {
    const about = Object.fromEntries([...pages].map(([name, page]) => [name, aboutOf(textOf(page))]))
    const width = Math.max(...topics.map((one) => one.length))
    return ok({
      data: { topics, about },
      text: () => topics.map((one) => `assay guide ${one.padEnd(width)}  ${about[one]}`),
    })
  }
  const page = pages.get(topic)
  if (page === undefined) {
    return fail({
      kind: 'usage',
      code: 'unknown_topic',
      message: `there is no guide on ${topic}`,
      hint: `topics: ${topics.join(', ')}`,
    })
  }
  if (key !== undefined) {
    return fail({
      kind: 'usage',
      code: 'unexpected_argument',
      message: `only the page of the spec has keys, not ${topic}`,
      hint: next`for one key of the spec: ${call('guide', 'spec', key)}`,
    })
  }
  const text = textOf(page).replace(FRONTMATTER, '')
  return ok({ data: { topic, text }, text: () => text })
}

async function aboutKey(name: string): Promise<Result<VerbAnswer>> {
  const { keyPage } = await import('../spec/key-page.ts')
  const page = keyPage(name)
  if (!page.ok) return page
  const { key, value, required, meaning, change, example, below } = page.value
  const usual = page.value.default
  return ok({
    data: page.value,
    text: () => [
      key,
      `  ${meaning}`,
      `  Value: ${value} (${required ? 'required' : usual === null ? 'not required' : `default: ${usual}`})`,
      {
        live: next`  It may change during a run: ${call('config set', key, 'VALUE', '--reason', 'TEXT')}`,
        frozen: next`  It is frozen: it says what is measured, so a different value needs a new run: ${call('init', '--new')}`,
        kept: '  A run keeps the value that it began with.',
      }[change],
      ...(below.length === 0 ? [] : [`  Keys below: ${below.join(', ')}`]),
      '',
      example,
    ],
    wrap: true,
  })
}

const textOf = (page: string): string => readFileSync(new URL(page, PACKAGE), 'utf8')

const FRONTMATTER = /^---\n.*?\n---\n+/s

/** What a page says it is: the first sentence of its description, or else of the page. */
function aboutOf(page: string): string {
  const [described] = FRONTMATTER.exec(page) ?? []
  const said = described ? /^description: (.*)$/m.exec(described)?.[1] : page.replace(/^# .*\n+/, '')
  const [sentence = ''] = /^.*?[.!?](?=\s|$)/s.exec(said ?? '') ?? []
  return sentence.replace(/\s+/g, ' ').replaceAll('**', '')
}

const filesIn = (folder: string): [string, string][] =>
  readdirSync(fileURLToPath(new URL(folder, PACKAGE)))
    .sort()
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name.slice(0, -3), `${folder}/${name}`])
