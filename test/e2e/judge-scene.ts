/** A project whose answers a scripted judge compares: each answer is a number from 0 to 9, more is better. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemp } from '../rig/temp.ts'
import { type Files, makeProject, type Project, type SpecParts } from './project.ts'

/** Answers `<id> <quality> <noise>` to each item: `quality` from the file that a candidate edits, noise from the seed. */
const BENCH = `import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
const text = readFileSync('src/quality.json', 'utf8')
const { quality, words = 30, wins = 1, silent = [], bad = [], long = {}, extra = '' } = JSON.parse(text)
const ids = readFileSync(process.env.ASSAY_ITEMS, 'utf8').trim().split('\\n')
let chance = Number(process.env.ASSAY_SEED)
for (const id of ids) {
  chance = (Math.imul(chance, 1103515245) + 12345) & 0x7fffffff
  const better = !bad.includes(id) && (chance >>> 8) % 100 < 100 * wins ? quality : 0
  if (silent.includes(id)) continue
  const answer = 'item ' + id + ' has quality ' + better + '.' + ' More words follow.'.repeat(words + (long[id] ?? 0)) + extra
  writeFileSync(join(process.env.ASSAY_ITEMS_DIR, id + '.txt'), answer)
}
console.log('METRIC answered=' + ids.length)
`

/**
 * Reads both answers between their marks. The one with more quality is better; a damaged copy has fewer words. `how` is the body
 * of `(first, second, { number, prompt, labels }) => 'first' | 'second' | 'equal' | text to print`.
 */
export const MERIT = `
  if (first.quality !== second.quality) return first.quality > second.quality ? 'first' : 'second'
  if (/GRADE/.test(first.text) !== /GRADE/.test(second.text)) return /GRADE/.test(first.text) ? 'second' : 'first'
  if (Math.abs(first.text.length - second.text.length) > 20) return first.text.length > second.text.length ? 'first' : 'second'
  return 'equal'
`

const program = (
  how: string,
  folder: string,
  usd: string,
) => `import { appendFileSync, readFileSync, existsSync } from 'node:fs'
let prompt = ''
for await (const chunk of process.stdin.setEncoding('utf8')) prompt += chunk
const log = ${JSON.stringify(join(folder, 'calls.jsonl'))}
const number = existsSync(log) ? readFileSync(log, 'utf8').split('\\n').length - 1 : 0
const read = (place) => {
  const [, text = ''] = new RegExp('^BEGIN ' + place + ' answer \\\\w+\\\\n([^]*?)\\\\nEND ' + place + ' answer', 'm').exec(prompt) ?? []
  return { text, quality: Number(/quality (-?[\\d.]+)/.exec(text)?.[1] ?? -1) }
}
const [first, second] = [read('first'), read('second')]
const labels = [...prompt.matchAll(/^(c\\d+): /gm)].map(([, label]) => label)
const verdict = await (async (first, second, { number, prompt, labels }) => {${how}})(first, second, { number, prompt, labels })
appendFileSync(log, JSON.stringify({ prompt, verdict, env: Object.keys(process.env) }) + '\\n')
console.error('usage {"tokens_in": 900, "tokens_out": 100, "usd": ${usd}}')
if (['first', 'second', 'equal'].includes(verdict))
  console.log(JSON.stringify(Object.fromEntries(labels.map((label) => [label, { evidence: 'read it', verdict }]))))
else console.log(verdict)
`

export interface JudgeScene extends Project {
  /** Calls of the judge until now. */
  calls: () => { prompt: string; verdict: string; env: string[] }[]
  /** Replaces how the judge decides. */
  judgeBy: (how: string, usd?: string) => void
}

export const ITEMS = 48

export const itemsText = (count = ITEMS): string =>
  Array.from(
    { length: count },
    (_, at) => `${JSON.stringify({ id: `m${at}`, input: `message ${at}` })}\n`,
  ).join('')

export const quality = (value: number, more: object = {}): Files => ({
  'src/quality.json': JSON.stringify({ quality: value, ...more }),
})

export function judgeScene({
  how = MERIT,
  usd = '0.001',
  judge = {},
  spec = {},
  files = {},
}: {
  how?: string
  usd?: string
  judge?: SpecParts
  spec?: SpecParts
  files?: Files
} = {}): JudgeScene {
  const folder = makeTemp('judge')
  const file = join(folder, 'judge.mjs')
  const judgeBy = (body: string, price = usd) => writeFileSync(file, program(body, folder, price))
  judgeBy(how)
  const project = makeProject({
    spec: {
      goal: 'Answer better.',
      measure: { command: 'node bench/run.mjs', timeout: '30s' },
      metric: { name: 'quality', direction: 'maximize' },
      noise: {},
      judge: {
        host: 'command',
        command: [process.execPath, file],
        items: 'items.jsonl',
        task: 'Say what the message is about.',
        criteria: [{ name: 'better', ask: 'Which answer has the higher quality?' }],
        ...judge,
      },
      ...spec,
    },
    files: { 'bench/run.mjs': BENCH, 'items.jsonl': itemsText(), ...quality(3), ...files },
  })
  const log = join(folder, 'calls.jsonl')
  const calls = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line))
      : []
  return { ...project, calls, judgeBy }
}
