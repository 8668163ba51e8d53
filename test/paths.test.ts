import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  checkoutAround,
  experimentFolder,
  findSite,
  isExperimentId,
  isRunId,
  listRuns,
  rootForInit,
  runPaths,
  siteAt,
  slotPath,
  worktreePath,
} from '../cli/paths.ts'
import { makeProject, type NewData, type Project } from './e2e/project.ts'
import { makeRepo, type Repo } from './rig/repo.ts'
import { makeTemp } from './rig/temp.ts'

/** A folder of runs as `init` would have left it. */
const plantRun = (root: string, ...runs: string[]) => {
  for (const run of runs) {
    const { folder, ledger } = runPaths(siteAt(root), run)
    mkdirSync(folder, { recursive: true })
    writeFileSync(ledger, '{}\n')
  }
}

describe('a run in the main checkout', () => {
  let project: Project
  let root: string
  let opened: NewData
  beforeAll(async () => {
    project = makeProject()
    root = project.repo.dir
    await project.data('init')
    opened = await project.open({})
    project.repo.git('worktree', 'add', '--quiet', join(root, '../linked'), '-b', 'side')
    project.repo.git('worktree', 'add', '--quiet', join(root, '../other'), '-b', 'side2')
  })
  const at = (folder: string) => {
    const found = findSite(folder)
    return found && [found.site.root, found.run, found.experiment]
  }
  const statusIn = async (cwd: string) => {
    const ran = await project.cli<{ run: string }>(['status'], { cwd })
    return ran.json?.ok ? ran.json.data.run : ran.stderr
  }

  test('it is not found from the checkout or from below', async () => {
    expect(at(root)).toEqual([root, null, null])
    expect(at(join(root, 'src'))).toEqual([root, null, null])
    expect(await statusIn(join(root, 'src'))).toBe('run_0001')
  })

  test("it is not found from the user's linked worktree", async () => {
    const linked = join(root, '../linked')
    expect(at(join(linked, 'src'))).toEqual([root, null, null])
    expect(await statusIn(linked)).toBe('run_0001')
  })

  test('an edit worktree is taken for a different checkout, or its experiment is not known', async () => {
    expect(opened.worktree).toBe(join(root, '.assay/w/1-0001'))
    expect(at(opened.worktree)).toEqual([root, 'run_0001', 'exp_0001'])
    expect(at(join(opened.worktree, 'src'))).toEqual([root, 'run_0001', 'exp_0001'])
    expect(await statusIn(join(opened.worktree, 'src'))).toBe('run_0001')
  })

  test('a folder of that name among the files of a candidate hides the run', () => {
    const inside = join(opened.worktree, '.assay/notes')
    mkdirSync(inside, { recursive: true })
    expect(at(inside)).toEqual([root, 'run_0001', 'exp_0001'])
  })

  test('a link to a checkout leads nowhere', async () => {
    const links = makeTemp('links')
    symlinkSync(join(root, 'src'), join(links, 'src'))
    symlinkSync(opened.worktree, join(links, 'edit'))
    expect(at(join(links, 'src'))).toEqual([root, null, null])
    expect(at(join(links, 'edit'))).toEqual([root, 'run_0001', 'exp_0001'])
    expect(await statusIn(join(links, 'edit'))).toBe('run_0001')
  })

  test('the state itself, or a measurement checkout, is taken for an edit worktree', () => {
    const site = siteAt(root)
    expect(at(site.state)).toEqual([root, null, null])
    expect(at(experimentFolder(runPaths(site, 'run_0001'), 'exp_0000'))).toEqual([root, null, null])
    expect(at(slotPath(site, 0, 'b'))).toEqual([root, null, null])
    expect(at(join(site.state, 'w'))).toEqual([root, null, null])
  })

  test('a worktree that is gone already is no longer known', () => {
    expect(at(worktreePath(siteAt(root), 'run_0012', 'exp_0345'))).toEqual([root, 'run_0012', 'exp_0345'])
  })

  test('it is found from outside', async () => {
    const outside = makeTemp('outside')
    expect(at(outside)).toBeNull()
    const ran = await project.cli(['status'], { cwd: outside })
    expect([ran.code, ran.json]).toMatchObject([3, { ok: false, problem: { code: 'no_run', at: outside } }])
  })

  test('it is found from a repository of its own inside the checkout', () => {
    const nested = join(root, 'vendor/nested')
    mkdirSync(nested, { recursive: true })
    project.repo.git('init', '--quiet', nested)
    expect(at(nested)).toBeNull()
  })
})

