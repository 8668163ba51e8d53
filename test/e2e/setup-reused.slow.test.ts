import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { entriesBelow } from '../../cli/disk/inventory.ts'
import { assay, dataOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { makeProject, ms, type NewData, type Project, writeFiles } from './project.ts'

interface Made extends NewData {
  setup_reused?: { from: string; ms: number }
}

/** A setup that makes packages from `src/lock.txt`, and says where it ran. */
const INSTALL = `mkdir -p node_modules/.bin node_modules/tool node_modules/empty packages/a/node_modules
  cp src/lock.txt node_modules/tool/installed.txt
  echo 'echo tool' > node_modules/tool/main.sh; chmod 755 node_modules/tool/main.sh
  ln -s ../tool/main.sh node_modules/.bin/tool
  echo inner > packages/a/node_modules/x.txt`

async function start(
  command = INSTALL,
  inputs: string[] | null = ['src/lock.txt'],
  files: Record<string, string> = {},
) {
  const log = join(makeTemp('setups'), 'log')
  writeFileSync(log, '')
  const project = makeProject({
    spec: { worktree: { setup: { command: `pwd >> '${log}'; ${command}`, ...(inputs && { inputs }) } } },
    files: {
      'src/lock.txt': 'one\n',
      'packages/a/index.txt': 'a\n',
      '.gitignore': 'node_modules\n',
      ...files,
    },
  })
  await project.data('init')
  return {
    project,
    // Checkouts in which candidates are measured have setups of their own.
    setups: () => readFileSync(log, 'utf8').match(/(?<=\/w\/1-)\d+/g) ?? [],
  }
}

const begin = (project: Project, parent = 'exp_0000') =>
  project.data<Made>('new', '--parent', parent, '-m', 'x')
const keptFolders = (project: Project): string[] =>
  readdirSync(project.repo.path('.assay/setups')).map((name) => project.repo.path('.assay/setups', name))

test('a new worktree runs a setup again whose inputs did not change, or does not get what the setup made', async () => {
  const { project, setups } = await start()
  const first = await begin(project)
  expect(first).not.toHaveProperty('setup_reused')
  const second = await begin(project)
  expect(second.setup_reused).toEqual({ from: 'exp_0001', ms: expect.any(Number) })
  expect(setups()).toEqual(['0001'])
  const [one, two] = [first, second].map(({ worktree }) => join(worktree, 'node_modules'))
  expect(readdirSync(two ?? '', { recursive: true }).sort()).toEqual(
    readdirSync(one ?? '', { recursive: true }).sort(),
  )
  expect(readFileSync(join(second.worktree, 'packages/a/node_modules/x.txt'), 'utf8')).toBe('inner\n')
  expect(readlinkSync(join(second.worktree, 'node_modules/.bin/tool'))).toBe('../tool/main.sh')
  for (const path of ['tool', 'tool/main.sh', 'tool/installed.txt']) {
    const [was, is] = [lstatSync(join(one ?? '', path)), lstatSync(join(two ?? '', path))]
    expect([path, is.mode]).toEqual([path, was.mode])
    // The system call takes seconds as a floating-point number.
    expect(is.mtimeMs, path).toBeCloseTo(was.mtimeMs, 1)
    if (is.isFile()) expect([path, is.nlink]).toEqual([path, 1])
  }
  const said = await assay(['new', '-m', 'y'], { cwd: project.repo.dir })
  expect(said.stderr).toMatch(/^exp_0003: reused the setup of exp_0001 \(.*s instead of .*s\)$/m)
  expect(said.stderr).not.toContain('preparing setup')
  expect(said.stdout).toMatch(/^Edit in .* \(reused the setup of exp_0001: .*s instead of .*s\)$/m)
  // What was copied is no change of the candidate.
  writeFiles(second.worktree, ms(90))
  expect(await project.data('run', second.experiment)).toMatchObject({ status: 'kept' })
})

test('a worktree gets the packages of other inputs, or a setup that a candidate changed serves the children of others', async () => {
  const { project, setups } = await start()
  await begin(project)
  const changed = await project.attempt({ ...ms(90), 'src/lock.txt': 'two\n' })
  expect(changed.status).toBe('kept')
  const child = await begin(project, changed.experiment)
  expect(readFileSync(join(child.worktree, 'node_modules/tool/installed.txt'), 'utf8')).toBe('two\n')
  const sibling = await begin(project, changed.experiment)
  const other = await begin(project)
  expect([child, sibling, other].map(({ setup_reused }) => setup_reused?.from)).toEqual([
    undefined,
    child.experiment,
    'exp_0001',
  ])
  expect(setups()).toEqual(['0001', child.experiment.slice(4)])
  // The same inputs, and different files that the setup may run: the result is for no other tree.
  const same = await project.attempt(
    { ...ms(80), 'src/lock.txt': 'two\n', 'src/more.txt': 'x\n' },
    child.parent,
  )
  const grandchild = await begin(project, same.experiment)
  expect(grandchild).not.toHaveProperty('setup_reused')
})

test('what an agent writes in its worktree, or into what is kept, comes into the worktrees of others', async () => {
  const { project, setups } = await start()
  const { worktree } = await begin(project)
  const second = await begin(project)
  appendFileSync(join(worktree, 'node_modules/tool/main.sh'), 'echo evil\n')
  appendFileSync(join(second.worktree, 'node_modules/tool/main.sh'), 'echo evil\n')
  const third = await begin(project)
  const toolOf = (made: Made) => readFileSync(join(made.worktree, 'node_modules/tool/main.sh'), 'utf8')
  expect([third.setup_reused?.from, toolOf(third)]).toEqual(['exp_0001', 'echo tool\n'])
  const kept = join(keptFolders(project)[0] ?? '', 'files/node_modules/tool')
  expect(lstatSync(join(kept, 'main.sh')).mode & 0o222).toBe(0)
  expect(lstatSync(kept).mode & 0o222).toBe(0)
  // Written to, and a file more: both are seen.
  const poisons = [
    () => {
      chmodSync(join(kept, 'main.sh'), 0o755)
      writeFileSync(join(kept, 'main.sh'), 'echo evil\n')
    },
    () => {
      chmodSync(kept, 0o755)
      writeFileSync(join(kept, 'more.sh'), 'echo evil\n')
      chmodSync(kept, 0o555)
    },
  ]
  for (const poison of poisons) {
    poison()
    const ran = await project.cli<Made>(['new', '--parent', 'exp_0000', '-m', 'x'])
    expect(ran.stderr).toContain('what was kept of an earlier setup was changed')
    const made = dataOf(ran)
    expect(made).not.toHaveProperty('setup_reused')
    expect([toolOf(made), existsSync(join(made.worktree, 'node_modules/tool/more.sh'))]).toEqual([
      'echo tool\n',
      false,
    ])
  }
  expect(setups()).toEqual(['0001', '0004', '0005'])
})

test('a candidate is measured with what was kept of a setup, which another candidate could have changed', async () => {
  const { project, setups } = await start(INSTALL, ['src/lock.txt'], {
    'bench/run.sh': 'test -s src/metrics.txt && sed "s/^/METRIC ms=/" node_modules/tool/installed.txt\n',
    'src/lock.txt': '100\n',
  })
  await begin(project)
  expect(setups()).toEqual(['0001'])
  // Changed so that nothing tells: the note says what lies there now.
  const [folder = ''] = keptFolders(project)
  const forge = (text: string) => {
    const file = join(folder, 'files/node_modules/tool/installed.txt')
    chmodSync(file, 0o644)
    writeFileSync(file, text)
    const note = JSON.parse(readFileSync(join(folder, 'note.json'), 'utf8'))
    for (const [path, { stamp }] of entriesBelow(join(folder, 'files'))) note.stamps[path] = stamp
    chmodSync(join(folder, 'note.json'), 0o644)
    writeFileSync(join(folder, 'note.json'), JSON.stringify(note))
  }
  forge('1\n')
  const next = await begin(project)
  expect(readFileSync(join(next.worktree, 'node_modules/tool/installed.txt'), 'utf8')).toBe('1\n')
  writeFiles(next.worktree, { 'src/note.txt': 'no change\n' })
  // Also in a checkout that is made only now.
  for (const place of ['a', 'b'])
    rmSync(project.repo.path('.assay/m/0', place), { recursive: true, force: true })
  expect(await project.data('run', next.experiment)).toMatchObject({ status: 'rejected', value: 100 })
  // Nor does a setup in a judged checkout write there.
  expect(keptFolders(project)).toEqual([folder])
  expect(readFileSync(join(folder, 'files/node_modules/tool/installed.txt'), 'utf8')).toBe('1\n')
})

const NEVER: [string, string, string[] | null, RegExp | null][] = [
  [
    'holds the path of its worktree',
    'pwd > node_modules.cfg',
    ['src/lock.txt'],
    /node_modules\.cfg holds the path of its worktree$/m,
  ],
  [
    'links into its worktree',
    'ln -s "$PWD/src" linked',
    ['src/lock.txt'],
    /linked holds the path of its worktree$/m,
  ],
  [
    'changes a file that is in git',
    'echo more >> packages/a/index.txt',
    ['src/lock.txt'],
    /it changes packages\/a\/index\.txt$/m,
  ],
  [
    'makes a repository',
    'git init -q vendor',
    ['src/lock.txt'],
    /it makes a git repository \(vendor\/\.git\)$/m,
  ],
  ['has no inputs', INSTALL, null, null],
]
for (const [what, command, inputs, why] of NEVER) {
  test(`a setup that ${what} is reused, or the reason is not said, or said each time`, async () => {
    const { project, setups } = await start(command, inputs)
    const first = await project.cli<Made>(['new', '-m', 'x'])
    const second = await project.cli<Made>(['new', '-m', 'x'])
    expect(setups()).toEqual(['0001', '0002'])
    if (why) expect(first.stderr).toMatch(why)
    else expect(first.stderr).not.toContain('runs worktree.setup again')
    expect(second.stderr).not.toContain('runs worktree.setup again')
  })
}

test('kept setups grow without end, doctor does not tell of them, or gc leaves them', async () => {
  const { project, setups } = await start()
  for (const more of ['/a', '/b', '/c', '/d'])
    await project.cli(['new', '-m', 'x'], { env: { PATH: `${process.env.PATH}:${more}` } })
  expect(setups()).toEqual(['0001', '0002', '0003', '0004'])
  const kept = keptFolders(project)
  expect(kept).toHaveLength(3)
  const { findings } = await project.data<{ findings: { code: string; what: string }[] }>('doctor')
  expect(findings).toContainEqual(
    expect.objectContaining({ code: 'setups', what: expect.stringContaining('assay gc deletes it') }),
  )
  const { deleted } = await project.data<{ deleted: { kind: string; path: string }[] }>('gc')
  expect(deleted.filter(({ kind }) => kind === 'setup')).toHaveLength(3)
  expect(keptFolders(project)).toEqual([])
  expect(await begin(project)).not.toHaveProperty('setup_reused')
})
