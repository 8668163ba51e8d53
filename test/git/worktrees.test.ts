import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { buildSync } from 'esbuild'
import { expect, test } from 'vitest'
import { keepOnly } from '../../cli/disk/keep-only.ts'
import { besidePaths } from '../../cli/git/observe.ts'
import { type Freshening, freshenCheckout } from '../../cli/git/restore.ts'
import { addWorktree, emptyTrash, removeWorktree } from '../../cli/git/worktrees.ts'
import { expectedFiles } from '../../cli/measure/slot.ts'
import { slotPath, trashFolder, worktreePath } from '../../cli/paths.ts'
import {
  commitAll,
  FILES,
  must,
  type Opened,
  open,
  problemOf,
  repository,
  run,
  worktree,
  write,
} from './rig.ts'

test('a complete worktree is left as it is, a deleted one is made again', async () => {
  const opened = await open(repository())
  const path = await worktree(opened)
  write(path, 'src/a.js', 'edited\n')
  must(await addWorktree(opened.site, path, opened.base.commit))
  expect(readFileSync(join(path, 'src/a.js'), 'utf8')).toBe('edited\n')
  rmSync(path, { recursive: true })
  must(await addWorktree(opened.site, path, opened.base.commit))
  expect(readFileSync(join(path, 'src/a.js'), 'utf8')).toBe('let a = 1\n')
  expect(run(path, 'rev-parse', 'HEAD').trim()).toBe(opened.base.commit)
  expect(run(path, 'status', '--porcelain')).toBe('')
})

const HALF_MADE: Record<string, (opened: Opened, path: string, folder: string) => void> = {
  'registered, nothing checked out': (_opened, path, folder) => {
    for (const name of ['src', 'bench', '.gitignore']) rmSync(join(path, name), { recursive: true })
    rmSync(join(folder, 'judge-index'))
    rmSync(join(folder, 'index'))
  },
  'checked out in part': (_opened, path, folder) => {
    writeFileSync(join(path, 'src/a.js'), 'let')
    rmSync(join(path, 'bench'), { recursive: true })
    rmSync(join(folder, 'judge-index'))
  },
  'died while git registered it': (_opened, _path, folder) => {
    writeFileSync(join(folder, 'locked'), 'initializing')
    rmSync(join(folder, 'judge-index'))
    rmSync(join(folder, 'commondir'))
  },
  'died before the file that leads to the registration was written': (_opened, path, folder) => {
    rmSync(path, { recursive: true })
    mkdirSync(path)
    rmSync(join(folder, 'judge-index'))
  },
  'died while it wrote the registration': (opened, path, folder) => {
    renameSync(folder, join(opened.site.store, 'judge/registration'))
    rmSync(join(opened.site.store, 'judge/registration/HEAD'))
    rmSync(path, { recursive: true })
  },
  'a folder that was never registered': (_opened, path, folder) => {
    rmSync(join(path, '.git'))
    rmSync(folder, { recursive: true })
    write(path, 'junk', 'x')
  },
}

for (const [name, damage] of Object.entries(HALF_MADE)) {
  test(`a half-made worktree is completed: ${name}`, async () => {
    const opened = await open(repository())
    const path = await worktree(opened)
    damage(opened, path, join(opened.site.store, 'worktrees/1-0001'))
    must(await addWorktree(opened.site, path, opened.base.commit))
    expect(run(path, 'status', '--porcelain')).toBe('')
    expect(readFileSync(join(path, 'bench/run.js'), 'utf8')).toBe(FILES['bench/run.js'])
    expect(
      run(opened.site.store, 'worktree', 'list')
        .split('\n')
        .filter((one) => one.includes('1-0001')),
    ).toHaveLength(1)
  })
}

