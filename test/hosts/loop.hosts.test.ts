import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { programNames } from '../../cli/hosts/registry.ts'
import { binFolders } from '../../scripts/install-hosts.mjs'
import { type LoopData, openScene, processesIn } from '../e2e/loop-scene.ts'
import { writeFiles } from '../e2e/project.ts'
import { ASSAY_BIN, dataOf, startAssay } from '../rig/assay.ts'
import { TOKENS } from '../rig/model-dialects.ts'
import { startModel } from '../rig/model-server.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { player } from './real/player.ts'
import { WIRINGS } from './real/wiring.ts'

/** What is left of 101 after the gains of all files in `src`; the first file gains 1. */
const BENCH = `import { readdirSync, readFileSync } from 'node:fs'
const gains = readdirSync('src').map((name) => Number(readFileSync('src/' + name, 'utf8')))
console.log('METRIC ms=' + (101 - gains.reduce((sum, gain) => sum + gain, 0)))
`

test.each(programNames)(
  '%s: a round is lost, a finding is not repaired, an error is not retried, usage is not counted, or read-only agents can write',
  async (name) => {
    const wiring = WIRINGS[name]
    // Not in the folder for temporary files: Codex makes no helper programs there, and its sandbox needs one.
    const home = mkdtempSync('/var/tmp/assay-test-')
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const bin = makeTemp('bin')
    writeFileSync(join(bin, 'assay'), `#!/bin/sh\nexec '${process.execPath}' '${ASSAY_BIN}' "$@"\n`, {
      mode: 0o755,
    })
    const scene = await openScene(
      { 'src/base.txt': '1', 'bench/run.mjs': BENCH },
      {
        version: 1,
        name: 'gains',
        goal: 'Make the number small.',
        scope: { mutable: ['src/**'], immutable: ['bench/**'] },
        measure: { command: [process.execPath, 'bench/run.mjs'] },
        metric: { name: 'ms', direction: 'minimize' },
        noise: { mode: 'deterministic', calibrate: 2 },
        loop: { width: 1, depth: 1 },
        budget: { experiments: 20 },
        agent: {
          host: name,
          timeout: '2m',
          model: wiring.models.plain,
          roles: { hard: { model: wiring.models.strong } },
        },
      },
    )
    // Some programs let anyone write below /tmp, and the repository of the test may be there as well.
    const elsewhere = mkdtempSync('/var/tmp/assay-test-')
    onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }))
    const outside = join(elsewhere, 'escaped.txt')
    const script = player(wiring, outside)
    const model = await startModel(script.reply)
    // A login shell, which some programs start, makes its PATH anew.
    const profile = `export PATH='${bin}':"$PATH"\n`
    writeFiles(home, { '.profile': profile, '.bash_profile': profile, ...wiring.files?.(model.url) })
    const loop = await startAssay<LoopData>(['loop', '--json', '--rounds', '2'], {
      cwd: scene.repo.dir,
      env: {
        HOME: home,
        XDG_CONFIG_HOME: join(home, '.config'),
        XDG_CACHE_HOME: join(home, '.cache'),
        XDG_DATA_HOME: join(home, '.local/share'),
        PATH: [bin, ...binFolders(), process.env.PATH].join(delimiter),
        TERM: 'dumb',
        ...wiring.env(model.url, home),
      },
    }).ended
    expect(dataOf(loop)).toMatchObject({ rounds: 2, best: { experiment: 'exp_0001', value: 80 } })
    expect(
      scene.eventsOf('judged').map(({ experiment, status, value }) => [experiment, status, value]),
    ).toEqual([
      ['exp_0000', 'kept', 100],
      ['exp_0001', 'kept', 80],
      ['exp_0002', 'rejected', 85],
    ])
    const calls = scene.eventsOf('usage')
    expect(calls.map(({ role, outcome }) => `${role} ${outcome}`)).toEqual([
      'brief ok',
      wiring.patient ? 'implement failed' : 'implement retry_after',
      'implement ok',
      'verify ok',
      'revise ok',
      'verify ok',
      'audit ok',
      'collect ok',
      'scan ok',
      'brief ok',
      'implement ok',
      'verify ok',
      'collect ok',
    ])
    expect(new Set(calls.map(({ host }) => host))).toEqual(new Set([name]))
    for (const { role, outcome, usage } of calls) {
      if (outcome !== 'ok') continue
      const steps = { implement: 3, revise: 2, verify: 2, audit: wiring.shell === null ? 1 : 2 }[role] ?? 1
      expect([role, usage.tokens_in, usage.tokens_out]).toEqual([role, steps * TOKENS.in, steps * TOKENS.out])
    }
    const models = new Set(script.asked().map((ask) => `${ask.role} ${ask.model.split('/').at(-1)}`))
    const named = (model: string) => model.split('/').at(-1)
    expect([...models].sort()).toEqual(
      ['audit', 'brief', 'collect', 'scan', 'verify']
        .map((role) => `${role} ${named(wiring.models.plain)}`)
        .concat(['implement', 'revise'].map((role) => `${role} ${named(wiring.models.strong)}`))
        .sort(),
    )
    if (wiring.shell !== null) expect(script.context()).toContain('Make the number small.')
    expect(existsSync(outside)).toBe(!wiring.fenced)
    await until(() => processesIn(home).length === 0, { what: `${name} to leave no process behind` })
  },
)
