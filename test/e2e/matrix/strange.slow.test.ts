/** Repositories and users unlike any fixture: each comes to a kept improvement, and nothing of the user's changes. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Files, makeRepo, type Repo } from '../../rig/repo.ts'
import { snapshotTree } from '../../rig/snapshot.ts'
import { makeTemp } from '../../rig/temp.ts'
import { type Project, specText } from '../project.ts'
import { at, journey } from './journey.ts'

const SPEC = {
  measure: { command: 'sh bench/size.sh' },
  metric: { name: 'bytes', direction: 'minimize' },
  noise: { mode: 'deterministic', calibrate: 2 },
}
const FILES: Files = {
  'assay.yaml': specText(SPEC),
  'src/text.txt': 'a long text\n',
  'bench/size.sh': 'echo "METRIC bytes=$(wc -c < src/text.txt)"\n',
  'docs/a.md': 'a\n',
  'docs/b.md': 'b\n',
}
const EDIT: Files = { 'src/text.txt': 'short\n' }

const gitIn = (repo: Repo, cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
    cwd,
    env: repo.env,
    stdio: 'pipe',
    encoding: 'utf8',
  })

/** Staged, changed, untracked and deleted work outside of the scope. */
function beBusy({ repo }: Project): void {
  repo.write({ 'docs/a.md': 'staged\n' })
  gitIn(repo, repo.dir, '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', 'add', 'docs/a.md')
  repo.write({ 'docs/a.md': 'staged, then changed\n', 'docs/b.md': 'changed\n', 'docs/new.md': 'mine\n' })
}

/** Another folder of the same repository: a clone, or a linked worktree. */
function elsewhere(origin: Repo, dir: string): Project {
  const project = at(origin, dir)
  const { repo } = project
  repo.path = (...parts) => join(dir, ...parts)
  repo.read = (path) => readFileSync(join(dir, path), 'utf8')
  repo.git = (...args) => gitIn(origin, dir, ...args).replace(/\n$/, '')
  repo.write = (files) => {
    for (const [path, entry] of Object.entries(files))
      writeFileSync(join(dir, path), typeof entry === 'string' ? entry : entry.text)
  }
  return project
}

function cloned(name: string, ...flags: string[]): Project {
  const origin = makeRepo({ files: FILES })
  origin.git('config', 'uploadpack.allowFilter', 'true')
  const folder = join(makeTemp('clones'), name)
  gitIn(origin, origin.dir, 'clone', '--quiet', ...flags, `file://${origin.dir}`, folder)
  return elsewhere(origin, folder)
}

function plain(files: Files = {}): Project {
  const origin = makeRepo({ files: { ...FILES, ...files } })
  return elsewhere(origin, origin.dir)
}

const HOOKS = ['pre-commit', 'commit-msg', 'post-checkout', 'post-index-change', 'reference-transaction']

function withHooks(project: Project, script: string): Project {
  const folder = makeTemp('hooks')
  for (const name of HOOKS) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  project.repo.git('config', 'core.hooksPath', folder)
  return project
}

function configured(settings: Record<string, string>): Project {
  const project = plain()
  for (const [key, value] of Object.entries(settings)) project.repo.git('config', key, value)
  return project
}

