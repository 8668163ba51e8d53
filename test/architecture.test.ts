import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Message } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { belongsTo, LAYERS, PURE } from './architecture/layers.ts'
import { type Module, readModule } from './architecture/modules.ts'
import { RULES, type Rule, TEST_RULES } from './architecture/rules.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const modulesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path}`)
    .sort()
    .map((file) => readModule(file, readFileSync(join(ROOT, file), 'utf8')))

const modules = modulesIn('cli')
const tests = modulesIn('test')

const SCRIPTS = readdirSync(join(ROOT, 'scripts'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.m?[jt]s$/.test(path))
  .map((path) => ({ file: `scripts/${path}`, text: readFileSync(join(ROOT, 'scripts', path), 'utf8') }))

/** The type checker does not read scripts; the bundler knows each name that a module exports. */
async function missingImports(entryPoints: string[]): Promise<string[]> {
  const options = { bundle: true, write: false, outdir: ROOT, logLevel: 'silent', platform: 'node' } as const
  const errors = await build({ ...options, entryPoints, format: 'esm', packages: 'external' }).then(
    () => [],
    ({ errors }: { errors: Message[] }) => errors,
  )
  return errors.map(({ text, location }) => `${location?.file}: ${text}`)
}

const brokenIn = (rule: Rule, inspected: Module[]) =>
  rule(inspected).map(({ file, line, message }) => `${file}:${line} ${message}`)

describe('the house', () => {
  test.each(Object.entries(RULES))('a module of the CLI breaks the rule %s', (_, rule) => {
    expect(brokenIn(rule, modules)).toEqual([])
  })

  test.each(Object.entries(TEST_RULES))('a test breaks the rule %s', (_, rule) => {
    expect(brokenIn(rule, tests)).toEqual([])
  })

  test('the rules look at no files', () => {
    expect(modules.map(({ file }) => file)).toContain('cli/main.ts')
    expect(tests.map(({ file }) => file)).toContain('test/main.test.ts')
  })

  test('a script names a module of the CLI that is not there', () => {
    const named = SCRIPTS.flatMap((script) =>
      [...script.text.matchAll(/\bcli\/[\w/-]+\.ts\b/g)].map(([path]) => ({ script: script.file, path })),
    )
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter(({ path }) => !modules.some(({ file }) => file === path))).toEqual([])
  })

  test('a script takes a name from a module of the CLI that does not export it', async () => {
    const importers = SCRIPTS.filter(({ text }) => / from '[./]+\/cli\/[\w/-]+\.ts'$/m.test(text))
    expect(importers.map(({ file }) => file)).toContain('scripts/bench/decisions/session.mjs')
    expect(await missingImports(importers.map(({ file }) => join(ROOT, file)))).toEqual([])
  })

  test('the map of AGENTS.md names a folder or file that does not exist', () => {
    const known = [...LAYERS.flat(), ...PURE]
    expect(known.filter((name) => !modules.some(({ file }) => belongsTo(file, name)))).toEqual([])
  })
})

