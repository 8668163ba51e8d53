/** `worktree.cache`: a build of minutes is not paid from nothing by each candidate, and no candidate inherits from another. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { missingProgram } from '../rig/needs.ts'
import { makeTemp } from '../rig/temp.ts'
import { type Files, hook, makeProject, metrics, ms, type Project } from './project.ts'

const noMake = missingProgram('make', ['make', '--version'])

/** Each of `src/a.txt` … `src/e.txt` is "compiled" into `out/`, and each compilation writes a line outside. */
const MAKEFILE = (log: string) => `PARTS = $(patsubst src/%.txt,out/%.o,$(sort $(wildcard src/*.txt)))
out/app: $(PARTS)
\tcat $(PARTS) > $@
out/%.o: src/%.txt
\t@mkdir -p out
\t@echo "$$(basename "$$PWD") $*" >> '${log}'
\tcp $< $@
`
const PARTS: Files = Object.fromEntries(
  ['a', 'b', 'c', 'd', 'e'].map((name) => [`src/${name}.txt`, `# ${name}\n`]),
)

describe('a declared build cache', () => {
  let project: Project
  let log: string
  /** Parts that were compiled since the last call, by checkout; which of the two holds the candidate is drawn. */
  const compiledIn = () => {
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean).sort() : []
    rmSync(log, { force: true })
    const parts = (place: string) =>
      lines.flatMap((line) => (line.startsWith(`${place} `) ? line.slice(2) : []))
    return [parts('a'), parts('b')]
  }
  const compiled = () => compiledIn().flat()
  const places = ['a', 'b'].map((name) => `.assay/m/0/${name}`)
  /** The checkout that holds the candidate with this value. */
  const placeOf = (value: number): string => {
    const holds = (place: string) => {
      const file = project.repo.path(place, 'src/metrics.txt')
      return existsSync(file) && readFileSync(file, 'utf8').includes(`ms=${value}\n`)
    }
    const [found, ...more] = places.filter(holds)
    expect([found === undefined, more]).toEqual([false, []])
    return found ?? ''
  }
  const start = (more: Record<string, unknown> = {}) => {
    project = makeProject({ spec: { worktree: { build: { command: 'make -s' }, cache: ['out'] }, ...more } })
    log = join(project.control, 'compiled')
    project.repo.commit('make', {
      '.gitignore': 'out/\n',
      Makefile: MAKEFILE(log),
      'bench/run.sh': 'if [ -f src/hook.sh ]; then . ./src/hook.sh; fi\ncat out/app\n',
      ...PARTS,
    })
  }
  beforeEach(({ skip }) => {
    skip(noMake !== null, noMake ?? '')
    start()
  })

  test('each candidate builds everything again, or finds what an earlier candidate built', async () => {
    await project.data('init')
    compiled()
    const first = await project.attempt({ ...ms(90), 'src/a.txt': '# changed\n' })
    expect(first).toMatchObject({ status: 'kept', value: 90 })
    expect(compiled()).toEqual(['a', 'metrics'])
    const second = await project.attempt({ ...ms(80), 'src/b.txt': '# changed\n' })
    expect(second).toMatchObject({ status: 'kept', value: 80 })
    // Part a is as in the baseline again.
    expect(compiled()).toEqual(['b', 'metrics'])
    const third = await project.attempt({ ...ms(70), 'src/b.txt': '# changed again\n' })
    expect(third).toMatchObject({ status: 'kept', value: 70 })
    expect(compiled()).toEqual(['b', 'metrics'])
  })

  test('what a candidate plants in the cache reaches the next one', async () => {
    await project.data('init')
    const planted = await project.attempt({
      ...ms(95),
      'src/z.txt': '# z\n',
      ...hook('echo "# z" > out/y.o'),
    })
    expect(planted).toMatchObject({ status: 'kept', value: 95 })
    // z.o of that candidate is nowhere: a later app has only its own parts.
    const later = await project.attempt({ ...ms(94), 'src/y.txt': 'METRIC other=1\n' })
    expect(later).toMatchObject({ status: 'kept', value: 94 })
    const apps = places.map((place) => {
      const app = project.repo.path(place, 'out/app')
      return existsSync(app) ? readFileSync(app, 'utf8') : ''
    })
    expect(apps.filter((app) => app.includes('METRIC other=1') && app.includes('# z'))).toEqual([])
    const own = places[apps.findIndex((app) => app.includes('METRIC other=1'))] ?? ''
    expect(readdirSync(project.repo.path(own, 'out'))).not.toContain('z.o')
  })

  test('an output of a deleted source stays in the build', async () => {
    await project.data('init')
    await project.attempt(ms(96))
    compiled()
    const { experiment, worktree } = await project.open(ms(90))
    rmSync(join(worktree, 'src/e.txt'))
    expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 90 })
    expect(compiled()).toEqual(['a', 'b', 'c', 'd', 'metrics'])
    expect(existsSync(project.repo.path(placeOf(90), 'out/e.o'))).toBe(false)
  })

  test('a cache that something wrote into is used', async () => {
    await project.data('init')
    await project.attempt(ms(96))
    const kept = places
      .map((place) => project.repo.path(`${place}-cache/files/out/a.o`))
      .filter((file) => existsSync(file))
    for (const file of kept) writeFileSync(file, 'METRIC ms=1\n')
    compiled()
    expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept', value: 90 })
    expect(compiled()).toContain('a')
    expect(readFileSync(project.repo.path(`${placeOf(90)}-cache/files/out/a.o`), 'utf8')).toBe('# a\n')
  })

  test('a candidate is compared with a parent that began from a different state', async () => {
    start({
      noise: { mode: 'paired', calibrate: 2, pairs: { min: 5, max: 12 } },
      metric: { name: 'n', direction: 'minimize' },
    })
    project.repo.commit('no time', metrics({ n: 100 }))
    await project.data('init')
    const first = await project.attempt(metrics({ n: 80 }))
    expect(first).toMatchObject({ status: 'kept' })
    compiled()
    const second = await project.attempt(
      { ...metrics({ n: 60 }), 'src/a.txt': '# changed\n' },
      first.experiment,
    )
    expect(second).toMatchObject({ status: 'kept', against: first.experiment })
    expect(compiledIn().sort()).toEqual([['a', 'metrics'], ['metrics']])
  })

  test('a path with sources is accepted as a cache: one that git tracks or does not ignore', async () => {
    start({ worktree: { build: { command: 'make -s' }, cache: ['src'] } })
    expect(await project.problem('init')).toMatchObject({
      exit: 2,
      code: 'cache_not_ignored',
      data: { path: 'src' },
    })
    start({ worktree: { build: { command: 'make -s' }, cache: ['obj/'] } })
    expect(await project.problem('init')).toMatchObject({
      code: 'cache_not_ignored',
      hint: 'add obj to .gitignore and commit that',
    })
  })
})