const SHAPES: Record<string, () => Project> = {
  'a path with quotes, a dollar, a backslash and letters of the world': () =>
    cloned(`it's "$HOME" \`x\` \\ größe 日本 %s`),
  'a path of 200 characters': () => {
    const project = cloned('x'.repeat(200))
    expect(basename(project.repo.dir)).toHaveLength(200)
    return project
  },
  'a linked worktree, detached, as the checkout': () => {
    const origin = makeRepo({ files: FILES })
    const folder = join(makeTemp('linked'), 'work')
    gitIn(origin, origin.dir, 'worktree', 'add', '--quiet', '--detach', folder)
    return elsewhere(origin, folder)
  },
  'a partial clone': () => cloned('partial', '--filter=blob:none'),
  'a sparse checkout': () => {
    const project = plain({ 'far/away.txt': 'x\n' })
    project.repo.git('sparse-checkout', 'set', 'src', 'bench', 'docs')
    expect(existsSync(project.repo.path('far/away.txt'))).toBe(false)
    return project
  },
  'SHA-256': () => {
    const origin = makeRepo({ files: FILES })
    const folder = join(makeTemp('sha256'), 'repo')
    gitIn(origin, origin.dir, 'init', '--quiet', '--object-format=sha256', folder)
    gitIn(origin, folder, 'config', 'user.name', 'Rig')
    gitIn(origin, folder, 'config', 'user.email', 'rig@example.invalid')
    gitIn(origin, origin.dir, 'checkout-index', '--all', `--prefix=${folder}/`)
    gitIn(origin, folder, 'add', '--all')
    gitIn(origin, folder, 'commit', '--quiet', '--message', 'first')
    return elsewhere(origin, folder)
  },
  'a filter of attributes': () => {
    const project = plain({ '.gitattributes': 'docs/*.md filter=shout\n' })
    project.repo.git('config', 'filter.shout.clean', 'tr a-z A-Z')
    project.repo.git('config', 'filter.shout.smudge', 'tr A-Z a-z')
    return project
  },
  'hooks that fail': () => withHooks(plain(), 'echo no >&2; exit 1'),
  'hooks that hang': () => withHooks(plain(), 'exec sleep 3600'),
  'commits that must be signed, with no key': () =>
    configured({ 'commit.gpgsign': 'true', 'tag.gpgsign': 'true', 'gpg.program': '/nowhere/gpg' }),
  'no identity': () => {
    const project = plain()
    project.repo.git('config', '--unset', 'user.name')
    project.repo.git('config', '--unset', 'user.email')
    project.repo.git('config', 'user.useConfigOnly', 'true')
    return project
  },
  'settings that change what git prints': () =>
    configured({
      'color.ui': 'always',
      'core.pager': 'false',
      'status.showUntrackedFiles': 'no',
      'status.relativePaths': 'true',
      'diff.external': '/nowhere/diff',
      'diff.noprefix': 'true',
      'diff.renames': 'copies',
      'diff.mnemonicPrefix': 'true',
      'core.quotePath': 'true',
      'log.showSignature': 'true',
      'core.fsmonitor': '/nowhere/monitor',
      'core.untrackedCache': 'true',
      'core.splitIndex': 'true',
      'submodule.recurse': 'true',
      'advice.detachedHead': 'true',
      'init.defaultBranch': 'assay',
      'core.abbrev': '4',
      'transfer.hideRefs': 'refs/heads',
      'protocol.allow': 'never',
    }),
  'a branch, a tag and refs called assay': () => {
    const project = plain()
    project.repo.git('branch', '-m', 'assay')
    project.repo.git('tag', 'refs/assay/run_0001/exp_0001/1')
    project.repo.git('update-ref', 'refs/assay/run_0001/exp_0000/1', 'HEAD')
    project.repo.git('update-ref', 'refs/assay/run_0001/exp_0001/1', 'HEAD')
    return project
  },
  'a lock on the index that somebody left': () => {
    const project = plain()
    project.repo.write({ '.git/index.lock': '' })
    return project
  },
  'a merge that stopped at a conflict outside of the scope': () => {
    const project = plain()
    const { repo } = project
    repo.git('switch', '--quiet', '--create', 'other')
    repo.write({ 'docs/a.md': 'theirs\n' })
    repo.git('commit', '--quiet', '--all', '--message', 'theirs')
    repo.git('switch', '--quiet', 'main')
    repo.write({ 'docs/a.md': 'ours\n' })
    repo.git('commit', '--quiet', '--all', '--message', 'ours')
    expect(() => repo.git('merge', '--quiet', 'other')).toThrow()
    return project
  },
  'an alternate object folder': () => {
    const origin = makeRepo({ files: FILES })
    const folder = join(makeTemp('borrower'), 'work')
    gitIn(origin, origin.dir, 'clone', '--quiet', '--shared', origin.dir, folder)
    return elsewhere(origin, folder)
  },
}

/** These are busy by themselves, and git would refuse to stage anything. */
const isBusyByItself = (name: string) => /^(a lock on the index|a merge that stopped)/.test(name)

describe('no kept improvement, or the user’s work changes, in', () => {
  test.each(Object.keys(SHAPES))('%s', async (name) => {
    const shape = SHAPES[name]
    if (!shape) throw new Error(name)
    const project = shape()
    if (!isBusyByItself(name)) beBusy(project)
    const except = ['.assay', '.git/info/exclude']
    const before = snapshotTree(project.repo.dir, { except })
    const baseline = readFileSync(project.repo.path('src/text.txt')).length
    await journey(project, { baseline, edit: EDIT, value: 6 })
    expect(snapshotTree(project.repo.dir, { except })).toEqual(before)
  })
})

test('core.autocrlf makes every file of a worktree look changed, or the user’s files change', async () => {
  const origin = makeRepo({ files: FILES })
  const folder = join(makeTemp('clones'), 'crlf')
  gitIn(origin, origin.dir, '-c', 'core.autocrlf=true', 'clone', '--quiet', origin.dir, folder)
  gitIn(origin, folder, 'config', 'core.autocrlf', 'true')
  const project = elsewhere(origin, folder)
  expect(project.repo.read('src/text.txt')).toBe('a long text\r\n')
  await journey(project, { baseline: 13, edit: EDIT, value: 7 })
})

