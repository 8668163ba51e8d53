import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse as parseYaml, stringify } from 'yaml'
import { skillPages } from '../cli/install/bundle.ts'
import { GUIDES } from '../cli/loop/prompts.ts'
import { KNOB_PATHS } from '../cli/spec/knobs.ts'
import { readSpec } from '../cli/spec/read.ts'
import { TEMPLATE } from '../cli/spec/template.ts'
import { VERBS } from '../cli/verbs/table.ts'
import { stale } from '../scripts/bundle.mjs'
import { commandProblem, commandsIn, inputProblem, inputsIn, workflowCommands } from './skills/commands.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const skills = [...skillPages(ROOT)].map(([name, path]) => ({ name, path, text: read(path) }))
const categories = skills.filter(({ path }) => path.startsWith('skills/categories/'))
const agents = readdirSync(join(ROOT, 'agents')).map((file) => ({
  name: file.replace(/\.md$/, ''),
  path: `agents/${file}`,
  text: read(`agents/${file}`),
}))
const pages = [...skills, ...agents]
const guides = readdirSync(join(ROOT, 'references'))
  .filter((file) => file.endsWith('.md'))
  .map((file) => `references/${file}`)

function frontmatter(text: string): Record<string, unknown> {
  const found = /^---\n(.*?)\n---\n/s.exec(text)
  if (found === null) throw new Error('no frontmatter at the top')
  return parseYaml(found[1] ?? '')
}

const SKILLS = ['finetuning', 'discover', 'finish', 'optimize', 'report', 'subagent']

test('a skill, an agent or a workflow goes missing', () => {
  expect(skills.map(({ name }) => name)).toEqual(SKILLS)
  expect(agents.map(({ name }) => name)).toEqual(['clerk', 'ideator', 'meta', 'scanner', 'verifier'])
})