const noCargo = missingProgram('cargo', ['sh', '-c', 'command -v cargo'])

test('cargo compiles a crate again that no candidate changed', async ({ skip }) => {
  skip(noCargo !== null, noCargo ?? '')
  const main = (n: number) => `fn main() {\n    println!("METRIC n={}", ${n} + dep::f());\n}\n`
  const crate = (name: string, more = '') =>
    `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n${more}`
  const project = makeProject({
    spec: {
      worktree: { build: { command: 'cargo build --offline' }, cache: ['target'] },
      measure: { command: 'target/debug/p', environment: { inherit: ['RUSTUP_HOME', 'RUSTUP_TOOLCHAIN'] } },
      metric: { name: 'n', direction: 'minimize' },
    },
    files: {
      '.gitignore': 'target/\n',
      'Cargo.toml': crate('p', '[workspace]\n[dependencies]\ndep = { path = "src/dep" }\n'),
      'Cargo.lock':
        'version = 3\n\n[[package]]\nname = "dep"\nversion = "0.1.0"\n\n[[package]]\nname = "p"\nversion = "0.1.0"\ndependencies = [\n "dep",\n]\n',
      'src/dep/Cargo.toml': crate('dep'),
      'src/dep/src/lib.rs': 'pub fn f() -> u32 {\n    40\n}\n',
      'src/main.rs': main(60),
    },
  })
  const env = {
    CARGO_HOME: makeTemp('cargo-home'),
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), '.rustup'),
  }
  const cli = async <T>(...args: string[]): Promise<T> => dataOf(await project.cli<T>(args, { env }))
  await cli('init')
  const { worktree } = await cli<{ worktree: string }>('new', '-m', 'less')
  writeFileSync(join(worktree, 'src/main.rs'), main(20))
  expect(await cli('run', 'exp_0001')).toMatchObject({ status: 'kept', value: 60 })
  const said = readFileSync(project.repo.path('.assay/runs/run_0001/exp/0001/attempts/1/build.out'), 'utf8')
  expect(said).toContain('Compiling p v0.1.0')
  expect(said).not.toContain('Compiling dep')
})
