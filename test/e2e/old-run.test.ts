/**
 * A run of the version whose loop was a workflow script, recorded when its driver was killed: in round 2 an agent edited at
 * depth 2 of lane 1, and one read the candidate of lane 2. What its agents had answered is in the journal of the script
 * only.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RUNS } from '../recorded/unpack.ts'
import { dataOf, startAssay } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { repoAt } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { noBubblewrap } from './isolated.ts'
import { type LoopData, sceneOf } from './loop-scene.ts'
import { answers, verdicts } from './number-scene.ts'

/** At another place and on another machine than where it was recorded. */
function unpacked() {
  const folder = makeTemp('old-run')
  execFileSync('tar', ['-xzf', join(RUNS, 'broken-off.tar.gz'), '-C', folder])
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.jsonl?$|^(\.git|gitdir)$/.test(entry.name)) continue
    const file = join(entry.parentPath, entry.name)
    const text = readFileSync(file, 'utf8')
    const here = text
      .replaceAll('/recorded/repo', join(folder, 'repo'))
      .replaceAll('"host":"recorder"', `"host":${JSON.stringify(hostname())}`)
    if (here !== text) writeFileSync(file, here)
  }
  return sceneOf(repoAt(join(folder, 'repo')))
}

test('a run of an earlier version cannot be continued, or pays again for what its ledger has', async ({
  skip,
}) => {
  skip(noBubblewrap !== null, noBubblewrap ?? '')
  const scene = unpacked()
  const host = scriptedHost(
    answers({ implement: '(card) => (write(card, read(card) - card.lane), done("less by " + card.lane))' }),
  )
  const loop = startAssay<LoopData>(['loop', '--json'], {
    cwd: scene.repo.dir,
    env: { SCRIPTED_HOST: host.argv[1] },
  })
  expect(dataOf(await loop.ended)).toMatchObject({ stop: 'budget', best: { value: 92 } })
  const asked = host.calls().map(({ role, card }) => `${role} ${card.round}/${card.lane}/${card.depth}`)
  expect(asked.sort()).toEqual([
    'audit 2/1/2',
    'audit 2/2/1',
    'audit 2/2/2',
    'collect 2/null/null',
    'implement 2/1/2',
    'implement 2/2/2',
    'verify 2/1/2',
    'verify 2/2/1',
    'verify 2/2/2',
  ])
  expect(
    verdicts(scene)
      .map(([, status, value]) => `${value} ${status}`)
      .sort(),
  ).toEqual([
    '100 kept',
    '92 kept',
    '94 kept',
    '94 kept',
    '95 kept',
    '96 kept',
    '97 kept',
    '98 kept',
    '99 kept',
  ])
  expect(scene.eventsOf('round_closed').map(({ round, improved }) => [round, improved])).toEqual([
    [1, true],
    [2, true],
  ])
})
