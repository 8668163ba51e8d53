import { spawn } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { execute } from '../../cli/process.ts'
import { scriptedBenchmark } from './benchmark.ts'
import { scriptedHost } from './host.ts'
import { makeRepo } from './repo.ts'
import { snapshotTree } from './snapshot.ts'
import { isolatedEnv, makeTemp } from './temp.ts'
import { until } from './until.ts'

test('a repository has the caller’s identity or configuration, or not the commits asked for', () => {
  const repo = makeRepo({
    files: { 'a.txt': 'one\n', 'bin/run': { text: '#!/bin/sh\n', mode: 0o755 } },
    commits: [{ 'a.txt': 'two\n' }],
  })
  expect(repo.git('log', '--format=%an <%ae> %s')).toBe(
    'Rig <rig@example.invalid> commit 2\nRig <rig@example.invalid> first',
  )
  expect(repo.git('ls-files', '--stage', 'bin/run')).toMatch(/^100755 /)
  expect(repo.git('config', '--list', '--global')).toBe('')
  expect(repo.git('status', '--porcelain')).toBe('')
  expect(repo.read('a.txt')).toBe('two\n')
})

test('a snapshot misses a change of content, mode, link, or an empty folder', () => {
  const dir = makeTemp()
  mkdirSync(join(dir, 'sub'))
  writeFileSync(join(dir, 'sub', 'file'), 'a')
  symlinkSync('sub/file', join(dir, 'link'))
  const before = snapshotTree(dir)
  expect(Object.keys(before)).toEqual(['link', 'sub', 'sub/file'])
  expect(snapshotTree(dir)).toEqual(before)
  writeFileSync(join(dir, 'sub', 'file'), 'b')
  expect(snapshotTree(dir)['sub/file']).not.toBe(before['sub/file'])
  writeFileSync(join(dir, 'sub', 'file'), 'a')
  chmodSync(join(dir, 'sub', 'file'), 0o600)
  expect(snapshotTree(dir)['sub/file']).not.toBe(before['sub/file'])
  mkdirSync(join(dir, 'empty'))
  expect(Object.keys(snapshotTree(dir, { except: ['sub'] }))).toEqual(['empty', 'link'])
})

test('the benchmark cannot be steered, or its starts are not seen', async () => {
  const benchmark = scriptedBenchmark()
  const repo = makeRepo({ files: { 'bench/run.mjs': benchmark.source, 'src/number.txt': '12\n' } })
  const run = () =>
    execute({
      argv: [process.execPath, 'bench/run.mjs'],
      cwd: repo.dir,
      env: { ...repo.env, ASSAY_SEED: '7' },
    })
  const first = await run()
  expect([first.code, String(first.stdout)]).toEqual([0, 'METRIC ms=12\n'])
  benchmark.behave({ noise: [100, 0.5], exit: 3 })
  const second = await run()
  expect([second.code, String(second.stdout)]).toEqual([3, 'METRIC ms=12.5\n'])
  benchmark.behave({ hold: true, print: 'nothing' })
  const held = run()
  await benchmark.started(3)
  benchmark.release()
  expect(String((await held).stdout)).toBe('nothing\n')
  expect(benchmark.starts().map(({ cwd, env }) => [cwd, env.ASSAY_SEED])).toEqual([
    [repo.dir, '7'],
    [repo.dir, '7'],
    [repo.dir, '7'],
  ])
})

test('the host does not take the last task card, or hides that it has no answer', async () => {
  const host = scriptedHost(`export default { builder: (card) => ({ lane: card.lane }), '*': () => 'text' }`)
  const card = (body: object) => `\`\`\`json\n${JSON.stringify(body)}\n\`\`\`\n`
  const ask = (prompt: string) =>
    execute({ argv: [host.argv[0], host.argv[1]], input: prompt, env: isolatedEnv() })
  const prompt = `Do it.\n${card({ role: 'decoy' })}\n${card({ role: 'builder', lane: 2 })}`
  expect(String((await ask(prompt)).stdout)).toBe('{"lane":2}\n')
  expect(String((await ask(card({ role: 'verify' }))).stdout)).toBe('text\n')
  host.answer('export default {}')
  expect((await ask(card({ role: 'verify' }))).code).toBe(2)
  expect((await ask('no card')).code).toBe(2)
  expect(host.calls().map(({ role }) => role)).toEqual(['builder', 'verify', 'verify'])
})

test('waiting continues for ever, or misses what a different process does', async () => {
  const dir = makeTemp()
  const file = join(dir, 'log')
  appendFileSync(file, '')
  const child = spawn(process.execPath, ['-e', `require('fs').appendFileSync(${JSON.stringify(file)}, 'x')`])
  await until(() => Object.values(snapshotTree(dir)).some((entry) => entry.includes('2d711642b726b044')), {
    what: 'an x in the file',
    dir,
  })
  await new Promise((resolve) => (child.exitCode === null ? child.on('exit', resolve) : resolve(null)))
  await expect(until(() => false, { what: 'nothing', limitMs: 1 })).rejects.toThrow('in vain for nothing')
})
