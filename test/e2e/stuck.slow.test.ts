/** What candidates leave in the checkout of a slot: the next one is judged all the same, and learns nothing from it. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isAlive } from '../rig/alive.ts'
import { assay, dataOf, type Ran } from '../rig/assay.ts'
import { makeRepo, type Repo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { unprivileged } from '../rig/unprivileged.ts'
import type { NewData, RunData } from './project.ts'

/** Runs the candidate in a child, looks at its answer, and prints the size of its output. */
const BENCH = `sh src/main.sh > "$TMPDIR/out" || exit 1
grep -q 7 "$TMPDIR/out" || { echo wrong >&2; exit 1; }
echo "METRIC n=$(wc -c < "$TMPDIR/out" | tr -d ' ')"
`
const answer = (size: number) => `printf '%0${size - 1}d\\n' 7\n`

const SPEC = {
  version: 1,
  name: 'slot',
  goal: 'Print less.',
  metric: { name: 'n', direction: 'minimize' },
  scope: { mutable: ['src/**'], immutable: ['bench/**'] },
  measure: { isolation: 'none', command: 'sh bench/run.sh' },
  noise: { mode: 'deterministic', calibrate: 2 },
}

interface Slot {
  repo: Repo
  cli: <T>(...args: string[]) => Promise<Ran<T>>
  /** A candidate with this program, judged. */
  judge: (main: string) => Promise<Ran<RunData>>
  doctor: () => Promise<{ healthy: boolean; codes: string[] }>
}

async function begin({
  spec = {},
  files = {},
  data = {},
  mayDoAll = false,
}: {
  spec?: object
  files?: Record<string, string>
  /** Not committed. */
  data?: Record<string, string>
  /** Runs as the caller, who may be root; else as a user who owns nothing but the repository. */
  mayDoAll?: boolean
} = {}): Promise<Slot> {
  const repo = makeRepo({
    files: { 'src/main.sh': answer(100), 'bench/run.sh': BENCH, 'assay.yaml': '', ...files },
  })
  repo.write({ 'assay.yaml': JSON.stringify({ ...SPEC, ...spec }), ...data })
  const as = mayDoAll ? {} : unprivileged(repo.dir)
  const cli: Slot['cli'] = (...args) => assay([...args, '--json'], { cwd: repo.dir, ...as })
  dataOf(await cli('init', '--no-canary'))
  return {
    repo,
    cli,
    judge: async (main) => {
      const made = dataOf(await cli<NewData>('new', '--parent', 'exp_0000', '-m', main.slice(0, 200)))
      writeFileSync(join(made.worktree, 'src/main.sh'), main)
      return cli('run', made.experiment)
    },
    doctor: async () => {
      const { healthy, findings } = dataOf(
        await cli<{ healthy: boolean; findings: { code: string; level: string }[] }>('doctor'),
      )
      return { healthy, codes: findings.flatMap(({ code, level }) => (level === 'ok' ? [] : [code])) }
    },
  }
}

const statusOf = (ran: Ran<RunData>) =>
  ran.json?.ok ? `${ran.json.data.status} ${ran.json.data.value}` : (ran.json?.problem.code ?? ran.stderr)

const DEEP = `python3 -c "
import os
os.chdir('src')
for _ in range(3000):
    os.mkdir('d')
    os.chdir('d')
"
`

