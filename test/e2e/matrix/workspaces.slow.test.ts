/** npm workspaces: the link of a package must lead into the checkout that is measured, not into the user's own. */
import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Files } from '../../rig/repo.ts'
import { journey, makeKind, refusedInit } from './journey.ts'

const manifest = (value: object) => `${JSON.stringify(value)}\n`

const FILES: Files = {
  '.gitignore': 'node_modules/\n',
  'package.json': manifest({ name: 'root', private: true, workspaces: ['packages/*'] }),
  'package-lock.json': manifest({
    name: 'root',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'root', workspaces: ['packages/*'] },
      'node_modules/@demo/app': { resolved: 'packages/app', link: true },
      'node_modules/@demo/sums': { resolved: 'packages/sums', link: true },
      'packages/app': { name: '@demo/app', version: '1.0.0', dependencies: { '@demo/sums': '1.0.0' } },
      'packages/sums': { name: '@demo/sums', version: '1.0.0' },
    },
  }),
  'packages/app/package.json': manifest({
    name: '@demo/app',
    version: '1.0.0',
    type: 'module',
    dependencies: { '@demo/sums': '1.0.0' },
  }),
  'packages/app/bench.js': `import { sumTo, steps } from '@demo/sums'
if (sumTo(100) !== 5050) throw new Error('wrong sum')
console.log('METRIC steps=' + steps())
`,
  'packages/sums/package.json': manifest({
    name: '@demo/sums',
    version: '1.0.0',
    type: 'module',
    exports: './index.js',
  }),
  'packages/sums/index.js': `let count = 0
export const steps = () => count
export function sumTo(n) {
  let sum = 0
  for (let i = 1; i <= n; i++, count++) sum += i
  return sum
}
`,
}

const BETTER: Files = {
  'packages/sums/index.js': `let count = 0
export const steps = () => count
export function sumTo(n) {
  count++
  return (n * (n + 1)) / 2
}
`,
}

const INSTALL = 'npm ci --offline --no-audit --no-fund --no-update-notifier'

const SPEC = {
  scope: { mutable: ['packages/sums/**'], immutable: ['packages/app/**'] },
  measure: { command: 'node packages/app/bench.js' },
  metric: { name: 'steps', direction: 'minimize' },
}

test('the link of a workspace leads to the main checkout, so that every candidate measures the same code', async () => {
  const setup = { command: INSTALL, inputs: ['package-lock.json', 'packages/*/package.json'], timeout: '2m' }
  const project = makeKind({ files: FILES, spec: { ...SPEC, worktree: { setup } } })
  execFileSync('/bin/sh', ['-c', INSTALL], { cwd: project.repo.dir, env: project.repo.env })
  await journey(project, {
    baseline: 100,
    edit: BETTER,
    value: 1,
    inWorktree: (folder) => {
      const link = realpathSync(join(folder, 'node_modules/@demo/sums'))
      expect(link).toBe(join(realpathSync(folder), 'packages/sums'))
    },
  })
})

test('a forgotten install with links in the main checkout is not reported', async () => {
  const project = makeKind({ files: FILES, spec: SPEC })
  execFileSync('/bin/sh', ['-c', INSTALL], { cwd: project.repo.dir, env: project.repo.env })
  const problem = await refusedInit(project)
  expect(problem.message).toContain('does not read')
})