describe('a bare repository with linked worktrees', () => {
  const setUp = (place: (base: string) => string): { base: string; one: string; two: string; repo: Repo } => {
    const repo = makeRepo({ files: { 'src/a.txt': 'a' } })
    const base = makeTemp('bare')
    const store = place(base)
    repo.git('clone', '--quiet', '--bare', repo.dir, store)
    const [one, two] = [join(base, 'one'), join(base, 'two')]
    repo.git('--git-dir', store, 'worktree', 'add', '--quiet', one, 'main')
    repo.git('--git-dir', store, 'worktree', 'add', '--quiet', two, '-b', 'two')
    return { base, one, two, repo }
  }

  test.each([
    ['project.git', (base: string) => join(base, 'project.git')],
    ['.git', (base: string) => join(base, '.git')],
  ])('a run in one of them is not found from the others: %s', (_, place) => {
    const { base, one, two } = setUp(place)
    const checkout = checkoutAround(join(two, 'src'))
    expect(checkout).toMatchObject({ top: two, commonDir: place(base) })
    expect(checkout && rootForInit(checkout, true)).toBe(two)
    expect(findSite(one)).toBeNull()
    plantRun(two, 'run_0001')
    expect(findSite(join(two, 'src'))?.site.root).toBe(two)
    expect(findSite(join(one, 'src'))?.site.root).toBe(two)
  })

  test('init puts the state into the bare folder, or where nobody finds it', async () => {
    const repo = makeProject().repo
    const base = makeTemp('bare')
    repo.git('clone', '--quiet', '--bare', repo.dir, join(base, '.git'))
    const [one, two] = [join(base, 'one'), join(base, 'two')]
    repo.git('--git-dir', join(base, '.git'), 'worktree', 'add', '--quiet', one, 'main')
    repo.git('--git-dir', join(base, '.git'), 'worktree', 'add', '--quiet', two, '-b', 'two')
    const { cli } = makeProject()
    const started = await cli<{ run: string }>(['init'], { cwd: two })
    expect(started.json).toMatchObject({ ok: true, data: { run: 'run_0001' } })
    expect(findSite(one)?.site.root).toBe(two)
    const seen = await cli<{ run: string }>(['status'], { cwd: join(one, 'src') })
    expect(seen.json).toMatchObject({ ok: true, data: { run: 'run_0001' } })
  })
})

describe('checkouts', () => {
  test('the state of the main checkout goes into a linked worktree', () => {
    const repo = makeRepo({ files: { a: 'a' } })
    const linked = join(repo.dir, '../a-linked-one')
    repo.git('worktree', 'add', '--quiet', linked, '-b', 'side')
    const checkout = checkoutAround(linked)
    expect(checkout).toEqual({
      top: linked,
      gitDir: join(repo.dir, '.git/worktrees/a-linked-one'),
      commonDir: join(repo.dir, '.git'),
    })
    expect(checkout && rootForInit(checkout, false)).toBe(repo.dir)
  })

  test('a run in a linked worktree is not found from the main checkout, or wins over its own', () => {
    const repo = makeRepo({ files: { a: 'a' } })
    const linked = join(repo.dir, '../with-state')
    repo.git('worktree', 'add', '--quiet', linked, '-b', 'side')
    plantRun(linked, 'run_0001')
    expect(findSite(repo.dir)?.site.root).toBe(linked)
    plantRun(repo.dir, 'run_0001')
    expect(findSite(repo.dir)?.site.root).toBe(repo.dir)
    expect(findSite(linked)?.site.root).toBe(repo.dir)
  })

  test('a folder that is only called .git ends the search, or a moved git folder is not followed', () => {
    const repo = makeRepo({ files: { 'sub/a.txt': 'a' } })
    mkdirSync(repo.path('sub/.git'))
    expect(checkoutAround(repo.path('sub'))?.top).toBe(repo.dir)
    const elsewhere = join(makeTemp('moved'), 'repo.git')
    const checkout = makeTemp('checkout')
    repo.git('init', '--quiet', '--separate-git-dir', elsewhere, checkout)
    expect(checkoutAround(checkout)).toEqual({ top: checkout, gitDir: elsewhere, commonDir: elsewhere })
    plantRun(checkout, 'run_0001')
    expect(findSite(checkout)?.site.root).toBe(checkout)
  })

  test('state without any repository is not found', () => {
    const folder = makeTemp('plain')
    plantRun(folder, 'run_0001')
    mkdirSync(join(folder, 'a/b'), { recursive: true })
    expect(findSite(join(folder, 'a/b'))?.site.root).toBe(folder)
    expect(checkoutAround(folder)).toBeNull()
  })
})

test('folders that are no runs are listed, or runs in the order of names', () => {
  const root = realpathSync(makeTemp('runs'))
  expect(listRuns(siteAt(root))).toEqual([])
  plantRun(root, 'run_10000', 'run_0010', 'run_9999', 'run_0002')
  const { runs } = siteAt(root)
  // A ledger without a first event is of a run that never began.
  plantRun(root, 'run_0007')
  writeFileSync(runPaths(siteAt(root), 'run_0007').ledger, '')
  for (const name of ['run_0003', 'run_3', 'run_0004.tmp', 'x_run_0005']) mkdirSync(join(runs, name))
  for (const name of ['run_0004.tmp', 'run_3']) writeFileSync(join(runs, name, 'ledger.jsonl'), '{}\n')
  writeFileSync(join(runs, 'run_0006'), 'a file')
  expect(listRuns(siteAt(root))).toEqual(['run_0002', 'run_0010', 'run_9999', 'run_10000'])
})

test('a run whose first event is long is not found, or one of which only a part was written is', () => {
  const root = realpathSync(makeTemp('long'))
  plantRun(root, 'run_0001', 'run_0002')
  const event = JSON.stringify({ goal: 'x'.repeat(10_000) })
  writeFileSync(runPaths(siteAt(root), 'run_0001').ledger, `${event}\n`)
  writeFileSync(runPaths(siteAt(root), 'run_0002').ledger, event)
  expect(listRuns(siteAt(root))).toEqual(['run_0001'])
})

test('ids that lead out of their folder are taken for ids', () => {
  const wrong = ['exp_1', 'exp_00a1', 'exp_0001/..', '../exp_0001', 'exp_0001\n', 'EXP_0001', '', 'exp_']
  expect(wrong.filter(isExperimentId)).toEqual([])
  expect(wrong.map((id) => id.replace('exp', 'run')).filter(isRunId)).toEqual([])
  expect(['exp_0000', 'exp_12345'].map(isExperimentId)).toEqual([true, true])
})
