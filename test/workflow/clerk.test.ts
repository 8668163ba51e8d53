import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseClerk, runClerk } from '../../cli/workflow/clerk.ts'
import { makeTemp } from '../rig/temp.ts'

const block = (command: string) => `\`\`\`sh\n${command}\n\`\`\``

test('reads words, quoted words and one line of JSON', () => {
  expect(parseClerk(block('assay status --json'))).toEqual({
    ok: true,
    value: { argv: ['status', '--json'], input: null },
  })
  expect(
    parseClerk(
      `\n${block(`assay new --parent exp_0001 -m 'a  "b" $(c) \`d\`' --key r1/l2/d1/new '' --json <<'ASSAY'\n{"a":"'ASSAY'"}\nASSAY`)}\n`,
    ),
  ).toEqual({
    ok: true,
    value: {
      argv: ['new', '--parent', 'exp_0001', '-m', 'a  "b" $(c) `d`', '--key', 'r1/l2/d1/new', '', '--json'],
      input: `{"a":"'ASSAY'"}`,
    },
  })
})

test('input on the command line loses a character, or is passed on as an argument', () => {
  const parsed = parseClerk(
    block(`assay propose --json --input '{"a":"it%27s 5 % of%C2%A0%5C%22%25", "b":"%zz %C3"}' --key k`),
  )
  expect(parsed.ok && parsed.value).toEqual({
    argv: ['propose', '--json', '--key', 'k'],
    input: `{"a":"it's 5 % of\u00a0\\"%", "b":"%zz %C3"}`,
  })
})

test.each([
  ['input that is no JSON on the line', block("assay propose --json --input 'x'")],
  ['no input after --input', block('assay propose --json --input')],
  ['another program', block('rm -rf x --json')],
  ['text around the block', `please\n${block('assay status --json')}`],
  ['two blocks', `${block('assay status --json')}\n${block('assay status --json')}`],
  ['two commands', block('assay status --json\nassay stop --json')],
  ['a chain', block('assay status --json; rm x')],
  ['a chain with &&', block('assay status --json && rm x')],
  ['a pipe', block('assay status --json | sh')],
  ['a redirection', block('assay status --json > file')],
  ['a variable', block('assay show $HOME --json')],
  ['a substitution', block('assay show `id` --json')],
  ['double quotes', block('assay show "x" --json')],
  ['a glob', block('assay show * --json')],
  ['a home folder', block('assay show ~ --json')],
  ['a backslash', block('assay show a\\ b --json')],
  ['an open quote', block("assay show 'a --json")],
  ['joined quotes', block("assay show a'b' --json")],
  ['a heredoc that expands', block('assay propose --json <<ASSAY\n{}\nASSAY')],
  ['another delimiter', block("assay propose --json <<'EOF'\n{}\nEOF")],
  ['two lines of input', block("assay propose --json <<'ASSAY'\n{}\n{}\nASSAY")],
  ['a command after the heredoc', block("assay propose --json <<'ASSAY'\n{}\nASSAY\nrm x")],
  ['input that is not JSON', block("assay propose --json <<'ASSAY'\nhello\nASSAY")],
  ['no --json', block('assay status')],
  ['no verb', block('assay --json')],
  ['another fence', '```bash\nassay status --json\n```'],
  ['nothing', ''],
])('refuses %s', (_what, prompt) => {
  const parsed = parseClerk(prompt)
  expect(parsed.ok ? parsed.value : parsed.problem.code).toBe('bad_clerk_prompt')
})

test('runs this CLI without a shell: argv and input arrive as written, the JSON line and the exit come back', async () => {
  const cwd = makeTemp()
  const entry = join(cwd, 'cli.cjs')
  writeFileSync(
    entry,
    `const input = require('node:fs').readFileSync(0, 'utf8'); console.log('noise'); console.log(JSON.stringify({ argv: process.argv.slice(2), input, cwd: process.cwd(), env: process.env.X })); process.exit(3)`,
  )
  const parsed = parseClerk(block(`assay propose '$(touch x)' --json <<'ASSAY'\n{"a":1}\nASSAY`))
  if (!parsed.ok) throw new Error(parsed.problem.message)
  const { signal } = new AbortController()
  const answer = await runClerk(parsed.value, { entry, cwd, env: { ...process.env, X: 'y' }, signal })
  expect({ ...answer, text: JSON.parse(answer.text) }).toEqual({
    exit: 3,
    killed: false,
    text: { argv: ['propose', '$(touch x)', '--json'], input: '{"a":1}\n', cwd, env: 'y' },
  })
})

test('a command that prints no JSON answers with a problem of the same shape, and no made-up exit code', async () => {
  const cwd = makeTemp()
  const entry = join(cwd, 'cli.cjs')
  writeFileSync(entry, `process.stderr.write('first\\nlast words\\n'); process.kill(process.pid, 'SIGKILL')`)
  const { signal } = new AbortController()
  const answer = await runClerk(
    { argv: ['status', '--json'], input: null },
    { entry, cwd, env: process.env, signal },
  )
  expect({ ...answer, text: JSON.parse(answer.text) }).toEqual({
    exit: null,
    killed: true,
    text: {
      ok: false,
      problem: { code: 'no_answer', message: 'assay status printed no JSON (exit SIGKILL): last words' },
    },
  })
})
