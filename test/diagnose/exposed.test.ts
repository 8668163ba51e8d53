import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exposedCommands } from '../../cli/diagnose/exposed.ts'
import { mentionsIn } from '../../cli/diagnose/sources.ts'
import { readSpec } from '../../cli/spec/read.ts'
import { scopeOf } from '../../cli/spec/rules.ts'
import { type SpecParts, specText, writeFiles } from '../e2e/project.ts'
import { makeTemp } from '../rig/temp.ts'

interface Case {
  files: Record<string, string>
  command: string
  mutable?: string[]
  immutable?: string[]
  gate?: string
  more?: SpecParts
  prefix?: string
}

/** `kind at` of each. */
function exposed({
  files,
  command,
  mutable = ['src/**'],
  immutable = [],
  gate,
  more = {},
  prefix = '',
}: Case) {
  const top = makeTemp()
  writeFiles(top, files)
  const paths = readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(top.length + 1))
  const text = specText({
    scope: { mutable, immutable },
    measure: { command },
    gates: gate === undefined ? [] : [{ name: 'g', command: gate }],
    ...more,
  })
  const read = readSpec(text, 'assay.yaml')
  if (!read.ok) throw new Error(JSON.stringify(read.problem))
  const areaOf = scopeOf(read.value.scope, prefix)
  const found = exposedCommands({ top, spec: read.value, prefix, areaOf, paths })
  return found.map(({ kind, at }) => `${kind} ${at}`)
}

const LIBRARY = { 'src/parser.js': '', 'src/deep.js': '' }

