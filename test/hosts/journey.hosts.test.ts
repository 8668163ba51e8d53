import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeRepo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { discover, finish, optimize, PROJECT, report, type Seen } from './real/journey.ts'
import { openSession } from './real/session.ts'

const STEPS = { discover, optimize, report, finish }

test.each(['claude-code', 'codex', 'pi'] as const)(
  '%s: a skill is not read, one of its commands does not work, or the pull-request text is wrong',
  async (host) => {
    const repo = makeRepo({ files: PROJECT })
    const head = repo.git('rev-parse', 'HEAD')
    const session = await openSession(host, repo)
    const seen: Seen = {}
    for (const [name, script] of Object.entries(STEPS)) {
      const asks = await session.play(session.skill(name), () => script(session.shell, seen))
      expect(JSON.stringify(asks[0]?.turns), name).toContain(principleOf(name))
    }
    expect(seen.version).toContain(JSON.parse(readFileSync('plugin.json', 'utf8')).version)
    expect(seen.shortcut).toMatchObject({ passed: false })
    expect(seen.worse).toMatchObject({ passed: true, value: 82 })
    expect(seen.check).toMatchObject({ passed: true })
    expect(seen.verdict).toMatchObject({ event: 'judged', status: 'kept', value: 9 })
    expect(seen.stop).toBe('budget')
    expect(seen.reported).toContain('exp_0003')

    const { branch, base, text, commits } = seen.finished ?? {}
    expect([branch, base, commits?.length]).toEqual(['small', head, 2])
    const [, before, after] = /\| bytes \(minimize\) \| (\S+) \| (\S+) /.exec(text ?? '') ?? []
    const [built, winner] = repo.git('rev-list', '--reverse', `${head}..small`).split('\n')
    expect([measure(repo.dir, built), measure(repo.dir, winner)]).toEqual([`${before}`, `${after}`])
    // Nothing of the user's moved.
    expect([repo.git('rev-parse', 'HEAD'), repo.git('status', '--porcelain')]).toEqual([
      head,
      '?? assay.yaml',
    ])
  },
)

/** The sentence that a skill begins with. */
function principleOf(skill: string): string {
  const found = /\*\*Principle: ([^\n]+?)\*\*/.exec(readFileSync(join('skills', skill, 'SKILL.md'), 'utf8'))
  if (found?.[1] === undefined) throw new Error(`${skill} has no principle`)
  return found[1]
}

/** Apart from Assay: what the benchmark of that commit says in a new clone. */
function measure(repository: string, commit = ''): string {
  const clone = join(makeTemp('clone'), 'repo')
  execFileSync('git', ['clone', '--quiet', '--no-checkout', repository, clone])
  execFileSync('git', ['checkout', '--quiet', commit], { cwd: clone })
  const printed = execFileSync(process.execPath, ['bench/run.mjs'], { cwd: clone, encoding: 'utf8' })
  return /METRIC bytes=(\d+)/.exec(printed)?.[1] ?? printed
}
