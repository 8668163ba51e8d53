/**
 * Recorded runs of every kind, and what the reading verbs answered of them when they were recorded. A change of the code
 * must not change an answer about what lies on disk already.
 *
 * `ASSAY_RECORD=all npx vitest run --project slow test/recorded` (or the names of kinds) records the answers again, and runs
 * that are missing: only for an answer that was wrong, or for a new kind.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, type Envelope } from '../rig/assay.ts'
import { isolatedEnv, makeTemp, tempBase } from '../rig/temp.ts'
import { KINDS } from './kinds.ts'
import { RUNS, type Unpacked, unpack } from './unpack.ts'

const RECORD = (process.env.ASSAY_RECORD ?? '').split(',')

type Answers = Record<string, Envelope<unknown> | null>

/** What the machine of the recording is called in the records. */
const ELSEWHERE = 'recorder'
/** The folder of the tests that recorded, in sealed files, and of those that ask. */
const TEMPORARY = /\/[^\s'"]*\/assay-test-[A-Za-z0-9]+/g

/** Where the repository and the state folder of the user lay, in the records. */
const PLACE = '/recorded'

test.each(Object.keys(KINDS))(
  '%s: this version answers differently about a run that is on the disk',
  async (kind) => {
    const file = join(RUNS, `${kind}.json`)
    if (RECORD.includes('all') || RECORD.includes(kind)) {
      if (!existsSync(join(RUNS, `${kind}.tar.gz`))) await record(kind)
      writeFileSync(file, `${JSON.stringify(await answersOf(unpack(kind)), null, 1)}\n`)
    }
    const before: Answers = JSON.parse(readFileSync(file, 'utf8'))
    expect(Object.keys(before).length).toBeGreaterThan(20)
    expect(await answersOf(unpack(kind))).toEqual(before)
  },
)

/** Makes the run and packs what it left, without checkouts; no path or name of this machine stays in a record. */
async function record(kind: string): Promise<void> {
  const repo = await (KINDS[kind] as (typeof KINDS)[string])()
  const folder = makeTemp('packed')
  execFileSync('cp', ['-a', repo.dir, join(folder, 'repo')])
  const state = isolatedEnv().XDG_STATE_HOME as string
  execFileSync('cp', ['-a', state, join(folder, 'state')])
  for (const made of ['m', 'w', '.git/worktrees'])
    rmSync(join(folder, 'repo/.assay', made), { recursive: true, force: true })
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(jsonl?|yaml|txt|md|out|err)$|^state\/assay\/held-out\//.test(path)) continue
    const text = readFileSync(join(folder, path), 'utf8')
    const place = text.replaceAll(repo.dir, `${PLACE}/repo`).replaceAll(state, `${PLACE}/state`)
    const plain = withoutHost(place.replaceAll(tempBase(), PLACE))
    if (plain !== text) writeFileSync(join(folder, path), plain)
  }
  mkdirSync(RUNS, { recursive: true })
  execFileSync('tar', ['-czf', join(RUNS, `${kind}.tar.gz`), '-C', folder, 'repo', 'state'])
}

const withoutHost = (text: string): string =>
  text.replaceAll(`"host":${JSON.stringify(hostname())}`, `"host":${JSON.stringify(ELSEWHERE)}`)

async function answersOf({ repo, env }: Unpacked): Promise<Answers> {
  const answers: Answers = {}
  const ask = async (...args: string[]) => {
    const { stdout } = await assay([...args, '--json'], { cwd: repo, env })
    const plain = stdout.replaceAll(repo, `${PLACE}/repo`).replaceAll(TEMPORARY, PLACE)
    answers[args.join(' ')] = plain === '' ? null : JSON.parse(withoutHost(plain))
  }
  for (const verb of ['status', 'tree', 'frontier', 'discards', 'context', 'report', 'note', 'steer'])
    await ask(verb)
  await ask('meta', 'due')
  await ask('env', 'show')
  const tree = answers.tree as { data: { nodes: { experiment: string }[] } }
  for (const { experiment } of tree.data.nodes) {
    for (const verb of ['show', 'diff', 'path', 'traces', 'context']) await ask(verb, experiment)
    await ask('show', experiment, '--recompute')
  }
  return answers
}