/** Rule → sources that break it, each with the files that must be named. */
const PLANTED: Record<string, { why: string; files: Record<string, string>; caught: string[] }[]> = {
  direction: [
    {
      why: 'an import upwards',
      files: { 'cli/run/a.ts': `import { b } from '../experiment/b.ts'` },
      caught: ['cli/run/a.ts'],
    },
    {
      why: 'a sibling',
      files: { 'cli/git/a.ts': `export { b } from '../evaluate/b.ts'` },
      caught: ['cli/git/a.ts'],
    },
    {
      why: 'only a type',
      files: { 'cli/search/a.ts': `import type { B } from '../spec/b.ts'` },
      caught: ['cli/search/a.ts'],
    },
    {
      why: 'an inline type',
      files: { 'cli/ledger/a.ts': `type B = import('../run/b.ts').B` },
      caught: ['cli/ledger/a.ts'],
    },
    {
      why: 'a lazy import',
      files: { 'cli/loop/a.ts': `const b = () => import('../verbs/b.ts')` },
      caught: ['cli/loop/a.ts'],
    },
    { why: 'a folder without a layer', files: { 'cli/extra/a.ts': '' }, caught: ['cli/extra/a.ts'] },
    {
      why: 'a file outside cli',
      files: { 'cli/run/a.ts': `import '../../scripts/build.mjs'` },
      caught: ['cli/run/a.ts'],
    },
  ],
  selfContained: [
    {
      why: 'a lower layer, and a type of one',
      files: {
        'cli/workflow/a.ts': `import { redact } from '../redact.ts'`,
        'cli/workflow/b.ts': `import type { Tell } from '../notices.ts'`,
        'cli/workflow/c.ts': `import { execute } from '../process.ts'\nimport { problemOf } from '../result/issues.ts'\nimport './a.ts'`,
      },
      caught: ['cli/workflow/a.ts', 'cli/workflow/b.ts'],
    },
  ],
  cycles: [
    {
      why: 'a cycle of three, by types',
      files: {
        'cli/run/a.ts': `import { b } from './b.ts'`,
        'cli/run/b.ts': `export type { C } from './c.ts'`,
        'cli/run/c.ts': `import type { A } from './a.ts'`,
        'cli/run/d.ts': `import { a } from './a.ts'`,
      },
      caught: ['cli/run/a.ts', 'cli/run/b.ts', 'cli/run/c.ts'],
    },
    {
      why: 'a cycle inside of one folder, by a lazy import',
      files: {
        'cli/verbs/a.ts': `const b = () => import('./b.ts')`,
        'cli/verbs/b.ts': `import { a } from './a.ts'`,
      },
      caught: ['cli/verbs/a.ts', 'cli/verbs/b.ts'],
    },
  ],
  purity: [
    {
      why: 'the file system',
      files: { 'cli/search/a.ts': `import { readFileSync } from 'node:fs'` },
      caught: ['cli/search/a.ts'],
    },
    {
      why: 'the clock',
      files: { 'cli/evaluate/stats.ts': 'const a = Date.now()' },
      caught: ['cli/evaluate/stats.ts'],
    },
    {
      why: 'the clock, as a date',
      files: { 'cli/ledger/state.ts': 'const a = new Date()' },
      caught: ['cli/ledger/state.ts'],
    },
    {
      why: 'randomness',
      files: { 'cli/search/a.ts': 'const a = Math.random()' },
      caught: ['cli/search/a.ts'],
    },
    {
      why: 'the environment',
      files: { 'cli/spec/rules.ts': 'const a = process.env.A' },
      caught: ['cli/spec/rules.ts'],
    },
    {
      why: 'a global handed on',
      files: { 'cli/view/explain.ts': 'const a = [performance]' },
      caught: ['cli/view/explain.ts'],
    },
    {
      why: 'an impure module of ours',
      files: {
        'cli/spec/rules/a.ts': `import { a } from '../read.ts'`,
        'cli/spec/read.ts': `import 'node:fs'`,
      },
      caught: ['cli/spec/read.ts'],
    },
  ],
  spawning: [
    {
      why: 'a spawner',
      files: { 'cli/git/a.ts': `import { spawn } from 'node:child_process'` },
      caught: ['cli/git/a.ts'],
    },
    {
      why: 'a lazy spawner',
      files: { 'cli/main.ts': `const a = await import('child_process')` },
      caught: ['cli/main.ts'],
    },
  ],
  appending: [
    {
      why: 'a reader that appends',
      files: { 'cli/view/a.ts': `import { appendLine } from '../ledger/append.ts'` },
      caught: ['cli/view/a.ts'],
    },
    {
      why: 'a command that proposes',
      files: { 'cli/verbs/a.ts': `export const a = (ledger) => ledger.propose<'noted'>({})` },
      caught: ['cli/verbs/a.ts'],
    },
  ],
  openRuns: [
    {
      why: 'a module that looks back, and a low layer',
      files: {
        'cli/measure/samples.ts': `import type { OpenRun } from '../run/open.ts'`,
        'cli/measure/seal.ts': `import type { OpenRun, RunRecord } from '../run/open.ts'`,
        'cli/measure/cost.ts': `import type { RunRecord } from '../run/open.ts'`,
        'cli/git/a.ts': `import { open, type OpenRun } from '../run/open.ts'`,
      },
      caught: ['cli/measure/samples.ts', 'cli/git/a.ts'],
    },
  ],
  packages: [
    {
      why: 'a package in the wrong folder',
      files: { 'cli/run/a.ts': `import { parse } from 'yaml'` },
      caught: ['cli/run/a.ts'],
    },
    {
      why: 'an unknown package',
      files: { 'cli/spec/a.ts': `import x from '@scope/x/y'` },
      caught: ['cli/spec/a.ts'],
    },
    {
      why: 'a library for what is neither measured nor judged, where something is',
      files: {
        'cli/measure/a.ts': `import { execa } from 'execa'`,
        'cli/git/seal.ts': `const { simpleGit } = await import('simple-git')`,
        'cli/git/porcelain.ts': `const { simpleGit } = await import('simple-git')`,
      },
      caught: ['cli/measure/a.ts', 'cli/git/seal.ts'],
    },
  ],
  printing: [
    {
      why: 'a module that prints',
      files: { 'cli/run/a.ts': `process.stdout.write('a')` },
      caught: ['cli/run/a.ts'],
    },
    { why: 'a forgotten console.log', files: { 'cli/git/a.ts': 'console.log(1)' }, caught: ['cli/git/a.ts'] },
  ],
  gitting: [
    {
      why: 'git as a command',
      files: { 'cli/experiment/a.ts': `run({ argv: ['git', 'status'] })` },
      caught: ['cli/experiment/a.ts'],
    },
  ],
  statePaths: [
    { why: 'a path', files: { 'cli/run/a.ts': `join(root, '.assay', 'runs')` }, caught: ['cli/run/a.ts'] },
    {
      why: 'a template',
      files: { 'cli/git/a.ts': `const a = \`\${root}/.assay/w\`` },
      caught: ['cli/git/a.ts'],
    },
  ],
  names: [
    { why: 'a file', files: { 'cli/run/utils.ts': '' }, caught: ['cli/run/utils.ts'] },
    { why: 'a folder', files: { 'cli/run/core/a.ts': '' }, caught: ['cli/run/core/a.ts'] },
  ],
  homonyms: [
    {
      why: 'one name for a type and a function elsewhere',
      files: {
        'cli/run/a.ts': 'export interface Claim {}',
        'cli/git/b.ts': 'export function Claim() {}',
        'cli/git/c.ts': `export { Claim } from './b.ts'`,
        'cli/git/d.ts': 'const Claim = 1',
      },
      caught: ['cli/run/a.ts', 'cli/git/b.ts'],
    },
  ],
  faultNames: [
    {
      why: 'it, alone, with others or renamed, and test',
      files: {
        'test/a.test.ts': `import { it } from 'vitest'`,
        'test/run/b.test.ts': `import { describe, expect, it, test } from 'vitest'`,
        'test/run/c.ts': `import { it as test } from 'vitest'`,
        'test/run/d.test.ts': `import { describe, expect, test } from 'vitest'`,
      },
      caught: ['test/a.test.ts', 'test/run/b.test.ts', 'test/run/c.ts'],
    },
  ],
}