test('odd names of files break the seal, the scope, the diff or the checkout', async () => {
  const odd = [
    'a b',
    "it's",
    'quo"te',
    'new\nline',
    'tab\tx',
    'größe 日本',
    '-n',
    ':(glob)x',
    '*',
    '$HOME',
    '\\',
    '#x',
  ]
  const file = (name: string) => `src/${name}.txt`
  const project = plain(Object.fromEntries(odd.map((name) => [file(name), `${name}\n`])))
  const edit = Object.fromEntries(
    odd.flatMap((name) => [
      [file(name), 'x\n'],
      [file(`${name}+`), 'new\n'],
    ]),
  )
  await journey(project, { baseline: 12, edit: { ...edit, ...EDIT }, value: 6 })
})

test('a rename, a deletion, a mode, or a binary of a candidate is lost on the way to the measurement', async () => {
  const project = plain({
    'src/gone.txt': 'gone\n',
    'src/old-name.txt': 'a text that is long enough to be told again\n',
    'src/tool.sh': '#!/bin/sh\necho tool\n',
    'src/binary': 'x\n',
    'src/folder/file': 'x\n',
    'bench/size.sh': `set -e
if [ -e src/new-name.txt ]; then
  test ! -e src/gone.txt && test ! -e src/old-name.txt
  test "$(src/tool.sh)" = tool
  test "$(od -An -tx1 src/binary | tr -d ' \\n')" = 00ff0a0dfe
  test -f src/folder
fi
test "$(readlink src/link)" = text.txt
echo "METRIC bytes=$(wc -c < src/text.txt)"
`,
  })
  symlinkSync('text.txt', project.repo.path('src/link'))
  project.repo.git('add', 'src/link')
  project.repo.git('commit', '--quiet', '--message', 'a link')
  await project.data('init')
  const { experiment, worktree } = await project.open(EDIT)
  const sh = (script: string) => execFileSync('sh', ['-c', script], { cwd: join(worktree, 'src') })
  sh(`rm gone.txt && mv old-name.txt new-name.txt && chmod +x tool.sh
printf '\\000\\377\\n\\r\\376' > binary && rm -r folder && echo x > folder`)
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 6 })
  const { files } = await project.data<{ files: { path: string; status: string }[] }>('diff', experiment)
  expect(files.map(({ path }) => path)).toEqual([
    'src/binary',
    'src/folder',
    'src/folder/file',
    'src/gone.txt',
    'src/new-name.txt',
    'src/old-name.txt',
    'src/text.txt',
    'src/tool.sh',
  ])
})

describe('refused by name, with nothing made', () => {
  async function refused(project: Project): Promise<{ code: string; message: string; hint?: string }> {
    const before = snapshotTree(project.repo.dir)
    const problem = await project.problem('init')
    expect([2, 3]).toContain(problem.exit)
    expect(snapshotTree(project.repo.dir)).toEqual(before)
    return problem
  }

  test('a repository of a different user crashes init', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('only root can give a folder away')
    const project = plain()
    execFileSync('chown', ['-R', '1234', project.repo.dir])
    expect(await refused(project)).toMatchObject({
      code: 'unsafe_repository',
      hint: expect.stringContaining('safe.directory'),
    })
  })

  test('a path with a line break leads git into a different folder', async () => {
    expect(await refused(cloned('one\ntwo'))).toMatchObject({ code: 'newline_in_path' })
  })

  test('files that a partial clone lacks are found only in the middle of the work', async () => {
    const origin = makeRepo({ files: { ...FILES, 'far/away.txt': 'far\n' } })
    origin.git('config', 'uploadpack.allowFilter', 'true')
    const folder = join(makeTemp('clones'), 'partial')
    const flags = ['--filter=blob:none', '--sparse']
    gitIn(origin, origin.dir, 'clone', '--quiet', ...flags, `file://${origin.dir}`, folder)
    gitIn(origin, folder, 'sparse-checkout', 'set', 'src', 'bench', 'docs')
    const problem = await refused(elsewhere(origin, folder))
    expect(problem.code).toBe('partial_clone')
    expect(problem.message).toContain('far/away.txt')
  })

  test('a file or a folder of the project called .assay is overwritten, or used', async () => {
    const file = plain({ '.assay': 'mine\n' })
    expect(await refused(file)).toMatchObject({ code: 'state_taken' })
    const folder = plain({ '.assay/notes.txt': 'mine\n' })
    expect(await refused(folder)).toMatchObject({ code: 'state_taken' })
    const link = plain()
    mkdirSync(join(link.repo.dir, 'docs', 'elsewhere'))
    symlinkSync('docs/elsewhere', link.repo.path('.assay'))
    expect(await refused(link)).toMatchObject({ code: 'state_taken' })
  })
})