test('a folder without permissions, or too deep, that a candidate leaves fails every later candidate', async () => {
  const slot = await begin()
  const remains: Record<string, string> = {
    'a folder that may not be written': 'mkdir -p src/ro/sub; echo x > src/ro/sub/f; chmod -R a-w src/ro',
    'a folder without rights': 'mkdir -p src/no/sub; echo x > src/no/sub/f; chmod 000 src/no',
    'the folders of the tree, not to be written': 'chmod 555 src bench .',
    'the folders of the tree, without rights, when it is done':
      '(sleep 0.05; exec 3<.; chmod 000 src bench) & echo x > src/x',
    'folders 3,000 deep': DEEP,
    'a temporary folder without rights':
      'mkdir -p "$TMPDIR/no"; echo x > "$TMPDIR/no/f"; chmod 000 "$TMPDIR/no"',
  }
  let size = 99
  for (const [name, leave] of Object.entries(remains)) {
    size -= 2
    expect([name, statusOf(await slot.judge(`${leave}\n${answer(size)}`))]).toEqual([name, `kept ${size}`])
    expect([name, statusOf(await slot.judge(answer(size - 1)))]).toEqual([name, `kept ${size - 1}`])
  }
  expect(await slot.doctor()).toMatchObject({ healthy: true })
})

const PAIRED = { noise: { mode: 'paired', calibrate: 3 } }

test('a later sample finds a folder, a pipe, a socket or changed properties of a folder that an earlier one left', async () => {
  const control = makeTemp('marks')
  const log = join(control, 'log')
  // Each mark: how to find it, and how to leave it.
  const marks: Record<string, [find: string, leave: string]> = {
    'empty folder': ['[ -d src/memo ]', 'mkdir src/memo'],
    'empty folder in what setup made': ['[ -d nm/lib/memo ]', 'mkdir nm/lib/memo'],
    pipe: ['[ -p src/pipe ]', 'mkfifo src/pipe'],
    socket: ['[ -S src/sock ]', `python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('src/sock')"`],
    'rights of a folder': ['[ "$(stat -c %a bench)" = 711 ]', 'chmod 711 bench'],
    'rights of the checkout': ['[ "$(stat -c %a .)" = 711 ]', 'chmod 711 .'],
    'time of a folder': ['[ "$(stat -c %Y nm)" = 86400 ]', 'touch -d @86400 nm'],
    'time of the checkout': ['[ "$(stat -c %Y .)" = 86400 ]', 'touch -d @86400 .'],
    attribute: [
      `python3 -c "import os, sys; sys.exit(not os.listxattr('src'))"`,
      `python3 -c "import os; os.setxattr('src', 'user.memo', b'1')"`,
    ],
    'name that is no text': [
      `python3 -c "import os, sys; sys.exit(not os.path.exists(b'src/\\xff'))"`,
      `python3 -c "import os; os.mkdir(b'src/\\xff')"`,
    ],
    'a folder that setup made is gone': ['[ ! -d nm/empty ]', 'rmdir nm/empty'],
  }
  const lines = Object.entries(marks).map(
    ([name, [find, leave]]) =>
      `if ${find} 2>/dev/null; then echo 'found ${name}' >> ${log}; else ${leave} 2>/dev/null && echo 'left ${name}' >> ${log}; fi`,
  )
  const slot = await begin({
    spec: { ...PAIRED, worktree: { setup: { command: 'mkdir -p nm/lib nm/empty && echo x > nm/lib/f' } } },
    files: { '.gitignore': 'nm\n' },
    mayDoAll: true,
  })
  dataOf(await slot.judge(`${lines.join('\n')}\n${answer(90)}`))
  const seen = [...new Set(readFileSync(log, 'utf8').trim().split('\n'))].sort()
  expect(seen).toEqual(
    Object.keys(marks)
      .map((name) => `left ${name}`)
      .sort(),
  )
  // Also the next candidate finds nothing.
  dataOf(await slot.judge(`${lines.join('\n')}\n${answer(80)}`))
  expect(readFileSync(log, 'utf8')).not.toContain('found')
})

