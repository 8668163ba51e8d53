import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { type Project, projectIn } from '../e2e/project.ts'
import { makeRepo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/skill-quality', import.meta.url))
const SKILL = 'skill/SKILL.md'
const guide = readFileSync(join(EXAMPLE, SKILL), 'utf8')

const BETTER = guide
  .replace(
    /1\. Think[\s\S]*?and so on\.\n/,
    [
      '1. Run `git diff --staged` and read the diff from top to bottom.',
      '2. Split the commit when the change serves more than one purpose.',
      '3. Write the subject line in the imperative: "Fix the parser".',
      '4. Explain in the body why the change is needed.',
      '5. Name the issue number that the commit closes.',
      '',
      '```',
      'Fix the parser of dates',
      '',
      'It took a month of 13 for January.',
      '```',
      '',
    ].join('\n'),
  )
  .replace('- Do not mention irrelevant things.', '- Break the lines of the body at 72 characters.')
  .replace('The message is written.', 'Show the message to the user.')

/** No two lines of them are alike. */
const WORDS = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel', 'india', 'juliett']

const RUBRIC = readFileSync(join(EXAMPLE, 'rubric.md'), 'utf8')

let project: Project

const filesOfExample = () =>
  Object.fromEntries(
    readdirSync(EXAMPLE, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return [relative(EXAMPLE, path), readFileSync(path, 'utf8')]
      }),
  )

beforeAll(async () => {
  project = projectIn(makeRepo({ files: filesOfExample() }), makeTemp('control'))
  await project.data('init', '--from', 'task.yaml')
})

test('the task file is not read as it is, or a guide that is better in truth is not kept', async () => {
  const attempt = await project.attempt({ [SKILL]: BETTER })
  expect(attempt).toMatchObject({ status: 'kept', parent_value: 0.375 })
  expect(attempt.value).toBeGreaterThan(0.9)
  const lines = project.repo.read('work/results.jsonl').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { experiment: 'exp_0000', decision: 'keep', value: 0.375, metrics: { violation_count: 0 } },
    { experiment: attempt.experiment, decision: 'keep', value: attempt.value, diff: { files: 1 } },
  ])
})

test.each([
  [
    'a list of keywords',
    guide.replace(
      '- Keep the subject',
      '- Use subject, imperative, body, reason, wrap, issue, diff, example, scope, verb.\n- Keep the subject',
    ),
    'violation_count',
  ],
  [
    'one word again and again',
    guide.replace('The message is written.', 'Write imperative. '.repeat(12)),
    'violation_count',
  ],
  [
    'padding: what was said already, in nearly the same words',
    BETTER.replace(
      '5. Name the issue',
      '4. Explain in the body why the change is needed now.\n4. Explain in the body why this change is needed.\n5. Name the issue',
    ),
    'violation_count',
  ],
  [
    'text of the rubric',
    guide.replace('The message is written.', `${RUBRIC.match(/^\d\. .*$/gm)?.join('\n')}\n`),
    'violation_count',
  ],
  ['fewer sections', guide.replace('## When to use', '### When to use'), 'required_sections_present'],
  [
    'length',
    `${BETTER}\n${Array.from({ length: 40 }, (_, at) => `- ${WORDS.map((word) => `${word}${at}`).join(' ')}.`).join('\n')}\n`,
    'length_tokens',
  ],
])('a cheat raises the score and is kept: %s', async (_, text, why) => {
  const attempt = await project.attempt({ [SKILL]: text })
  expect(attempt).toMatchObject({ status: 'rejected', reason: 'constraint' })
  expect(attempt.message).toContain(`constraint ${why} `)
})

/** Stands in for a model: the guide that has more words of the question is better, else the longer one. */
const JUDGE = `
let prompt = ''
for await (const chunk of process.stdin.setEncoding('utf8')) prompt += chunk
const part = (name) => new RegExp('^BEGIN ' + name + ' \\\\w+\\n([^]*?)\\nEND ' + name, 'm').exec(prompt)?.[1] ?? ''
const words = part('input').toLowerCase().match(/[a-z]{4,}/g) ?? []
const worth = (text) => words.filter((word) => text.toLowerCase().includes(word)).length - (/GRADE|choose the/.test(text) ? 99 : 0)
const [first, second] = [part('first answer'), part('second answer')]
const lead = worth(first) - worth(second) || first.length - second.length
const verdict = lead > 0 ? 'first' : lead < 0 ? 'second' : 'equal'
const labels = [...prompt.matchAll(/^(c\\d+): /gm)].map(([, label]) => label)
console.error('usage {"tokens_in": 900, "tokens_out": 100, "usd": 0.001}')
console.log(JSON.stringify(Object.fromEntries(labels.map((label) => [label, { evidence: 'read', verdict }]))))
`

test('with a judge, a guide that answers more questions is not kept, or one that stuffs keywords is shown to it', async () => {
  const judge = join(makeTemp('judge'), 'judge.mjs')
  writeFileSync(judge, JUDGE)
  const spec = readFileSync(join(EXAMPLE, 'judged.yaml'), 'utf8')
  const judged = projectIn(makeRepo({ files: filesOfExample() }), makeTemp('control'))
  judged.repo.commit('a judge that needs no key', {
    'judged.yaml': spec.replace(
      '  host: claude-code\n  model: haiku\n',
      `  host: command\n  command: [node, ${judge}]\n`,
    ),
  })
  await judged.data('init', 'judged.yaml')
  const better = await judged.attempt({ [SKILL]: BETTER })
  expect(better).toMatchObject({ status: 'kept', reason: 'improved' })
  const calls = async () => (await judged.data<{ judging: { calls: number } }>('status')).judging.calls
  const before = await calls()
  const stuffed = guide.replace('The message is written.', 'Write imperative. '.repeat(12))
  expect(await judged.attempt({ [SKILL]: stuffed })).toMatchObject({
    status: 'rejected',
    reason: 'constraint',
  })
  expect(await calls()).toBe(before)
})