const ALL_RULES = { ...RULES, ...TEST_RULES }

describe('a rule that would not notice', () => {
  const cases = Object.entries(PLANTED).flatMap(([rule, plants]) =>
    plants.map((plant) => ({ rule, ...plant })),
  )
  test.each(cases)('$rule: $why', ({ rule, files, caught }) => {
    const planted = Object.entries(files).map(([file, text]) => readModule(file, text))
    expect(ALL_RULES[rule]?.(planted).map((violation) => violation.file)).toEqual(caught)
  })

  test('a rule is never seen to fail, because no violation of it is planted', () => {
    expect(Object.keys(PLANTED).sort()).toEqual(Object.keys(ALL_RULES).sort())
  })

  test('a rule refuses an import that is allowed', () => {
    const allowed = {
      'cli/loop/a.ts': `import { propose } from '../ledger/ledger.ts'\nimport type { Spec } from '../spec/spec.ts'`,
      'cli/spec/read.ts': `import { parse } from 'yaml'\nimport { readFileSync } from 'node:fs'`,
      'cli/verbs/modules.ts': `const load = () => import('./status.ts')`,
      'cli/verbs/status.ts': `import type { A } from '../terminal/command.ts'\nprocess.stdout.write('a')`,
      'cli/search/a.ts': `import type { A } from '../ledger/ledger.ts'\nconst at = new Date(0), o = { process: 1 }, b = o.process`,
      'cli/verbs/new.ts':
        'export function run(a: 1): void\nexport function run(a: 2): void\nexport function run() {}',
      'cli/verbs/tree.ts': 'export const run = 1',
      'cli/git/a.ts': `run(['git', 'status'])\nconst name = 'x.assay'`,
    }
    const planted = Object.entries(allowed).map(([file, text]) => readModule(file, text))
    expect(Object.values(ALL_RULES).flatMap((rule) => rule(planted))).toEqual([])
  })
})