test('what a sample wrote to a sealed file, or to data, and put back is not seen', async () => {
  const score = {
    ...SPEC,
    measure: { isolation: 'none', command: 'sh src/main.sh', score: { command: 'sh bench/score.sh' } },
    worktree: { data: ['data/**'] },
  }
  const cheap = "printf '7\\n'"
  const slot = await begin({
    spec: score,
    files: {
      '.gitignore': 'data\n',
      'bench/score.sh':
        'echo "METRIC n=$(wc -c < "$ASSAY_STDOUT" | tr -d " ")"; . bench/check.sh; sleep 0.3; cmp -s "$ASSAY_STDOUT" bench/expected.txt || true\n',
      'bench/check.sh': 'true\n',
      'bench/expected.txt': '7\n',
      'src/other.sh': 'true\n',
    },
    data: { 'data/expected.txt': '7\n' },
  })
  const late = (file: string) =>
    `cp -p ${file} bench/keep; chmod u+w ${file}; echo 7 > ${file}; (sleep 0.05; cat bench/keep > ${file}; rm bench/keep) &`
  const cheats: Record<string, [main: string, file: string]> = {
    'a scorer that puts itself back': [
      'cp -p bench/score.sh bench/keep; printf "echo METRIC n=1; mv bench/keep bench/score.sh\\n" > bench/score.sh',
      'bench/score.sh',
    ],
    'a checker that puts itself back': [
      'cp -p bench/check.sh bench/keep; printf "echo METRIC n=1; mv bench/keep bench/check.sh; exit\\n" > bench/check.sh',
      'bench/check.sh',
    ],
    'the expected answer': [late('bench/expected.txt'), 'bench/expected.txt'],
    'the expected answer in the data': [late('data/expected.txt'), 'data/expected.txt'],
    'the rights of a sealed file': ['chmod 640 src/other.sh', 'src/other.sh'],
    'the time of a sealed file': ['touch -d @86400 src/other.sh', 'src/other.sh'],
    'an attribute of a sealed file': [
      `python3 -c "import os; os.setxattr('src/other.sh', 'user.memo', b'1')"`,
      'src/other.sh',
    ],
    'the number of links to a sealed file': ['ln src/other.sh src/hard', 'src/other.sh'],
  }
  for (const [name, [cheat, file]] of Object.entries(cheats)) {
    const ran = dataOf(await slot.judge(`${cheat}\n${cheap}\n`))
    expect([name, ran.status, ran.reason, ran.message]).toEqual([
      name,
      'rejected',
      'out_of_scope',
      expect.stringContaining(file),
    ])
  }
  expect(statusOf(await slot.judge(answer(90)))).toBe('kept 90')
})

test('a benchmark that touches its own files, or puts them back, makes every candidate out of scope', async () => {
  const slot = await begin({
    files: {
      'bench/run.sh': `touch bench/run.sh\ncp src/main.sh src/copy; mv src/copy src/main.sh\n${BENCH}`,
    },
  })
  expect(statusOf(await slot.judge(answer(90)))).toBe('kept 90')
  expect(await slot.judge(`echo "# more" >> bench/run.sh\n${answer(80)}`)).toMatchObject({
    json: { data: { status: 'rejected', reason: 'out_of_scope' } },
  })
})

test('a checkout, a slot, or the trash that became a link is followed: what it leads to is emptied', async () => {
  const slot = await begin({ mayDoAll: true })
  const victim = makeTemp('victim')
  const precious = () => {
    for (const folder of ['src', 'bench', 'b', '0/b', 'w-1'])
      mkdirSync(join(victim, folder), { recursive: true })
    for (const file of ['precious', 'src/main.sh', 'b/precious', '0/b/precious', 'w-1/precious'])
      writeFileSync(join(victim, file), 'mine\n')
  }
  const listed = () => readdirSync(victim, { recursive: true }).map(String).sort()
  precious()
  const before = listed()
  const state = slot.repo.path('.assay')
  const attacks: Record<string, string> = {
    checkout: `D=$(pwd -P); cd /; mv $D $D.old; ln -sn ${victim} $D`,
    'checkout, as a copy': `D=$(pwd -P); cd /; mv $D $D.old; cp -r $D.old $D`,
    'the folder of the slot': `cd /; mv ${state}/m/0 ${state}/m/old; ln -sn ${victim} ${state}/m/0`,
    'the folder of all slots': `cd /; mv ${state}/m ${state}/m.old; ln -sn ${victim} ${state}/m`,
    'the trash': `rm -rf ${state}/trash; ln -sn ${victim} ${state}/trash`,
    'what builds made': `ln -sn ${victim} ${state}/m/0/made`,
  }
  let size = 98
  for (const [name, attack] of Object.entries(attacks)) {
    // Whatever became of the one that did it.
    await slot.judge(`P=$PWD; (${attack}); cd $P 2>/dev/null\nprintf '%098d\\n' 7\n`)
    size--
    expect([name, statusOf(await slot.judge(answer(size)))]).toEqual([name, `kept ${size}`])
    dataOf(await slot.cli('gc'))
    expect([name, listed()]).toEqual([name, before])
  }
})

