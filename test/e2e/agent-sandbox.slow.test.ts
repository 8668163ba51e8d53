/** Agents with `agent.sandbox: true`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { makeTemp } from '../rig/temp.ts'
import { isolated } from './isolated.ts'
import { openScene } from './loop-scene.ts'
import { answers, numberFiles, numberSpec, verdicts } from './number-scene.ts'

isolated('an agent in its sandbox', () => {
  test('edits what is not its own, reads held-out data, or cannot edit and commit in its worktree', async () => {
    const secret = join(makeTemp('secret'), 'cases.txt')
    writeFileSync(secret, 'held-out')
    const implement = `async (card) => {
      const { execFileSync } = await import('node:child_process')
      const tried = []
      const attempt = (what, act) => {
        try {
          if (act() !== '') tried.push(what)
        } catch {}
      }
      const top = card.worktree.replace(/\\/\\.assay\\/.*/, '')
      attempt('the checkout', () => writeFileSync(top + '/src/number.txt', '1'))
      attempt('the state', () => writeFileSync(top + '/.assay/planted', '1'))
      attempt('the ledger', () => appendFileSync(top + '/.assay/runs/run_0001/ledger.jsonl', '{}'))
      attempt('held-out data', () => readFileSync(${JSON.stringify(secret)}, 'utf8'))
      const answer = implement(card)
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'mine'], { cwd: card.worktree })
      return { ...answer, hypothesis: 'tried: ' + tried.join(', ') }
    }`
    const host = scriptedHost(answers({ implement }))
    const spec = numberSpec(host, { agent: { sandbox: true }, budget: { experiments: 1 } })
    const scene = await openScene(numberFiles, spec, ['--holdout', secret])
    dataOf(await scene.loop())
    expect(verdicts(scene).at(-1)).toEqual(['exp_0001', 'kept', 99])
    expect(JSON.stringify(scene.events())).not.toContain('tried: the')
    expect(JSON.stringify(scene.events())).not.toContain('held-out data')
    expect(JSON.stringify(scene.events())).toContain('tried: ')
    expect(readFileSync(scene.repo.path('src/number.txt'), 'utf8')).toBe('100\n')
    expect(existsSync(scene.repo.path('.assay/planted'))).toBe(false)
  })
})