describe.each(pages)('$path', ({ name, path, text }) => {
  test('its description is too long for a host, or does not say when to use it', () => {
    const { name: called, description, ...rest } = frontmatter(text)
    // An agent with `tools` keeps one host from loading any; the rest differs between hosts.
    expect(rest).toEqual({})
    expect(called).toBe(name)
    expect(String(description)).toMatch(/^[^.]+\. Use when [^.]+\.$/)
    expect(String(description).length).toBeLessThanOrEqual(400)
    expect(text).not.toContain('\r')
    // With the line ends of Windows.
    expect(Buffer.byteLength(text.replaceAll('\n', '\r\n'))).toBeLessThanOrEqual(8000)
  })

  test('it depends on what only one host fills in', () => {
    expect(text).not.toMatch(/\$\{?(CLAUDE_|ARGUMENTS|GEMINI_|CODEX_|extensionPath)|\{\{args\}\}|^!`/m)
  })

  test('a command in it is not one, or a flag', () => {
    expect(commandsIn(text).flatMap((command) => commandProblem(command) ?? [])).toEqual([])
  })

  test('an input in it is not what the command reads', () => {
    expect(inputsIn(text).flatMap((input) => inputProblem(input) ?? [])).toEqual([])
  })

  test('a link or a topic leads nowhere', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)\)|`((?:\.\.?\/)[^` ]+)/g)]
    const paths = links.map((link) => link[1] ?? link[2] ?? '')
    expect(paths.filter((to) => !existsSync(join(ROOT, dirname(path), to)))).toEqual([])
    const topics = [...text.matchAll(/assay guide ([\w-]+)/g)].map((found) => found[1] ?? '')
    expect(topics.filter((topic) => !topicExists(topic))).toEqual([])
    const named = [...text.matchAll(/\bskill `([\w-]+)`/g)].map((found) => found[1])
    expect(named.filter((one) => !skills.some(({ name }) => name === one))).toEqual([])
  })

  test('it names a knob that does not exist', () => {
    const knobs = [...text.matchAll(/assay config set ([\w.]+)/g)].map((found) => found[1] ?? '')
    expect(knobs.filter((knob) => !Object.values(KNOB_PATHS).includes(knob))).toEqual([])
  })
})

/** A page of an agent gives way to a reference page of the same name. */
const topicExists = (topic: string): boolean =>
  existsSync(join(ROOT, 'references', `${topic}.md`)) ||
  pages.some(({ name }) => name === topic) ||
  agents.some(({ name }) => `${name}-agent` === topic && existsSync(join(ROOT, 'references', `${name}.md`)))

test('a role of the loop is sent to a guide that is not there', () => {
  expect(Object.values(GUIDES).filter((topic) => !topicExists(topic))).toEqual([])
  expect([GUIDES.implement, GUIDES.meta]).toEqual(['subagent', 'meta-agent'])
})

test('the workflow has a role read by an agent that does not come with Assay', () => {
  const [, readers = ''] = /const READERS = \{(.*?)\n\}/s.exec(read('workflows/optimize.js')) ?? []
  const named = [...readers.matchAll(/(\w+): 'assay:([\w-]+)'/g)]
  expect(named.map((one) => one[1])).toEqual(['scan', 'ideate', 'verify', 'audit', 'meta'])
  expect(named.filter((one) => !agents.some(({ name }) => name === one[2]))).toEqual([])
})

test.each(skills)('$path: it has no end, or does not say when to give up', ({ text }) => {
  for (const part of [
    /^\*\*Principle: /m,
    /^## \d\. /m,
    /^\*\*Done when\*\* /m,
    /^\*\*Stop when\*\* /m,
    /^## Excuses$/m,
  ])
    expect(text).toMatch(part)
})

describe.each(categories)('$path', ({ name, text }) => {
  const contract = read('references/categories.md')

  test('it leaves out a question that each category must answer', () => {
    const headings = [...contract.matchAll(/^\| `(\d\. [^`]+)`/gm)].map((found) => found[1])
    expect(headings).toHaveLength(7)
    expect([...text.matchAll(/^## (\d\. .*)$/gm)].map((found) => found[1])).toEqual(headings)
  })

  test('the part of a spec in it cannot stand in a spec', () => {
    const [, candidate = ''] = /^## 2\. .*?^```yaml\n(.*?)^```$/ms.exec(text) ?? []
    const whole = { ...parseYaml(TEMPLATE), ...parseYaml(candidate) }
    const spec = readSpec(stringify(whole), 'assay.yaml')
    expect(spec.ok ? spec.value.skills : spec.problem).toEqual([name])
  })

  test('nothing leads to it', () => {
    expect(contract).toContain(`| \`${name}\``)
    expect(read('skills/discover/SKILL.md')).toContain(`assay guide ${name}`)
  })
})

test.each(readdirSync(join(ROOT, 'workflows')))(
  'workflows/%s: a command in it is not one, or a flag',
  (file) => {
    const commands = workflowCommands(read(`workflows/${file}`))
    expect(commands.length).toBeGreaterThanOrEqual(5)
    expect(commands.flatMap((command) => commandProblem(command) ?? [])).toEqual([])
  },
)

test('a manifest or a version does not follow plugin.json', () => {
  expect(stale(ROOT)).toEqual([])
})

test('a manifest makes a host take the plugin for one of a different kind', () => {
  const { version, ...plugin } = JSON.parse(read('plugin.json'))
  expect(Object.keys(plugin)).toEqual(['name', 'description', 'author', 'license', 'keywords'])
  expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  for (const skill of skills) expect(skill.text.includes(`**${version}**`), skill.path).toBe(true)
})

test('a hook asks something that the CLI has no answer to, or stands in the way when it fails', () => {
  const { hooks } = JSON.parse(read('.claude-plugin/hooks.json')) as {
    hooks: Record<string, { hooks: { command: string }[] }[]>
  }
  const commands = Object.values(hooks)
    .flat()
    .flatMap((one) => one.hooks.map(({ command }) => command))
  expect(commands).toHaveLength(2)
  for (const command of commands) {
    const [, rest] = /^node "\$\{CLAUDE_PLUGIN_ROOT\}\/bin\/assay\.cjs" (.*) \|\| true$/.exec(command) ?? []
    expect(commandProblem(`assay ${rest}`), command).toBeNull()
  }
})

test.each(['README.md', ...guides])(
  '%s: a command in it is not one, or lacks a flag that it needs',
  (path) => {
    expect(commandsIn(read(path)).flatMap((command) => commandProblem(command) ?? [])).toEqual([])
  },
)

test('the example of a verb does not work', () => {
  const examples = VERBS.flatMap((verb) => [verb, ...(verb.subs ?? [])].map(({ example }) => example))
  const commands = examples.flatMap(
    (example) => /assay .*/.exec(example)?.[0].replace(/ (<<|>|<) .*$/, '') ?? [],
  )
  expect(commands.length).toBeGreaterThan(50)
  expect(commands.flatMap((command) => commandProblem(command) ?? [])).toEqual([])
})

describe('a check that would not notice', () => {
  test.each([
    '`assay statsu`',
    '`assay run ID --detatch`',
    '`assay round open now`',
    '`assay discard ID --failure-class bad`',
    '`assay wait --for ID --timeout soon`',
    '`assay config set loop.width`',
    '`assay gate add ID --name NAME --command COMMAND`',
  ])('%s', (text) => {
    expect(commandsIn(text).map(commandProblem)).not.toEqual([null])
  })
  test('an input with a key that nobody reads', () => {
    expect(inputsIn('`assay propose` `{"ideas":[{"hypotheses":"x"}]}`').map(inputProblem)).not.toEqual([null])
  })
})