const CASES: Record<string, Case & { finds: string[] }> = {
  'a benchmark in the scope of candidates': {
    files: { 'bench/run.js': '' },
    command: 'node bench/run.js',
    mutable: ['**'],
    finds: ['program bench/run.js'],
  },
  'the same, but immutable': {
    files: { 'bench/run.js': '' },
    command: 'node bench/run.js',
    mutable: ['**'],
    immutable: ['bench/**'],
    finds: [],
  },
  'an argument that may change is no program': {
    files: { 'bench/run.js': '', 'src/main.js': '' },
    command: 'node bench/run.js src/main.js',
    finds: [],
  },
  'the second of two commands': {
    files: { 'bench/a.sh': '', 'src/b.sh': '' },
    command: 'sh bench/a.sh && sh src/b.sh',
    finds: ['program src/b.sh'],
  },
  'the candidate in the process of the benchmark': {
    files: {
      ...LIBRARY,
      'bench/run.js': `import fs from 'node:fs'\nimport { parse } from '../src/parser.js'\n`,
    },
    command: 'node bench/run.js',
    finds: ['in_process bench/run.js:2'],
  },
  'through a helper, by require, and under the name of TypeScript': {
    files: {
      'src/parser.ts': '',
      'bench/run.js': `require('./lib/setup')`,
      'bench/lib/setup.cjs': `\n\nexports.parse = require('../../src/parser.js')`,
    },
    command: 'node bench/run.js',
    finds: ['in_process bench/lib/setup.cjs:3'],
  },
  'types and comments are not loaded': {
    files: {
      ...LIBRARY,
      'bench/run.ts': `import type { Tree } from '../src/parser.js'\n// import '../src/deep.js'\n`,
    },
    command: 'node bench/run.ts',
    finds: [],
  },
  'a helper beside the benchmark': {
    files: { 'bench/run.js': `\nimport './timer.js'`, 'bench/timer.js': '' },
    command: 'node bench/run.js',
    mutable: ['**'],
    immutable: ['bench/run.js'],
    finds: ['helper bench/run.js:2'],
  },
  'a child that is timed from outside': {
    files: {
      ...LIBRARY,
      'bench/run.mjs': `spawnSync(process.execPath, [new URL('./child.mjs', import.meta.url).pathname])`,
      'bench/child.mjs': `import '../src/parser.js'`,
    },
    command: 'node bench/run.mjs',
    finds: [],
  },
  'a script of package.json that is called with options': {
    files: {
      'package.json': '{"scripts":{"bench":"sh bench/run.sh"}}',
      'bench/run.sh': '. src/hook.sh\n',
      'src/hook.sh': '',
    },
    command: 'npm run --silent bench',
    finds: ['in_process bench/run.sh:1'],
  },
  'a shell script that finds its own folder': {
    files: { 'bench/run.sh': '. "$(dirname "$0")/../src/hook.sh"\n', 'src/hook.sh': '' },
    command: 'sh bench/run.sh',
    finds: ['in_process bench/run.sh:1'],
  },
  'a shell script that finds its own folder without a program': {
    files: { 'bench/run.sh': 'source "\u0024{BASH_SOURCE[0]%/*}/../src/hook.sh"\n', 'src/hook.sh': '' },
    command: 'bash bench/run.sh',
    finds: ['in_process bench/run.sh:1'],
  },
  'a shell script that keeps its own folder in a variable': {
    files: {
      'bench/run.sh': 'TOP=$(cd "$(dirname "$0")/.." && pwd)\n. "$TOP/src/a.sh"\n',
      'src/a.sh': '',
    },
    command: 'sh bench/run.sh',
    finds: ['in_process bench/run.sh:2'],
  },
  'a shell script that starts one that measures itself, or sources the candidate': {
    files: {
      ...LIBRARY,
      'bench/run.sh': '# node bench/old.js\nnode bench/inner.js\n. ./src/hook.sh\n',
      'bench/inner.js': `import '../src/parser.js'`,
      'src/hook.sh': '',
    },
    command: 'sh bench/run.sh',
    finds: ['in_process bench/run.sh:3'],
  },
  'a script of package.json': {
    files: { 'package.json': '{"scripts":{"bench":"node bench/run.js"}}', 'bench/run.js': '' },
    command: 'npm run bench',
    mutable: ['**'],
    immutable: ['bench/**'],
    finds: ['program package.json'],
  },
  'Python: absolute, from src, and a submodule': {
    files: {
      'src/pkg/__init__.py': '',
      'src/pkg/fast.py': '',
      'bench/run.py': 'import os, sys\nfrom pkg import fast\n',
    },
    command: 'python3 bench/run.py',
    finds: ['in_process bench/run.py:2'],
  },
  'Python: a module that is started by its name, and a relative import': {
    files: { 'bench/__main__.py': '\nfrom .clock import now\n', 'bench/clock.py': '' },
    command: 'python3 -m bench',
    mutable: ['bench/clock.py'],
    finds: ['helper bench/__main__.py:2'],
  },
  'a conftest.py that exists, and configuration that may be added': {
    files: { 'tests/unit/test_a.py': '', 'tests/conftest.py': '' },
    command: 'python3 -m pytest tests/unit',
    mutable: ['**'],
    immutable: ['tests/unit/**'],
    finds: ['config tests/conftest.py'],
  },
  'only what pytest reads on its way': {
    files: { 'tests/test_a.py': '', 'src/conftest.py': '' },
    command: 'pytest tests',
    finds: [],
  },
  'a gate: its program, but not what it tests': {
    files: { ...LIBRARY, 'test/a.js': `import '../src/parser.js'`, 'src/check.js': '', 'bench/run.sh': '' },
    command: 'sh bench/run.sh',
    gate: 'node test/a.js && node src/check.js',
    finds: ['program src/check.js'],
  },
  'a program whose time Assay takes itself': {
    files: { 'src/main.js': '' },
    command: 'node src/main.js',
    more: { metric: { name: 'wall_ms', direction: 'minimize' } },
    finds: [],
  },
  'a scorer is the judge, the program is not': {
    files: { 'src/main.js': '', 'src/score.js': '' },
    command: '',
    more: { measure: { command: 'node src/main.js', score: { command: 'node src/score.js' } } },
    finds: ['program src/score.js'],
  },
  'configuration of a runner that a script of package.json starts': {
    files: {
      'package.json': '{"scripts":{"test":"vitest run"}}',
      'vitest.config.ts': '',
      'tsconfig.json': '',
      'test/a.js': '',
      'bench/run.sh': '',
    },
    command: 'sh bench/run.sh',
    gate: 'npm test',
    mutable: ['vitest.config.ts', 'tsconfig.json'],
    finds: ['config vitest.config.ts'],
  },
  'configuration of the build tools of other languages': {
    files: { 'Cargo.toml': '', 'crates/a/build.rs': '', 'bench/run.sh': '' },
    command: 'sh bench/run.sh',
    gate: 'cargo test --offline',
    mutable: ['crates/**'],
    finds: ['config crates/a/build.rs'],
  },
  'the tests of a gate in scope': {
    files: { 'src/main.mjs': '', 'src/main.test.mjs': '', 'bench/run.sh': '' },
    command: 'sh bench/run.sh',
    gate: 'node --test src/',
    finds: ['tests src/main.test.mjs'],
  },
  'a folder in scope that a test runner is given': {
    files: { 'src/main.mjs': '', 'bench/run.sh': '' },
    command: 'sh bench/run.sh',
    gate: 'node --test src/',
    finds: ['tests src/main.mjs'],
  },
  'what a linter looks at is no test, and tests out of scope are safe': {
    files: { 'src/main.py': '', 'tests/test_a.py': '', 'bench/run.sh': '' },
    command: 'sh bench/run.sh',
    gate: 'flake8 src/ && pytest tests',
    finds: [],
  },
  'a variable of the spec that points into scope': {
    files: { 'src/fast.py': '', 'bench/run.py': '' },
    command: 'python3 bench/run.py',
    more: { measure: { command: 'python3 bench/run.py', environment: { set: { PYTHONPATH: 'src' } } } },
    finds: ['environment PYTHONPATH'],
  },
  'a variable in front of a gate': {
    files: { 'src/hook.cjs': '', 'bench/run.sh': '' },
    command: 'sh bench/run.sh',
    gate: 'NODE_OPTIONS="--require ./src/hook.cjs" node bench/check.js',
    finds: ['program src/hook.cjs', 'environment NODE_OPTIONS'],
  },
  'a variable that points elsewhere': {
    files: { 'src/a.py': '', 'lib/b.py': '', 'bench/run.sh': '' },
    command: 'PYTHONPATH=lib:/usr/lib sh bench/run.sh',
    finds: [],
  },
  'the spec in a folder': {
    files: { 'packages/a/bench/run.js': `import '../src/x.js'`, 'packages/a/src/x.js': '' },
    command: 'node bench/run.js',
    prefix: 'packages/a',
    finds: ['in_process packages/a/bench/run.js:1'],
  },
}

test.each(Object.entries(CASES))('%s is reported wrongly', (_name, { finds, ...given }) => {
  expect(exposed(given)).toEqual(finds)
})

test('a mention is reported with the wrong line', () => {
  expect(
    mentionsIn('#!/bin/sh\nif true; then . ./a.sh; fi\n', 'shell').filter(({ how }) => how === 'loads'),
  ).toEqual([{ line: 2, how: 'loads', kind: 'command', text: './a.sh;' }])
  expect(mentionsIn('x = 1\nfrom ..a import b\n', 'python')).toEqual([
    { line: 2, how: 'loads', kind: 'python', module: 'a', dots: 2 },
    { line: 2, how: 'loads', kind: 'python', module: 'a.b', dots: 2 },
  ])
  expect(mentionsIn('\nexport * from "./a"\nawait import("./b")', 'javascript')).toEqual([
    { line: 2, how: 'loads', kind: 'javascript', path: './a' },
    { line: 3, how: 'loads', kind: 'javascript', path: './b' },
  ])
})
