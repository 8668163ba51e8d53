/** Which files decide a measurement although a candidate may change them, as far as imports show. Pure. */
import { looksLikeTest } from '../evaluate/tests-gone.ts'
import type { Area } from '../spec/rules.ts'
import type { Link, SourceFile, Sources } from './sources.ts'

// ----------------------------------------------------------------
// Which files configure the programs that test and measure, and which variables make programs load more.
// Pure tables.

export interface Tool {
  /** As people call it. */
  name: string
  /** In a command, or in a script of package.json, a Makefile or a shell script that it runs. */
  mentioned: RegExp
  /** The last parts of the paths that it reads. A text is a name that may also be added where it runs. */
  reads: readonly (string | RegExp)[]
  /**
   * Of these, what it also reads in folders below; default: all of them. With it, all may be added in each folder on the
   * way to the file that it runs; else only where it runs, and in the root.
   */
  deep?: readonly (string | RegExp)[]
}

const ENDING = '(?:[cm]?[jt]sx?|json|toml|ya?ml)'
const named = (stem: string): RegExp => new RegExp(`(?:^|/)${stem}\\.${ENDING}$`)
const inFolder = (path: string): RegExp => new RegExp(`(?:^|/)${path.replaceAll('.', '\\.')}$`)
const word = (text: string): RegExp => new RegExp(`(?:^|[^\\w.-])(?:${text})(?![\\w-])`, 'm')

/** All that JavaScript tools read through their runtime. */
const NODE = [
  'package.json',
  /(?:^|\/)(?:\.npmrc|\.pnp\.[cm]?js|\.yarnrc\.yml|\.pnpmfile\.cjs|bunfig\.toml)$/,
]
const COMPILERS = [
  /(?:^|\/)tsconfig[^/]*\.json$/,
  named('(?:babel|swc|esbuild|tsup|rollup|webpack)\\.config'),
  /(?:^|\/)\.(?:babelrc|swcrc)(?:\.\w+)?$/,
]
const RUST = [
  'Cargo.toml',
  'build.rs',
  inFolder('.cargo/config(?:.toml)?'),
  /(?:^|\/)rust-toolchain(?:\.toml)?$/,
  /(?:^|\/)\.config\/nextest\.toml$/,
]
const GRADLE = [
  /(?:^|\/)(?:build|settings)\.gradle(?:\.kts)?$/,
  'gradle.properties',
  /(?:^|\/)gradle\/(?:wrapper|libs)[^/]*/,
]