test('24 processes at once each get a whole worktree', async () => {
  const opened = await open(repository())
  const script = join(opened.site.root, '../add-worktree.mjs')
  buildSync({
    entryPoints: [join(import.meta.dirname, 'add-worktree.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
  const children = Array.from({ length: 24 }, (_, n) => {
    const path = worktreePath(opened.site, 'run_0001', `exp_${String(n + 1).padStart(4, '0')}`)
    return spawn(process.execPath, [script, opened.site.root, path, opened.base.commit])
  })
  const ends = children.map(ended)
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  for (const child of children) child.stdin.end()
  expect(await Promise.all(ends)).toEqual(Array.from({ length: 24 }, () => ({ code: 0, said: '' })))
  const names = readdirSync(join(opened.site.state, 'w'))
  expect(names).toHaveLength(24)
  for (const name of names) {
    expect(run(join(opened.site.state, 'w', name), 'status', '--porcelain')).toBe('')
  }
})

function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    let said = ''
    child.stderr?.on('data', (chunk) => {
      said += chunk
    })
    child.on('close', (code) => resolve({ code, said }))
  })
}

test('the same path asked for twice at once is made once', async () => {
  const opened = await open(repository())
  await Promise.all([worktree(opened), worktree(opened), worktree(opened)])
  expect(run(await worktree(opened), 'status', '--porcelain')).toBe('')
  expect(readdirSync(join(opened.site.store, 'worktrees'))).toEqual(['1-0001'])
})

test('a removed worktree leaves no registration, and removing it twice is no problem', async () => {
  const opened = await open(repository())
  const path = await worktree(opened)
  must(await removeWorktree(opened.site, path))
  must(await removeWorktree(opened.site, path))
  expect(existsSync(path)).toBe(false)
  expect(readdirSync(join(opened.site.store, 'worktrees'))).toEqual([])
  await emptyTrash(opened.site)
  expect(readdirSync(trashFolder(opened.site))).toEqual([])
  must(await addWorktree(opened.site, path, opened.base.commit))
})

/** As a slot is made ready: what is not of the commit is removed first, except `data`. */
async function freshen(
  { site }: Opened,
  path: string,
  commit: string,
  { data = [], ...how }: Freshening & { data?: string[] } = {},
) {
  keepOnly(path, must(await expectedFiles(site, commit, { roots: [], files: {}, data })))
  must(await freshenCheckout(site, path, commit, how))
}

async function slot(files?: Record<string, string>) {
  const repo = repository(files)
  const opened = await open(repo)
  const path = slotPath(opened.site, 0, 'b')
  await freshen(opened, path, opened.base.commit)
  return { repo, opened, path }
}

test('after a dirty candidate something of it stays, ignored files too', async () => {
  const { opened, path } = await slot()
  write(path, 'node_modules/x/index.js', 'x')
  write(path, 'src/a.js', 'let a = 2\n')
  utimesSync(join(path, 'src/b.js'), new Date(), new Date())
  write(path, 'left/over.js', 'x')
  write(path, 'inner/x', 'x')
  run(join(path, 'inner'), 'init', '-q')
  rmSync(join(path, 'bench'), { recursive: true })
  symlinkSync('src', join(path, 'bench'))
  run(path, 'update-index', '--assume-unchanged', 'src/a.js')
  run(path, 'checkout', '-q', '-b', 'agent')
  await freshen(opened, path, opened.base.commit)
  expect(run(path, 'status', '--porcelain')).toBe('')
  expect(run(path, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('HEAD\n')
  expect(readFileSync(join(path, 'src/a.js'), 'utf8')).toBe('let a = 1\n')
  expect(readdirSync(path).sort()).toEqual(['.git', '.gitignore', 'bench', 'src'])
})

test('an edit of equal size and time does not survive into the next measurement', async () => {
  const { opened, path } = await slot()
  const old = new Date(2001, 1, 1)
  utimesSync(join(path, 'src/a.js'), old, old)
  await freshen(opened, path, opened.base.commit)
  writeFileSync(join(path, 'src/a.js'), 'let a = 2\n')
  utimesSync(join(path, 'src/a.js'), old, old)
  await freshen(opened, path, opened.base.commit)
  expect(readFileSync(join(path, 'src/a.js'), 'utf8')).toBe('let a = 1\n')
})

test('a checkout moves between trees, with what setup made kept', async () => {
  const { repo, opened, path } = await slot()
  write(repo, 'src/a.js', 'let a = 2\n')
  write(repo, 'src/c/d.js', 'new\n')
  rmSync(join(repo, 'src/b.js'))
  const second = commitAll(repo, 'second')
  run(repo, 'push', '-q', opened.site.store, 'HEAD:refs/assay/run_0001/exp_0001/1')
  write(path, 'deps/[x]/y.js', 'setup')
  write(path, 'lone ö.txt', 'setup')
  const keep = must(await besidePaths(opened.site, path, opened.base.tree))
  expect(keep).toEqual(['deps/', 'lone ö.txt'])
  write(path, 'junk.js', 'x')
  await freshen(opened, path, second, { keep, data: ['deps/[x]/y.js', 'lone ö.txt'] })
  expect(run(path, 'rev-parse', 'HEAD').trim()).toBe(second)
  expect(readdirSync(join(path, 'src')).sort()).toEqual(['a.js', 'c'])
  expect(existsSync(join(path, 'junk.js'))).toBe(false)
  expect(readFileSync(join(path, 'deps/[x]/y.js'), 'utf8')).toBe('setup')
  await freshen(opened, path, opened.base.commit)
  expect(readdirSync(path).sort()).toEqual(['.git', '.gitignore', 'bench', 'src'])
  expect(readdirSync(join(path, 'src')).sort()).toEqual(['a.js', 'b.js'])
})

test('a candidate that breaks the .git file, the index or the modes is cleaned up after', async () => {
  const { opened, path } = await slot()
  const folder = join(opened.site.store, 'worktrees/b')
  rmSync(join(path, '.git'))
  mkdirSync(join(path, '.git'))
  writeFileSync(join(folder, 'index'), 'garbage')
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/x\n')
  chmodSync(join(path, 'src/a.js'), 0o755)
  renameSync(join(path, 'src/b.js'), join(path, 'src/c.js'))
  await freshen(opened, path, opened.base.commit)
  expect(run(path, 'status', '--porcelain')).toBe('')
  expect(run(path, 'rev-parse', 'HEAD').trim()).toBe(opened.base.commit)
})

test('a hook or filter that an agent configures does not run for the judge', async () => {
  const { opened, path } = await slot({ ...FILES, '.gitattributes': '*.js filter=evil\n' })
  const agent = await worktree(opened)
  run(agent, 'config', 'filter.evil.smudge', 'echo evil')
  run(agent, 'config', 'core.hooksPath', join(opened.site.state, 'hooks'))
  write(opened.site.state, 'hooks/post-checkout', '#!/bin/sh\ntouch ran\n')
  chmodSync(join(opened.site.state, 'hooks/post-checkout'), 0o755)
  rmSync(join(path, 'src/a.js'))
  await freshen(opened, path, opened.base.commit)
  expect(readFileSync(join(path, 'src/a.js'), 'utf8')).toBe('let a = 1\n')
  const second = await worktree(opened, 'exp_0002')
  expect(readFileSync(join(second, 'src/a.js'), 'utf8')).toBe('let a = 1\n')
  expect(existsSync(join(second, 'ran'))).toBe(false)
})

test('files committed with the wrong line endings do not keep a checkout from being exact', async () => {
  const repo = repository()
  write(repo, '.gitattributes', '*.txt text eol=lf\n')
  write(repo, 'odd.txt', 'a\r\n')
  run(repo, 'add', '.gitattributes')
  const oid = run(repo, 'hash-object', '-w', '--no-filters', 'odd.txt').trim()
  run(repo, 'update-index', '--add', '--cacheinfo', `100644,${oid},odd.txt`)
  run(repo, 'commit', '-q', '-m', 'odd')
  const opened = await open(repo)
  const path = slotPath(opened.site, 0, 'a')
  for (const _ of [1, 2]) {
    await freshen(opened, path, opened.base.commit)
    expect(readFileSync(join(path, 'odd.txt'), 'utf8')).toBe('a\r\n')
    writeFileSync(join(path, 'odd.txt'), 'b\r\n')
  }
})

test('slots have sides of equal names, and each keeps its own state', async () => {
  const { opened, path } = await slot()
  const other = slotPath(opened.site, 1, 'b')
  await freshen(opened, other, opened.base.commit)
  writeFileSync(join(other, 'src/a.js'), 'let a = 2\n')
  await freshen(opened, path, opened.base.commit)
  expect(readFileSync(join(other, 'src/a.js'), 'utf8')).toBe('let a = 2\n')
  must(await removeWorktree(opened.site, other))
  expect(run(path, 'status', '--porcelain')).toBe('')
})

test.each([false, true])(
  'a file that was rewritten in the store after a first worktree gets into the next one: packed %s',
  async (packed) => {
    const opened = await open(repository())
    const { site, base } = opened
    const objects = join(site.store, 'objects')
    if (packed) run(site.store, 'repack', '-adq')
    await worktree(opened, 'exp_0001')
    await worktree(opened, 'exp_0002')
    const oid = run(site.store, 'rev-parse', `${base.commit}:src/a.js`).trim()
    if (packed) {
      const moved = join(site.store, 'moved')
      renameSync(join(objects, 'pack'), moved)
      mkdirSync(join(objects, 'pack'))
      for (const name of readdirSync(moved).filter((one) => one.endsWith('.pack')))
        execFileSync('git', ['--git-dir', site.store, 'unpack-objects', '-q'], {
          input: readFileSync(join(moved, name)),
        })
    }
    rmSync(join(objects, oid.slice(0, 2), oid.slice(2)))
    writeFileSync(join(objects, oid.slice(0, 2), oid.slice(2)), deflateSync('blob 10\0let a = 2\n'))
    const third = worktreePath(site, 'run_0001', 'exp_0003')
    expect(problemOf(await addWorktree(site, third, base.commit))).toBe('objects_damaged')
  },
)
