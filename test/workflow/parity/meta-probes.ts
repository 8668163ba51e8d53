/** The launch: what a script must begin with, and which scripts are not run at all. */
import { META } from '../rig.ts'
import { done, type Expected, type Probe, probe } from './probe.ts'

const whole = (name: string, script: string, expected: Expected): Probe => ({
  name,
  launches: [{ script }],
  expected,
})
const NOT_FIRST =
  'Invalid workflow script: `export const meta = { name, description, phases }` must be the FIRST statement in the script'
const NOT_JS =
  'Workflow scripts must be plain JavaScript — TypeScript syntax (type annotations like `: string[]`, interfaces, generics) fails to parse.'

export const META_PROBES: Probe[] = [
  whole('meta:no-meta', 'return 1', { refused: NOT_FIRST }),
  whole('meta:comment-first', `// before it\n/* and here */\n${META}return 1`, done(1)),
  whole('meta:stmt-first', `const early = 1\n${META}return 1`, { refused: NOT_FIRST }),
  whole('meta:computed', `export const meta = { name: 'a' + 'b', description: 'd' }\nreturn 1`, {
    refused:
      'Invalid workflow script: meta must be a pure literal: non-literal node type in meta: BinaryExpression',
  }),
  whole('meta:template', 'export const meta = { name: `probe`, description: `d` }\nreturn 1', done(1)),
  whole('meta:no-desc', `export const meta = { name: 'probe' }\nreturn 1`, {
    refused: 'Invalid workflow script: meta.description must be a non-empty string',
  }),
  whole('meta:empty-name', `export const meta = { name: '', description: 'd' }\nreturn 1`, {
    refused: 'Invalid workflow script: meta.name must be a non-empty string',
  }),
  whole(
    'meta:bad-phases',
    `export const meta = { name: 'probe', description: 'd', phases: ['A', { title: 'B', detail: 1, model: 'm' }, { x: 1 }], extra: { a: [-1, null, true] } }\nphase('Z')\nreturn 1`,
    done(1, { phases: ['B', 'Z'] }),
  ),
  probe('meta:ts', `const x: string = 'a'\nreturn x`, {
    refused: `Invalid workflow script: Script parse error: Unexpected token (2:7). ${NOT_JS}`,
  }),
  whole(
    'meta:weird-name',
    `export const meta = { name: 'Odd Name/../up', description: 'd' }\nreturn 1`,
    done(1),
  ),
  probe('meta:import', `import fs from 'fs'\nreturn 1`, {
    refused:
      "Workflow script has a syntax error and was not launched:\nSyntaxError: Unexpected identifier 'fs'. import call expects one or two arguments.",
  }),
  probe('meta:with', 'with ({}) {}\nreturn 1', {
    refused: `Invalid workflow script: Script parse error: 'with' in strict mode (2:0). ${NOT_JS}`,
  }),
  whole('meta:semicolon-sameline', `export const meta = { name: 'p', description: 'd' }; return 7`, done(7)),
  whole(
    'meta:json-newline',
    `export const meta = { name: 'p', description: 'one\\nanother', phases: [] }\nreturn 1`,
    done(1),
  ),
  probe('meta:use-meta', 'return typeof meta', done('undefined')),
  probe('determinism-static', 'if (false) { Date.now() }\nreturn 1', {
    refused:
      'Workflow scripts must be deterministic: Date.now()/Math.random()/new Date() are unavailable (breaks resume). Stamp results after the workflow returns, or pass timestamps via args.',
  }),
  {
    name: 'proj-over-plugin',
    launches: [{ name: 'tiny:tiny-wf' }],
    files: {
      '.claude/workflows/a.js': `export const meta = { name: 'tiny:tiny-wf', description: 'd' }\nreturn 'project'`,
      '.claude/workflows/sub/b.js': `export const meta = { name: 'below', description: 'd' }\nreturn 'below'`,
      '.claude/workflows/c.mjs': `export const meta = { name: 'module', description: 'd' }\nreturn 'module'`,
    },
    expected: done('project'),
  },
  {
    name: 'scriptPath-txt',
    launches: [{ path: 'x.txt' }],
    files: { 'x.txt': `${META}return 'txt ok'` },
    expected: done('txt ok'),
  },
  {
    name: 'userwf-home',
    launches: [{ name: 'zzz' }],
    files: {
      '../home/.claude/workflows/u.js': `export const meta = { name: 'user-wf', description: 'd' }\nreturn 1`,
    },
    expected: { refused: 'Workflow "zzz" not found. Available: deep-research, code-review, user-wf' },
  },
]
