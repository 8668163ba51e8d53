/** A Node project with a dependency that must be installed and a bundle that must be built. */
import { expect, test } from 'vitest'
import type { Files } from '../../rig/repo.ts'
import { journey, makeKind, refusedInit } from './journey.ts'

const LOCK = {
  name: 'shop',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name: 'shop', dependencies: { squeeze: 'file:vendor/squeeze' } },
    'node_modules/squeeze': { version: '1.0.0', resolved: 'file:vendor/squeeze' },
  },
}

const FILES: Files = {
  '.gitignore': 'node_modules/\ndist/\n',
  // A copy in node_modules, as from a registry, instead of a link.
  '.npmrc': 'install-links=true\n',
  'package.json': JSON.stringify({
    name: 'shop',
    type: 'module',
    dependencies: { squeeze: 'file:vendor/squeeze' },
  }),
  'package-lock.json': JSON.stringify(LOCK),
  'vendor/squeeze/package.json': JSON.stringify({
    name: 'squeeze',
    version: '1.0.0',
    type: 'module',
    exports: './index.js',
  }),
  'vendor/squeeze/index.js': 'export const squeeze = (text) => text.replace(/^ +/gm, "")\n',
  'build.mjs': `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { squeeze } from 'squeeze'
mkdirSync('dist', { recursive: true })
writeFileSync('dist/app.js', squeeze(readFileSync('src/app.js', 'utf8')))
`,
  'src/app.js': 'export function twice(n) {\n    const result = n + n\n    return result\n}\n',
  'bench/bytes.mjs': `import { statSync } from 'node:fs'
const { twice } = await import('../dist/app.js')
if (twice(21) !== 42) throw new Error('wrong answer')
console.log('METRIC bytes=' + statSync('dist/app.js').size)
`,
}

const SPEC = {
  worktree: {
    setup: {
      command: 'npm ci --offline --no-audit --no-fund --no-update-notifier',
      inputs: ['package-lock.json'],
      timeout: '2m',
    },
    build: { command: 'node build.mjs', timeout: '30s' },
  },
  measure: { command: 'node bench/bytes.mjs' },
  metric: { name: 'bytes', direction: 'minimize' },
}

test('a candidate is measured without its own build, or with dependencies of a different checkout', async () => {
  const project = makeKind({ files: FILES, spec: SPEC })
  await journey(project, {
    baseline: 64,
    edit: { 'src/app.js': 'export const twice = (n) => n + n\n' },
    value: 34,
  })
  const broken = await project.attempt({ 'src/app.js': 'export const twice = (n) => n\n' })
  expect(broken).toMatchObject({ status: 'failed', reason: 'crash' })
})

test('a build or a dependency that was forgotten is not reported as such', async () => {
  const unbuilt = await refusedInit(makeKind({ files: FILES, spec: { ...SPEC, worktree: {} } }))
  expect(unbuilt.code).toBe('baseline_failed')
  expect(unbuilt.message).toContain('exit 1: Error [ERR_MODULE_NOT_FOUND]: Cannot find module')
  expect(unbuilt.hint).toContain('worktree.build')

  const { build } = SPEC.worktree
  const uninstalled = await refusedInit(makeKind({ files: FILES, spec: { ...SPEC, worktree: { build } } }))
  expect(uninstalled.code).toBe('baseline_failed')
  expect(uninstalled.message).toContain(
    "the build failed: exit 1: Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'squeeze'",
  )
  expect(uninstalled.at).toContain("Cannot find package 'squeeze'")
  expect(uninstalled.hint).toContain('worktree.setup')
})
