/** Which files configure the programs that test and measure, and which variables make programs load more. Pure tables. */

export interface Tool {
  /** As people call it. */
  name: string
  /** In a command, or in a script of package.json, a Makefile or a shell script that it runs. */
  mentioned: RegExp
  /** The last parts of the paths that it reads. A text is a name that may also be added where it runs. */
  reads: readonly (string | RegExp)[]
  /**
   * Of these, what it also reads in folders below; default: all of them. With it, all may be added in each folder on the
   * way to what it is told to run; else only where it runs, and in the root.
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
export const TOOLS: readonly Tool[] = [
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
export const TEST_RUNNERS = word(
  'pytest|py\\.test|unittest|nose2|tox|nox|vitest|jest|mocha|ava|tap|tape|jasmine|karma|cypress|playwright|uvu|rspec|minitest|phpunit|pest|ctest|nextest|(?:npm|pnpm|yarn|bun|deno|cargo|go|mix|swift|zig|dotnet|make|just|mvnw?|rake|rails|composer|meson|bazel|gradlew?)\\s+(?:run\\s+)?(?:test\\w*|t|check|verify)',
)
export const NODE_TESTS = /\bnode\b[^\n;|&]*\s--test\b/

/** Variables that make a program load code from the folders, or the files, that they name; and what it would load. */
export const LOADING: Readonly<Record<string, { by: string; file: string }>> = {
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
