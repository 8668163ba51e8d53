/** Deaths at random moments of one long run; the seeds are fixed, and what is killed when is printed at a failure. */
import { describe, expect, test } from 'vitest'
import { candidatesIn, type LoopData, openScene, type Scene, tuneFiles, tuneSpec } from '../e2e/loop-scene.ts'
import {
  makeProject,
  ms,
  type NewData,
  type Project,
  type RunData,
  type StatusData,
  writeFiles,
} from '../e2e/project.ts'
import { assay, dataOf } from '../rig/assay.ts'
import { type Crash, crash, type MomentDeath } from '../rig/crash.ts'
import { NOTHING_LOST, takeToll } from './toll.ts'

/** mulberry32: the same numbers from the same seed, on every machine. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const pick = <T>(random: (below: number) => number, choices: readonly [T, ...T[]]): T =>
  choices[random(choices.length)] ?? choices[0]

interface Bowl {
  scene: Scene
}

async function bowl(experiments: number): Promise<Bowl> {
  return { scene: await openScene(tuneFiles, tuneSpec({ budget: { experiments }, loop: { stall: 50 } })) }
}

interface Killing {
  seed: number
  kills: number
  /** Moments from the start of a command to its death, at most. */
  span: number
  who: readonly [MomentDeath['who'], ...MomentDeath['who'][]]
}

/** Each way of dying, and what differs. */
const KILLINGS: Record<string, { experiments: number; killing: Killing }> = {
  'with all that it started, or without it': {
    // Workers that outlive their loop go on: enough is left for the last kill however late the next loop starts.
    experiments: 18,
    killing: { seed: 7, kills: 20, span: 120, who: ['all', 'root'] },
  },
  // The loop lives on while its commands, its workers and whoever else is Assay's own die one at a time. A sample dies
  // with its worker only: a benchmark that somebody else kills is a crash, since nothing tells it from one.
  'one process at a time': {
    experiments: 10,
    killing: { seed: 4, kills: 10, span: 200, who: ['one'] },
  },
}

/** Starts the loop again and again until so many have died, then lets it come to its end. */
async function killed({ scene }: Bowl, { seed, kills, span, who }: Killing) {
  const random = randomFrom(seed)
  const crashes: Crash[] = []
  for (let died = 0; ; ) {
    let moment = 0
    const deaths = Array.from({ length: kills - died }, (): MomentDeath => {
      moment += 1 + random(span)
      return { moment, how: pick(random, ['before', 'torn', 'after']), who: pick(random, who) }
    })
    const crashing = crash(deaths)
    const ran = await assay<LoopData>(['loop', '--json'], { cwd: scene.repo.dir, env: crashing.env })
    crashes.push(crashing)
    died += crashing.deaths()
    if (ran.signal !== 'SIGKILL') return { crashes, died, rest: dataOf(ran) }
  }
}

describe('a loop of tune', () => {
  test.for(Object.entries(KILLINGS))(
    'killed at random (%s), it comes to different verdicts or a different best, loses a line, or pays twice',
    async ([, { experiments, killing }], context) => {
      const [undisturbed, disturbed] = [await bowl(experiments), await bowl(experiments)]
      const expected = dataOf(await undisturbed.scene.loop())
      const { crashes, died, rest } = await killed(disturbed, killing)
      console.log(`seed ${killing.seed}: ${died} kills in ${crashes.length} loops`)
      expect(candidatesIn(disturbed.scene)).toEqual(candidatesIn(undisturbed.scene))
      const outcome = ({ stop, best, counts }: LoopData) => [stop, best?.value, counts]
      expect(outcome(rest)).toEqual(outcome(expected))
      expect(died).toBe(killing.kills)
      expect(await takeToll(context, { repo: disturbed.scene.repo, crashes })).toEqual(NOTHING_LOST)
    },
  )
})

describe('three who work by hand at once', () => {
  const LANES = 3
  const SEED = 20_260_101

  interface Lane {
    verdicts: string[]
    crashes: Crash[]
    died: number
  }

  /** Tries idea after idea; each command is repeated until it lives. `enough` says when to stop before the next idea. */
  async function work(
    project: Project,
    lane: number,
    kills: number,
    enough: (lane: Lane) => boolean,
  ): Promise<Lane> {
    const random = randomFrom(SEED + lane)
    const ideas = randomFrom(lane)
    const done: Lane = { verdicts: [], crashes: [], died: 0 }
    const survive = async <T>(...args: string[]): Promise<T> => {
      for (;;) {
        const death: MomentDeath = {
          moment: 1 + random(100),
          how: pick(random, ['before', 'torn', 'after']),
          who: pick(random, ['one', 'all']),
        }
        const crashing = crash(done.died < kills ? [death] : null)
        const ran = await project.cli<T>(args, { env: crashing.env })
        done.crashes.push(crashing)
        done.died += crashing.deaths()
        if (ran.signal !== 'SIGKILL') return dataOf(ran)
      }
    }
    for (let parent = 'exp_0000', step = 0; !enough(done); step++) {
      const made = await survive<NewData>('new', '--parent', parent, '-m', 'x', '--key', `${lane}-${step}`)
      writeFiles(made.worktree, { ...ms(100 - step - ideas(5)), 'src/lane.txt': `${lane} ${step}\n` })
      const { status, reason, value, parent_value } = await survive<RunData>('run', made.experiment)
      done.verdicts.push([step, status, reason, value, parent_value].join(' '))
      if (status === 'kept') parent = made.experiment
    }
    return done
  }

  const start = async () => {
    const project = makeProject({ spec: { noise: { mode: 'deterministic', calibrate: 2 } } })
    await project.data('init')
    return project
  }

  test('killed at random 200 times, they come to different verdicts, lose a line, pay twice, or wait for a dead process', async (context) => {
    const lanes = Array.from({ length: LANES }, (_, n) => n)
    const disturbed = await start()
    const each = Math.ceil(200 / LANES)
    const worked = await Promise.all(
      lanes.map((lane) => work(disturbed, lane, each, ({ died }) => died >= each)),
    )
    const undisturbed = await start()
    const calm = await Promise.all(
      lanes.map((lane, n) =>
        work(undisturbed, lane, 0, ({ verdicts }) => verdicts.length === worked[n]?.verdicts.length),
      ),
    )
    const died = worked.reduce((sum, lane) => sum + lane.died, 0)
    const ideas = worked.reduce((sum, { verdicts }) => sum + verdicts.length, 0)
    console.log(`seed ${SEED}: ${died} kills, ${ideas} ideas`)
    expect(worked.map(({ verdicts }) => verdicts)).toEqual(calm.map(({ verdicts }) => verdicts))
    expect(died).toBeGreaterThanOrEqual(200)
    const { counts, budget } = await disturbed.data<StatusData>('status')
    expect(counts).toMatchObject({ open: 0, running: 0, failed: 0 })
    expect(budget.experiments.used).toBe(ideas)
    const crashes = worked.flatMap((lane) => lane.crashes)
    expect(await takeToll(context, { repo: disturbed.repo, crashes })).toEqual(NOTHING_LOST)
  }, 600_000)
})