test('a daemon that a setup, a build or a gate left in the checkout still runs through all samples', async () => {
  const control = makeTemp('daemons')
  // It left the group, and carries nothing of ours but its working directory.
  const daemon = (name: string) =>
    `cd src; setsid env -i sh -c 'touch ${control}/${name}-$$; exec sleep 600' >/dev/null 2>&1 </dev/null & until ls ${control}/${name}-*; do sleep 0.02; done`
  const slot = await begin({
    spec: {
      worktree: { setup: { command: daemon('setup') }, build: { command: daemon('build') } },
      gates: [{ name: 'one', command: daemon('gate') }],
    },
    mayDoAll: true,
  })
  expect(statusOf(await slot.judge(answer(90)))).toBe('kept 90')
  const started = readdirSync(control).sort()
  expect(started.map((name) => name.replace(/-\d+$/, ''))).toEqual(
    expect.arrayContaining(['build', 'gate', 'setup']),
  )
  expect(started.filter((name) => isAlive(Number(name.split('-')[1])))).toEqual([])
})

test('a daemon of a sample that is known by one mark only lives on, or one without any is said to be found', async () => {
  const control = makeTemp('daemons')
  const up = (name: string) => `until ls ${control}/${name}-*; do sleep 0.02; done >/dev/null 2>&1`
  const loop = (name: string) => `sh -c 'touch ${control}/${name}-$$; exec sleep 600'`
  // Each left the group of its sample.
  const daemons: Record<string, string> = {
    token: `(cd /; exec setsid ${loop('token')} >/dev/null 2>&1 </dev/null) &`,
    stdout: `(cd /; exec setsid env -i ${loop('stdout')} 2>/dev/null </dev/null) &`,
    stderr: `(cd /; exec setsid env -i ${loop('stderr')} >/dev/null </dev/null) &`,
    folder: `(cd src; exec setsid env -i ${loop('folder')} >/dev/null 2>&1 </dev/null) &`,
    nothing: `(cd /; exec setsid env -i ${loop('nothing')} >/dev/null 2>&1 </dev/null) &`,
  }
  const pidOf = (name: string) =>
    Number(
      readdirSync(control)
        .find((file) => file.startsWith(`${name}-`))
        ?.split('-')[1],
    )
  onTestFinished(() => {
    for (const name of Object.keys(daemons)) if (isAlive(pidOf(name))) process.kill(pidOf(name), 'SIGKILL')
  })
  const slot = await begin({
    // The output of the candidate is that of the sample.
    spec: { measure: { isolation: 'none', command: 'sh src/main.sh' } },
    files: { 'src/main.sh': 'echo METRIC n=100\n' },
    mayDoAll: true,
  })
  let value = 99
  for (const [name, daemon] of Object.entries(daemons)) {
    // Of two samples, one leaves it.
    const once = `ls ${control}/${name}-* >/dev/null 2>&1 || { ${daemon} ${up(name)}; }`
    expect([name, statusOf(await slot.judge(`${once}\necho METRIC n=${--value}\n`))]).toEqual([
      name,
      `kept ${value}`,
    ])
    expect([name, isAlive(pidOf(name))]).toEqual([name, name === 'nothing'])
  }
})