/** `pytest` comes first: it is the one whose files were always told. */
const TOOLS: readonly Tool[] = [
  {
    name: 'pytest',
    mentioned: word('pytest|py\\.test'),
    reads: ['conftest.py', 'pytest.ini', 'pyproject.toml', 'tox.ini', 'setup.cfg', '.pytest.ini'],
    deep: ['conftest.py'],
  },
  { name: 'tox', mentioned: word('tox'), reads: ['tox.ini', 'pyproject.toml', 'setup.cfg'] },
  { name: 'nox', mentioned: word('nox'), reads: ['noxfile.py'] },
  {
    name: 'vitest',
    mentioned: word('vitest'),
    reads: [
      named('vitest\\.(?:config|workspace|projects)'),
      named('vite\\.config'),
      'vitest.config.ts',
      ...COMPILERS,
    ],
  },
  {
    name: 'jest',
    mentioned: word('jest|react-scripts\\s+test'),
    reads: [named('jest\\.(?:config|setup|preset)'), 'jest.config.js', ...COMPILERS, 'package.json'],
  },
  {
    name: 'mocha',
    mentioned: word('mocha|nyc|c8'),
    reads: [
      /(?:^|\/)\.mocharc\.\w+$/,
      '.mocharc.json',
      /(?:^|\/)\.(?:nycrc|c8rc)(?:\.\w+)?$/,
      ...COMPILERS,
      'package.json',
    ],
  },
  { name: 'ava', mentioned: word('ava'), reads: [named('ava\\.config'), 'ava.config.js', 'package.json'] },
  {
    name: 'tap',
    mentioned: word('tap|tape'),
    reads: [/(?:^|\/)\.taprc(?:\.\w+)?$/, '.taprc', 'package.json'],
  },
  {
    name: 'jasmine',
    mentioned: word('jasmine'),
    reads: [/(?:^|\/)spec\/support\/jasmine\.\w+$/, named('jasmine')],
  },
  { name: 'karma', mentioned: word('karma'), reads: [named('karma\\.conf'), 'karma.conf.js'] },
  {
    name: 'cypress',
    mentioned: word('cypress'),
    reads: [named('cypress\\.config'), 'cypress.config.js', /(?:^|\/)cypress\/(?:support|plugins)\//],
  },
  {
    name: 'playwright',
    mentioned: word('playwright'),
    reads: [named('playwright[\\w.-]*\\.config'), 'playwright.config.ts'],
  },
  {
    name: 'tsc',
    mentioned: word('tsc|vue-tsc|svelte-check|tsd|ts-node|tsx'),
    reads: [/(?:^|\/)tsconfig[^/]*\.json$/, 'tsconfig.json'],
  },
  {
    name: 'eslint',
    mentioned: word('eslint'),
    reads: [named('eslint\\.config'), /(?:^|\/)\.eslint(?:rc(?:\.\w+)?|ignore)$/, 'eslint.config.js'],
  },
  { name: 'biome', mentioned: word('biome'), reads: [/(?:^|\/)\.?biome\.jsonc?$/, 'biome.json'] },
  {
    name: 'ruff or mypy',
    mentioned: word('ruff|mypy|flake8|pylint|pyright'),
    reads: [
      /(?:^|\/)\.?(?:ruff\.toml|mypy\.ini|flake8|pylintrc)$/,
      'pyproject.toml',
      'setup.cfg',
      'pyrightconfig.json',
    ],
  },
  { name: 'deno', mentioned: word('deno'), reads: [/(?:^|\/)deno\.jsonc?$/, 'deno.json'] },
  { name: 'npm', mentioned: word('npm|npx|pnpm|yarn|bun|bunx'), reads: NODE },
  {
    name: 'node --test',
    mentioned: /\bnode\b[^\n;|&]*\s--test\b/,
    reads: ['package.json', 'node.config.json'],
  },
  { name: 'cargo', mentioned: word('cargo'), reads: RUST },
  { name: 'go', mentioned: word('go\\s+(?:test|run|build|vet|tool)'), reads: ['go.mod', 'go.work'] },
  { name: 'make', mentioned: word('make|gmake'), reads: ['Makefile', 'GNUmakefile', 'makefile'] },
  { name: 'just', mentioned: word('just'), reads: ['justfile', '.justfile'] },
  {
    name: 'cmake',
    mentioned: word('cmake|ctest'),
    reads: ['CMakeLists.txt', 'CTestTestfile.cmake', 'CMakePresets.json', /\.cmake$/],
  },
  { name: 'meson', mentioned: word('meson'), reads: ['meson.build', /(?:^|\/)meson_options\.txt$/] },
  {
    name: 'bazel',
    mentioned: word('bazel|bazelisk'),
    reads: [/(?:^|\/)(?:BUILD|WORKSPACE)(?:\.bazel)?$/, 'MODULE.bazel', '.bazelrc', /\.bzl$/],
  },
  { name: 'gradle', mentioned: /\bgradlew?\b/, reads: GRADLE },
  { name: 'maven', mentioned: /\bmvnw?\b/, reads: ['pom.xml', /(?:^|\/)\.mvn\//] },
  {
    name: 'dotnet',
    mentioned: word('dotnet'),
    reads: [/\.(?:cs|fs|vb)proj$/, /(?:^|\/)Directory\.Build\.(?:props|targets)$/, /\.runsettings$/],
  },
  {
    name: 'rspec',
    mentioned: word('rspec'),
    reads: ['.rspec', /(?:^|\/)(?:spec|rails)_helper\.rb$/, 'Gemfile'],
  },
  {
    name: 'bundler or rake',
    mentioned: word('bundle|rake|minitest'),
    reads: ['Gemfile', 'Rakefile', /\.gemspec$/, /(?:^|\/)test_helper\.rb$/],
  },
  {
    name: 'phpunit',
    mentioned: word('phpunit|pest|composer'),
    reads: [/(?:^|\/)phpunit\.xml(?:\.dist)?$/, 'phpunit.xml', /(?:^|\/)Pest\.php$/, 'composer.json'],
  },
  { name: 'mix', mentioned: word('mix'), reads: ['mix.exs', /(?:^|\/)test_helper\.exs$/] },
  { name: 'swift', mentioned: word('swift'), reads: ['Package.swift'] },
  { name: 'zig', mentioned: word('zig'), reads: ['build.zig', 'build.zig.zon'] },
]

/** Programs that run tests: what they are given decides what they look at. */
const TEST_RUNNERS = word(
  'pytest|py\\.test|unittest|nose2|tox|nox|vitest|jest|mocha|ava|tap|tape|jasmine|karma|cypress|playwright|uvu|rspec|minitest|phpunit|pest|ctest|nextest|(?:npm|pnpm|yarn|bun|deno|cargo|go|mix|swift|zig|dotnet|make|just|mvnw?|rake|rails|composer|meson|bazel|gradlew?)\\s+(?:run\\s+)?(?:test\\w*|t|check|verify)',
)
const NODE_TESTS = /\bnode\b[^\n;|&]*\s--test\b/

/** Variables that make a program load code from the folders, or the files, that they name; and what it would load. */
const LOADING: Readonly<Record<string, { by: string; file: string }>> = {
  PYTHONPATH: { by: 'Python', file: 'sitecustomize.py' },
  PYTHONSTARTUP: { by: 'Python', file: '' },
  PYTHONHOME: { by: 'Python', file: '' },
  PYTHONUSERBASE: { by: 'Python', file: '' },
  NODE_PATH: { by: 'Node', file: '' },
  NODE_OPTIONS: { by: 'Node', file: '' },
  BUN_OPTIONS: { by: 'Bun', file: '' },
  RUBYOPT: { by: 'Ruby', file: '' },
  RUBYLIB: { by: 'Ruby', file: '' },
  PERL5LIB: { by: 'Perl', file: '' },
  PERL5OPT: { by: 'Perl', file: '' },
  PERLLIB: { by: 'Perl', file: '' },
  PHPRC: { by: 'PHP', file: 'php.ini' },
  PHP_INI_SCAN_DIR: { by: 'PHP', file: '' },
  LUA_PATH: { by: 'Lua', file: '' },
  LUA_CPATH: { by: 'Lua', file: '' },
  LUA_INIT: { by: 'Lua', file: '' },
  CLASSPATH: { by: 'Java', file: '' },
  JAVA_TOOL_OPTIONS: { by: 'Java', file: '' },
  JDK_JAVA_OPTIONS: { by: 'Java', file: '' },
  JULIA_LOAD_PATH: { by: 'Julia', file: '' },
  R_PROFILE_USER: { by: 'R', file: '' },
  LD_PRELOAD: { by: 'the dynamic linker', file: '' },
  LD_LIBRARY_PATH: { by: 'the dynamic linker', file: '' },
  DYLD_INSERT_LIBRARIES: { by: 'the dynamic linker', file: '' },
  DYLD_LIBRARY_PATH: { by: 'the dynamic linker', file: '' },
  PATH: { by: 'the shell', file: '' },
  BASH_ENV: { by: 'bash', file: '' },
  ENV: { by: 'sh', file: '' },
  CARGO_HOME: { by: 'cargo', file: 'config.toml' },
  GIT_EXEC_PATH: { by: 'git', file: '' },
}

/**
 * `program`: a program that a command of the spec starts. `helper`: what such a program loads from its own folder.
 * `config`: what a test runner or a build tool reads by itself. `tests`: what a gate runs as its tests. `environment`: a
 * variable that makes programs load code of the candidate. `in_process`: code of the candidate in the process that
 * measures it.
 */
export type ExposureKind = 'program' | 'helper' | 'config' | 'tests' | 'environment' | 'in_process'

export interface Exposure {
  kind: ExposureKind
  /** `path` or `path:line`, from the root of the repository. */
  at: string
  message: string
}

/** One command that decides: the measurement, its scorer, or a gate. */
export interface JudgingCommand {
  /** `measure.command`, `gate unit`. */
  name: string
  command: string
  /** Where it runs, from the root of the repository; `''` is the root itself. */
  folder: string
  /** Whether it measures in its own process, so that nothing of a candidate should run there. A gate may. */
  measures: boolean
  sources: Sources
}

/**
 * At most one of each kind for each command. `paths`: every file of the base. `variables`: what the spec gives to all
 * commands, with values.
 */
export function exposuresOf(
  judges: readonly JudgingCommand[],
  areaOf: (path: string) => Area,
  paths: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Exposure[] {
  const open = (path: string) => areaOf(path) === 'mutable'
  const found = judges.flatMap((judge) => {
    const { programs, helpers, foreign } = follow(judge, open)
    const { tool, files } = configsOf(judge, paths, (path) => open(path) && !programs.includes(path))
    const tests = judge.measures ? [] : testsOf(judge, paths).filter(open)
    return [
      ...one('program', programs, (path) => ({
        at: path,
        message: `${judge.name} starts ${path}, and a candidate may change it: add it to scope.immutable`,
      })),
      ...all('config', files, (path, others) => ({
        at: path,
        message: `${judge.name} runs ${tool}, which is configured by ${path}${others}, and a candidate may change or add it: add it to scope.immutable`,
      })),
      ...all('tests', tests, (path, others) => ({
        at: path,
        message: `${judge.name} runs the tests in ${path}${others}, and a candidate may change, skip or delete them: add them to scope.immutable`,
      })),
      ...one(
        'environment',
        loadedBy({ ...variables, ...assignedIn(judge.command) }, judge, open, paths),
        (hit) => ({
          at: hit.variable,
          message: `${hit.variable}=${hit.value} names a place that a candidate may change: ${hit.by} loads ${hit.file} from there into every process of ${judge.name}. Set it for the child that runs the candidate only (assay guide integrity)`,
        }),
      ),
      ...one('helper', helpers, ({ from, line, to }) => ({
        at: `${from}:${line}`,
        message: `${from}:${line} loads ${to}, which a candidate may change: if it is part of the benchmark, add it to scope.immutable`,
      })),
      ...one('in_process', judge.measures ? foreign : [], ({ from, line, to }) => ({
        at: `${from}:${line}`,
        message: `${from}:${line} loads ${to}, which a candidate may change, into the process that measures: there it could patch the clock or print the result. Run it in a child and time that from outside (assay guide integrity)`,
      })),
    ]
  })
  // A variable that the spec sets is the same for each command.
  return found.filter(
    ({ kind, at }, index) =>
      kind !== 'environment' || found.findIndex((other) => other.kind === kind && other.at === at) === index,
  )
}

const SHOWN = 4

/** As `one`, with the names of the others. */
function all(
  kind: ExposureKind,
  paths: readonly string[],
  tell: (first: string, others: string) => Omit<Exposure, 'kind'>,
): Exposure[] {
  const [first, ...rest] = paths
  if (first === undefined) return []
  const named = rest.slice(0, SHOWN - 1).map((path) => `, ${path}`)
  const more = rest.length - named.length
  return [{ kind, ...tell(first, `${named.join('')}${more === 0 ? '' : ` and ${more} more`}`) }]
}

function one<T>(
  kind: ExposureKind,
  found: readonly T[],
  tell: (first: T) => Omit<Exposure, 'kind'>,
): Exposure[] {
  const [first] = found
  if (first === undefined) return []
  const { at, message } = tell(first)
  const more = found.length - 1
  return [{ kind, at, message: more === 0 ? message : `${message} (and ${more} more like it)` }]
}

interface Loaded extends Link {
  from: string
}

/** From the programs through all that no candidate may change, as long as it runs in a process that measures. */
function follow({ sources }: JudgingCommand, open: (path: string) => boolean) {
  const files = new Map(sources.files.map((file) => [file.path, file]))
  const programs = sources.entries.filter(open)
  const helpers: Loaded[] = []
  const foreign: Loaded[] = []
  const queue = sources.entries.filter((path) => !open(path))
  const seen = new Set(queue)
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const link of files.get(path)?.links ?? []) {
      if (seen.has(link.to) || !staysInside(files.get(path), link)) continue
      seen.add(link.to)
      const loaded = { ...link, from: path }
      if (!open(link.to)) queue.push(link.to)
      else if (link.how === 'loads') (isBeside(loaded) ? helpers : foreign).push(loaded)
    }
  }
  return { programs, helpers, foreign }
}

/** What a shell script starts does its work; what a program starts is a child that it can time from outside. */
const staysInside = (file: SourceFile | undefined, { how }: Link): boolean =>
  how === 'loads' || file?.language === 'shell'

/** In the folder of the file that loads it, or below; the root of a repository belongs to no program. */
function isBeside({ from, to }: Loaded): boolean {
  const folder = folderOf(from)
  return folder !== '' && to.startsWith(`${folder}/`)
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The command, and what it runs by name: scripts of a package.json, a Makefile, shell scripts. */
const textOf = ({ command, sources }: JudgingCommand): string =>
  [
    command,
    ...sources.files.flatMap(({ path, text, language }) =>
      language === 'shell' || path.endsWith('package.json') ? [text] : [],
    ),
  ].join('\n')

interface Told {
  /** The paths that the command names, without a slash at the end. */
  told: string[]
  /** Those, or the folder in which it runs: where it looks for more. */
  roots: string[]
}

/** Of the simple commands that call the program, or of all when a script does. */
function toldTo({ command, folder }: JudgingCommand, paths: readonly string[], program: RegExp): Told {
  const simple = command.split(/&&|\|\||[;|\n]/).filter((one) => program.test(one))
  const below = (inner: string) => (folder === '' ? inner : `${folder}/${inner}`)
  const told = (simple.length > 0 ? simple.join('\n') : command)
    .split(/[\s'"]+/)
    .map((word) => below(word.replace(/::.*$|\/+$/g, '').replace(/^\.\//, '')))
    .filter((path) => paths.some((known) => known === path || known.startsWith(`${path}/`)))
  return { told, roots: told.length > 0 ? told : [folder] }
}

const isBelow = (path: string, root: string): boolean =>
  root === '' || path === root || path.startsWith(`${root}/`)

/** What its tools read on their way from the root to the file that they run; files that exist come first. */
function configsOf(
  judge: JudgingCommand,
  paths: readonly string[],
  open: (path: string) => boolean,
): { tool: string; files: string[] } {
  const text = textOf(judge)
  const read = TOOLS.filter(({ mentioned }) => mentioned.test(text)).flatMap((tool) => {
    const { told, roots } = toldTo(judge, paths, tool.mentioned)
    const folders = new Set(['', judge.folder, ...told.flatMap(ancestors)])
    const existing = tool.reads.flatMap((name) =>
      paths.filter((path) => {
        const onTheWay = folders.has(folderOf(path))
        const deep = (tool.deep ?? tool.reads).includes(name) && roots.some((root) => isBelow(path, root))
        return open(path) && (onTheWay || deep) && isRead(name, path)
      }),
    )
    const addable = [...(tool.deep ? folders : new Set(['', judge.folder]))].flatMap((one) =>
      tool.reads.flatMap((name) => (typeof name === 'string' ? [one === '' ? name : `${one}/${name}`] : [])),
    )
    return [...existing, ...addable.filter(open)].map((path) => ({
      path,
      tool: tool.name,
      exists: paths.includes(path),
    }))
  })
  const sorted = [...read.filter(({ exists }) => exists), ...read.filter(({ exists }) => !exists)]
  return { tool: sorted[0]?.tool ?? '', files: [...new Set(sorted.map(({ path }) => path))] }
}

const isRead = (name: Tool['reads'][number], path: string): boolean =>
  typeof name === 'string' ? `/${path}`.endsWith(`/${name}`) : name.test(path)

const ancestors = (path: string): string[] => {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** The tests that a gate runs: the files that look like tests below the paths that it names; where none do, these paths. */
function testsOf(judge: JudgingCommand, paths: readonly string[]): string[] {
  const text = textOf(judge)
  const runner = [TEST_RUNNERS, NODE_TESTS].find((one) => one.test(text))
  if (!runner) return []
  const { told, roots } = toldTo(judge, paths, runner)
  const own = paths.filter((path) => roots.some((root) => isBelow(path, root)))
  const tests = own.filter(looksLikeTest)
  return tests.length > 0 || told.length === 0 ? tests : own
}

/** `NAME=value` in front of the programs of a command line. */
const assignedIn = (command: string): Record<string, string> =>
  Object.fromEntries(
    [...command.matchAll(/(?:^|[\s;&|('"])([A-Z][A-Z0-9_]*)=("[^"]*"|'[^']*'|[^\s;&|]*)/g)].map(
      ([, name = '', value = '']) => [name, value.replace(/^(['"])(.*)\1$/, '$2')],
    ),
  )

interface LoadedFrom {
  variable: string
  value: string
  by: string
  file: string
}

/** Variables by which a program would load a file that a candidate may change or add. */
function loadedBy(
  variables: Readonly<Record<string, string>>,
  { folder }: JudgingCommand,
  open: (path: string) => boolean,
  paths: readonly string[],
): LoadedFrom[] {
  return Object.entries(LOADING).flatMap(([variable, { by, file }]) => {
    for (const part of (variables[variable] ?? '').split(/[\s:;,=]+/)) {
      const path = insideOf(folder, part)
      if (path === null) continue
      const added = file === '' ? null : path === '' ? file : `${path}/${file}`
      const existing = paths.find((known) => isBelow(known, path) && open(known))
      const loaded = added !== null && open(added) ? added : existing
      if (loaded !== undefined) return [{ variable, value: part, by, file: loaded }]
    }
    return []
  })
}

/** A relative path from the root of the repository; null for what leads out of it, and for options. */
function insideOf(folder: string, part: string): string | null {
  const plain = part.replace(/^-[Ir]/, '').replace(/^\$\{?PWD\}?\//, '')
  if (plain === '' || /^[-/~$]/.test(plain)) return null
  const parts: string[] = folder === '' ? [] : folder.split('/')
  for (const name of plain.split('/')) {
    if (name === '..') {
      if (parts.pop() === undefined) return null
    } else if (name !== '' && name !== '.') parts.push(name)
  }
  return parts.join('/')
}
