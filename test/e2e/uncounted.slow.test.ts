/** Work that is moved where nobody waits for it: it counts all the same. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { missingProgram } from '../rig/needs.ts'
import { steadyWall } from '../rig/wall.ts'
import { ISOLATIONS } from './isolated.ts'
import { makeProject, type SpecParts } from './project.ts'

/** CPU time of 400 ms, or memory of 120 MiB, where `main.py` says. */
const WORK = `import time
def burn():
    while time.process_time() < 0.4: pass
    return b'7'
def hold():
    block = bytearray(120 << 20)
    for at in range(0, len(block), 4096): block[at] = 1
    time.sleep(0.3)
    return b'7'
`
const main = (work: string, how: string) => ({
  'src/main.py': `import os, sys
sys.path.insert(0, 'bench')
from work import burn, hold
${how.replaceAll('WORK', work)}
assert answer == b'7'
`,
})
const PLAIN = 'answer = WORK()'
/** The parent reads the answer from a pipe, and ends without a wait. */
const FORK = `end, begin = os.pipe()
if os.fork() == 0:
    os.write(begin, WORK())
    os._exit(0)
answer = os.read(end, 1)`
/** The child that works is nobody's: its parent ended at once. */
const TWICE = `end, begin = os.pipe()
child = os.fork()
if child == 0:
    if os.fork() == 0:
        os.setsid()
        os.write(begin, WORK())
    os._exit(0)
os.waitpid(child, 0)
answer = os.read(end, 1)`

const scene = (isolation: string, work: string, spec: SpecParts) =>
  makeProject({
    spec: {
      // The answer is what the run took.
      measure: { command: 'python3 -B src/main.py && cat src/metrics.txt', isolation },
      ...spec,
    },
    files: { 'bench/work.py': WORK, ...main(work, PLAIN) },
  })

beforeEach(({ skip }) => {
  const missing = missingProgram('Python', ['python3', '--version'])
  skip(missing !== null, missing ?? '')
})

const ways = ISOLATIONS.flatMap((isolation) => [
  [isolation, 'forks', FORK] as const,
  [isolation, 'forks twice', TWICE] as const,
])

test.each(ways)(
  'isolation %s: the CPU time of a candidate that %s and does not wait is not counted, so it is kept',
  async (isolation, _, how) => {
    const project = scene(isolation, 'burn', {
      metric: { name: 'cpu_ms', direction: 'minimize' },
      noise: { calibrate: 3 },
    })
    await project.data('init')
    const moved = await project.attempt(main('burn', how))
    expect(moved.status).toBe('rejected')
    expect(moved.value).toBeGreaterThan(300)
  },
)

test.each(ways)(
  'isolation %s: a candidate that %s slips through a bound on memory',
  async (isolation, _, how) => {
    const project = scene(isolation, 'burn', {
      metric: { name: 'ms', direction: 'minimize' },
      noise: { mode: 'deterministic', calibrate: 2 },
      constraints: [{ metric: 'peak_mb', op: '<=', value: 80 }],
    })
    await project.data('init')
    const better = { 'src/metrics.txt': 'METRIC ms=50\n' }
    expect(await project.attempt({ ...main('hold', how), ...better })).toMatchObject({
      status: 'rejected',
      reason: 'constraint',
    })
    expect(await project.attempt({ ...main('burn', how), ...better })).toMatchObject({ status: 'kept' })
  },
)

test('a candidate lets a program compute that no sample started, and its keep is trusted', async () => {
  const wall = steadyWall()
  const project = makeProject({
    spec: {
      measure: { command: 'sh bench/run.sh' },
      metric: { name: 'cpu_ms', direction: 'minimize' },
      noise: { mode: 'paired', calibrate: 2 },
    },
    files: {
      'bench/run.sh': `python3 -B src/main.py || exit 1\n${wall.takes('450')}\ncat src/metrics.txt\n`,
      'bench/work.py': WORK,
      ...main('burn', PLAIN),
    },
    env: wall.env,
  })
  await project.data('init')
  const place = join(project.control, 'socket')
  const program = `${WORK}
import socket
listening = socket.socket(socket.AF_UNIX)
listening.bind('${place}')
listening.listen()
print('ready', flush=True)
while True:
    asked, _ = listening.accept()
    asked.sendall(b'7')
    asked.close()
`
  const worker = spawn('python3', ['-c', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void worker.kill('SIGKILL'))
  await once(worker.stdout, 'data')
  const asks = `import socket
asked = socket.socket(socket.AF_UNIX)
asked.connect('${place}')
answer = asked.recv(1)`
  const moved = await project.attempt(main('burn', asks))
  expect(moved).toMatchObject({
    status: 'kept',
    best: false,
    doubt: expect.stringMatching(
      /^CPU time fell by \d+ ms, but wall time (?:fell|rose) by [\d.]+ ms: does something else do the work\?$/,
    ),
  })
  expect(await project.data('status')).toMatchObject({ best: { experiment: 'exp_0000' } })
})

test('a fall of CPU time that wall time shows is in doubt', async () => {
  const wall = steadyWall()
  const project = makeProject({
    spec: {
      measure: { command: 'sh bench/run.sh' },
      metric: { name: 'cpu_ms', direction: 'minimize' },
      noise: { mode: 'paired', calibrate: 2 },
    },
    files: {
      'bench/run.sh': `python3 -B src/main.py || exit 1\n${wall.takes('$(cat src/took)')}\ncat src/metrics.txt\n`,
      'bench/work.py': WORK,
      'src/took': '450\n',
      ...main('burn', PLAIN),
    },
    env: wall.env,
  })
  await project.data('init', '--no-canary')
  const honest = await project.attempt({ ...main('burn', "answer = b'7'"), 'src/took': '50\n' })
  expect(honest).toMatchObject({ status: 'kept', best: true, doubt: null })
})
