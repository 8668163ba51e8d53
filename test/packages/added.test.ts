import { describe, expect, test } from 'vitest'
import { addedPackages, namesPackages } from '../../cli/packages/added.ts'

type Texts = Record<string, string>
const added = (before: Texts, after: Texts, ...approved: string[]) =>
  addedPackages(new Map(Object.entries(before)), new Map(Object.entries(after)), new Set(approved)).map(
    ({ name, message }) => name ?? message,
  )

const json = (value: unknown) => JSON.stringify(value)
const npmLock = (packages: Record<string, object>) =>
  json({ lockfileVersion: 3, packages: { '': {}, ...packages } })
const NPM = { 'package.json': json({ dependencies: { a: '^1.0.0' } }) }

/** By format: a file of the baseline, the same file with one package more, and the name of that package. */
const FORMATS: [path: string, before: string, after: string, name: string][] = [
  [
    'package.json',
    NPM['package.json'],
    json({ dependencies: { a: '^2' }, devDependencies: { zstd: '1' } }),
    'zstd',
  ],
  ['package.json', NPM['package.json'], json({ dependencies: { a: 'npm:evil@1' } }), 'evil'],
  ['package.json', NPM['package.json'], json({ dependencies: { a: 'github:evil/a' } }), 'a'],
  ['package.json', NPM['package.json'], json({ overrides: { a: { b: 'npm:evil@1' } } }), 'evil'],
  ['package.json', NPM['package.json'], json({ dependencies: { a: 'git@github.com:evil/a.git' } }), 'a'],
  ['package.json', NPM['package.json'], json({ pnpm: { overrides: { a: 'npm:evil@1' } } }), 'evil'],
  [
    'package.json',
    NPM['package.json'],
    json({ pnpm: { packageExtensions: { a: { dependencies: { evil: '1' } } } } }),
    'evil',
  ],
  [
    'package.json',
    json({ dependencies: { a: '1' } }),
    json({ dependencies: { a: 'catalog:', evil: 'catalog:' } }),
    'evil',
  ],
  ['vendor/x/package.json', '{}', json({ dependencies: { evil: '1' } }), 'evil'],
  ['pnpm-workspace.yaml', '', 'overrides:\n  a: npm:evil@1\n', 'evil'],
  ['pnpm-workspace.yaml', '', 'catalogs:\n  x:\n    evil: ^1\n', 'evil'],
  ['pnpm-workspace.yaml', '', 'packageExtensions:\n  a:\n    dependencies:\n      evil: ^1\n', 'evil'],
  ['pnpm-lock.yaml', '', "packages:\n  '@s/evil@1.0.0(a@1)':\n    resolution: {integrity: x}\n", '@s/evil'],
  ['pnpm-lock.yaml', '', 'packages:\n  /@s/evil/1.0.0_a@1:\n    resolution: {integrity: x}\n', '@s/evil'],
  [
    'pnpm-lock.yaml',
    'packages:\n  a@1.0.0:\n    resolution: {integrity: x}\n',
    'packages:\n  a@https://elsewhere.example/a.tgz:\n    resolution: {tarball: https://elsewhere.example/a.tgz}\n',
    'a',
  ],
  ['yarn.lock', '', '# yarn lockfile v1\n"@s/evil@^1", "@s/evil@^2":\n  version "2.0.0"\n', '@s/evil'],
  [
    'yarn.lock',
    'a@^1:\n  version "1.0.0"\n  resolved "https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#1"\n',
    'a@^1:\n  version "1.0.0"\n  resolved "https://elsewhere.example/a/-/a-1.0.0.tgz#1"\n',
    'a',
  ],
  ['yarn.lock', '', '__metadata:\n  version: 8\n"a@npm:evil@^1":\n  resolution: "evil@npm:1.0.0"\n', 'evil'],
  ['.yarnrc.yml', '', 'npmRegistryServer: https://elsewhere.example\n', 'registry https://elsewhere.example'],
  ['.yarnrc', '', '"@s:registry" "https://elsewhere.example"\n', 'registry https://elsewhere.example'],
  ['bun.lock', '', '{"packages": {"evil": ["evil@1.0.0", "", {}, "x"],}}', 'evil'],
  [
    'bunfig.toml',
    '',
    '[install.scopes]\ns = { url = "https://elsewhere.example" }\n',
    'registry https://elsewhere.example',
  ],
  [
    'setup.py',
    'setup(install_requires=["a>=1"])\n',
    'setup(install_requires=["a>=2", "evil[x]>1"])\n',
    'evil',
  ],
  ['setup.py', '', 'setup(extras_require={"test": ["evil"]})\n', 'evil'],
  [
    'setup.py',
    'R = ["a"]\nsetup(install_requires=R)\n',
    'R = ["a", "evil"]\nsetup(install_requires=R)\n',
    'evil',
  ],
  [
    'setup.cfg',
    '[options]\ninstall_requires =\n  a; python_version < "3"\n',
    '[options]\ninstall_requires = a; a\n[options.extras_require]\ntest =\n  evil; python_version < "4"\n',
    'evil',
  ],
  ['Pipfile', '[packages]\na = "*"\n', '[packages]\na = "*"\n[dev-packages]\nevil = "*"\n', 'evil'],
  ['Pipfile.lock', '{}', json({ default: { evil: { version: '==1' } } }), 'evil'],
  [
    'pip.conf',
    '',
    '[global]\nindex-url = https://elsewhere.example\n',
    '--index-url https://elsewhere.example',
  ],
  ['uv.toml', '', '[[index]]\nurl = "https://elsewhere.example"\n', 'index https://elsewhere.example'],
  ['pdm.lock', '', '[[package]]\nname = "evil"\n', 'evil'],
  ['environment.yml', 'dependencies: [a=1]\n', 'dependencies: [a=2, x::evil=1]\n', 'evil'],
  ['environment.yml', '', 'dependencies:\n  - pip:\n    - evil\n', 'evil'],
  ['Gemfile', "gem 'a'\n", "gem 'b'\n", 'gemfile'],
  ['app/app.csproj', '<Project/>', '<Project></Project>', 'app/app.csproj'],
  ['requirements.txt', 'a\n', 'a\n-c elsewhere.cfg\n', '-c elsewhere.cfg'],
  ['constraints.txt', 'a==1\n', 'a @ https://elsewhere.example/a.whl\nb==2\n', 'a'],
  [
    'pyproject.toml',
    '[tool.poetry.dependencies]\na = "1"\n',
    '[tool.poetry.dependencies]\na = [{ version = "1" }, { git = "https://elsewhere.example/a" }]\n',
    'a',
  ],
  [
    'pyproject.toml',
    '[project]\ndependencies = ["a"]\n',
    '[project]\ndependencies = ["a"]\n[tool.uv.sources]\na = [{ git = "https://elsewhere.example/a", marker = "x" }]\n',
    'a',
  ],
  [
    'pyproject.toml',
    '[project]\ndependencies = ["a"]\n',
    '[project]\ndependencies = ["a"]\n[tool.uv]\noverride-dependencies = ["b>1", "a @ https://elsewhere.example/a"]\n',
    'a',
  ],
  [
    'pyproject.toml',
    '',
    '[[tool.uv.index]]\nurl = "https://elsewhere.example"\n',
    'index https://elsewhere.example',
  ],
  ['pyproject.toml', '', '[tool.poetry.requires-plugins]\nevil = ">1"\n', 'evil'],
  ['pyproject.toml', '', '[tool.pdm.dev-dependencies]\ntest = ["evil"]\n', 'evil'],
  ['pyproject.toml', '', '[tool.hatch.envs.default]\ndependencies = ["evil"]\n', 'evil'],
  ['Cargo.toml', '', '[build_dependencies]\nevil = "1"\n', 'evil'],
  ['.cargo/config.toml', '', '[patch.crates-io]\nserde = { git = "https://elsewhere.example/s" }\n', 'serde'],
  [
    '.cargo/config.toml',
    '',
    '[source.other]\nregistry = "https://elsewhere.example"\n',
    'source https://elsewhere.example',
  ],
  ['go.work', 'go 1.22\n', 'go 1.22\nreplace a.example/a => evil.example/a v1.0.0\n', 'evil.example/a'],
  ['build.gradle', '', "dependencies { implementation 'junit:junit:4.13' }\n", 'junit:junit'],
  ['build.gradle.kts', '', 'dependencies { testImplementation("junit:junit") }\n', 'junit:junit'],
  ['gradle.lockfile', '', 'commons-io:commons-io:2.11=runtimeClasspath\n', 'commons-io:commons-io'],
  [
    'pom.xml',
    '<project></project>',
    '<project><annotationProcessorPaths><path><groupId>evil.example</groupId><artifactId>p</artifactId></path></annotationProcessorPaths></project>',
    'evil.example:p',
  ],
  [
    'package-lock.json',
    npmLock({ 'node_modules/a': { resolved: 'https://registry.npmjs.org/a/-/a-1.0.0.tgz' } }),
    npmLock({
      'node_modules/a': { resolved: 'https://registry.npmjs.org/a/-/a-1.1.0.tgz' },
      'node_modules/a/node_modules/zstd': {},
    }),
    'zstd',
  ],
  [
    'package-lock.json',
    npmLock({ 'node_modules/a': { resolved: 'https://registry.npmjs.org/a/-/a-1.0.0.tgz' } }),
    npmLock({ 'node_modules/a': { resolved: 'https://elsewhere.example/a/-/a-1.0.0.tgz' } }),
    'a',
  ],
  [
    'npm-shrinkwrap.json',
    json({ dependencies: { a: {} } }),
    json({ dependencies: { a: { dependencies: { zstd: {} } } } }),
    'zstd',
  ],
  ['requirements.txt', 'numpy==1.0\n', 'numpy==2.0 # newer\nZ.Std[fast]>=1; python_version>"3"\n', 'z-std'],
  ['requirements-dev.txt', 'a\n', 'a\ngit+https://example.com/zstd.git@v1#egg=zstd\n', 'zstd'],
  ['requirements/base.txt', 'a\n', 'a \\\n  --hash=sha256:1\n-r other.cfg\n', '-r other.cfg'],
  [
    'requirements.txt',
    'a\n',
    '--extra-index-url https://elsewhere.example\na\n',
    '--extra-index-url https://elsewhere.example',
  ],
  [
    'pyproject.toml',
    '[project]\ndependencies = ["numpy>=1"]\n',
    '[project]\ndependencies = ["numpy>=2", "zstd"]\n',
    'zstd',
  ],
  ['pyproject.toml', '', '[dependency-groups]\ndev = ["zstd"]\n', 'zstd'],
  ['pyproject.toml', '', '[tool.poetry.group.dev.dependencies]\npython = "^3"\nzstd = "^1"\n', 'zstd'],
  ['pyproject.toml', '', '[build-system]\nrequires = ["zstd"]\n', 'zstd'],
  [
    'uv.lock',
    '[[package]]\nname = "me"\nsource = { virtual = "." }\n',
    '[[package]]\nname = "zstd"\nsource = { registry = "https://pypi.org/simple" }\n',
    'zstd',
  ],
  [
    'poetry.lock',
    '[[package]]\nname = "a"\n',
    '[[package]]\nname = "a"\n[[package]]\nname = "zstd"\n',
    'zstd',
  ],
  [
    'Cargo.toml',
    '[dependencies]\nserde = "1"\n',
    '[dependencies]\nserde = "1"\nfast = { package = "zstd_sys" }\n',
    'zstd-sys',
  ],
  ['Cargo.toml', '', '[target."cfg(unix)".build-dependencies]\nzstd = "1"\n', 'zstd'],
  [
    'Cargo.toml',
    '[dependencies]\nserde = "1"\n',
    '[patch.crates-io]\nserde = { git = "https://example.com/x" }\n',
    'serde',
  ],
  [
    'Cargo.lock',
    '[[package]]\nname = "me"\n',
    '[[package]]\nname = "me"\n[[package]]\nname = "zstd"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n',
    'zstd',
  ],
  [
    'go.mod',
    'module me\nrequire a.b/c v1\n',
    'module me\nrequire (\n\ta.b/c v2\n\tx.y/zstd v1\n)\n',
    'x.y/zstd',
  ],
  ['go.mod', 'require a.b/c v1\n', 'require a.b/c v1\nreplace a.b/c => x.y/zstd v1\n', 'x.y/zstd'],
  ['go.mod', 'require a.b/c v1\n', 'require a.b/c v1\nrequire x.y/zstd v1 // indirect\n', 'x.y/zstd'],
  ['go.sum', 'a.b/c v1 h1:x=\n', 'a.b/c v1 h1:x=\nx.y/zstd v1/go.mod h1:y=\n', 'x.y/zstd'],
  [
    'pom.xml',
    '<project><properties><g>com.a</g></properties></project>',
    `<project><properties><g>com.a</g></properties><!-- <dependency><artifactId>no</artifactId></dependency> --><dependencies><dependency><groupId>\${g}</groupId><artifactId>zstd</artifactId><exclusions><exclusion><groupId>b</groupId></exclusion></exclusions></dependency></dependencies></project>`,
    'com.a:zstd',
  ],
  [
    'build.gradle',
    "implementation 'com.a:b:1'",
    'implementation "com.a:b:2"\napi group: "com.a", name: "zstd"',
    'com.a:zstd',
  ],
  ['app/build.gradle.kts', '', '// "com.a:no:1"\nplugins { id("com.zstd") version "1" }', 'com.zstd'],
  [
    'gradle/libs.versions.toml',
    '',
    '[libraries]\nz = { module = "com.a:zstd", version = "1" }\n',
    'com.a:zstd',
  ],
  [
    'gradle.lockfile',
    '# x\ncom.a:b:1=classpath\n',
    'com.a:b:2=classpath\ncom.a:zstd:1=classpath\n',
    'com.a:zstd',
  ],
]

describe('a package that nobody approved', () => {
  test.each(FORMATS)('gets through in %s: %j → %j', (path, before, after, name) => {
    expect(namesPackages(path)).toBe(true)
    expect(added({ [path]: before }, { [path]: after })).toEqual([name])
    expect(added({ [path]: before }, { [path]: after }, name)).toEqual([])
    expect(added({ [path]: after }, { [path]: after })).toEqual([])
  })

  test('is taken for an addition although a further file of the baseline names it, or a folder of the repository itself is one', () => {
    const before = { ...NPM, 'web/package.json': json({ dependencies: { zstd: '1' } }) }
    expect(added(before, { 'package.json': json({ dependencies: { a: '1', zstd: '1' } }) })).toEqual([])
    const local = { dependencies: { x: 'workspace:*', y: 'file:../y', z: './z' } }
    expect(added(NPM, { 'package.json': json(local) })).toEqual([])
    expect(added({}, { 'Cargo.toml': '[dependencies]\nme = { path = "../me", version = "1" }\n' })).toEqual(
      [],
    )
    expect(added({}, { 'requirements.txt': '-e .\n./lib\n-r requirements-dev.txt\n' })).toEqual([])
    expect(added({}, { 'go.mod': 'replace a.b/c => ../c\n' })).toEqual([])
    expect(added({}, { 'constraints.txt': 'b==2\n' })).toEqual([])
    expect(added({}, { 'build.gradle': "tasks.check.dependsOn 'app:lint'\n" })).toEqual([])
    const bounds = '[tool.uv]\nconstraint-dependencies = ["b>1"]\n'
    expect(added({}, { 'pyproject.toml': bounds })).toEqual([])
  })

  test('hides behind a comment that does not end, or takes minutes to read', () => {
    const open = '<dependency><groupId>com.a</groupId><artifactId>zstd</artifactId></dependency>'
    expect(added({}, { 'pom.xml': `<project><!-- ${open}` })).toEqual(['com.a:zstd'])
    expect(added({}, { 'pom.xml': '<!-- '.repeat(200_000) })).toEqual([])
    expect(added({}, { 'pom.xml': '<a '.repeat(200_000) })).toEqual([])
    expect(added({}, { 'build.gradle': '/* '.repeat(200_000) })).toEqual([])
    expect(added({}, { 'requirements.txt': `a ${'# '.repeat(200_000)}` })).toEqual(['a'])
  })

  test('hides in a file that cannot be read', () => {
    expect(added(NPM, { 'package.json': '{' })[0]).toMatch(/^package.json cannot be read/)
    expect(added({ 'x/package.json': '{{ name }}' }, { 'x/package.json': '{{ other }}' })).toEqual([])
    const evil = json({ dependencies: { evil: '1' } })
    expect(added({ 'package.json': '{{ name }}' }, { 'package.json': evil })).toEqual(['evil'])
    expect(added({ 'package.json': '\ufeff{}' }, { 'package.json': `\ufeff${evil}` })).toEqual(['evil'])
  })
})

describe('what an approved package needs', () => {
  const before = { ...NPM, 'package-lock.json': npmLock({ 'node_modules/a': {} }) }
  const locked = (more: Record<string, object>) => ({
    'package.json': json({ dependencies: { a: '1', zstd: '1' } }),
    'package-lock.json': npmLock({ 'node_modules/a': {}, ...more }),
  })

  test('needs an approval of its own, or lets something else through', () => {
    const zstd = { 'node_modules/zstd': { dependencies: { bindings: '1' } }, 'node_modules/bindings': {} }
    expect(added(before, locked(zstd), 'zstd')).toEqual([])
    expect(added(before, locked(zstd))).toEqual(['zstd', 'zstd', 'bindings'])
    expect(added(before, locked({ ...zstd, 'node_modules/evil': {} }), 'zstd')).toEqual(['evil'])
    const replaced = { ...zstd, 'node_modules/a': { resolved: 'git+ssh://git@example.com/a.git#1' } }
    expect(added(before, locked(replaced), 'zstd')).toEqual(['a'])
  })

  // As pnpm 9 and 7, yarn 1 and 4, and bun wrote them for `{"is-odd": "^3.0.0", "num": "npm:is-number@^6.0.0"}`.
  test.each([
    [
      'pnpm-lock.yaml',
      "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      is-odd:\n        specifier: ^3.0.0\n        version: 3.0.1\npackages:\n  is-number@6.0.0:\n    resolution: {integrity: sha512-x}\n  is-odd@3.0.1:\n    resolution: {integrity: sha512-x}\nsnapshots:\n  is-number@6.0.0: {}\n  is-odd@3.0.1:\n    dependencies:\n      is-number: 6.0.0\n",
    ],
    [
      'pnpm-lock.yaml',
      'lockfileVersion: 5.4\ndependencies:\n  is-odd: 3.0.1\n  num: /is-number/6.0.0\npackages:\n  /is-number/6.0.0:\n    resolution: {integrity: sha512-x}\n  /is-odd/3.0.1:\n    resolution: {integrity: sha512-x}\n    dependencies:\n      num: /is-number/6.0.0\n',
    ],
    [
      'yarn.lock',
      '# yarn lockfile v1\n\n\nis-odd@^3.0.0:\n  version "3.0.1"\n  resolved "https://registry.yarnpkg.com/is-odd/-/is-odd-3.0.1.tgz#65"\n  integrity sha512-x\n  dependencies:\n    is-number "^6.0.0"\n\n"num@npm:is-number@^6.0.0":\n  version "6.0.0"\n  resolved "https://registry.yarnpkg.com/is-number/-/is-number-6.0.0.tgz#e6"\n',
    ],
    [
      'yarn.lock',
      '__metadata:\n  version: 10\n\n"is-number@npm:^6.0.0, num@npm:is-number@^6.0.0":\n  version: 6.0.0\n  resolution: "is-number@npm:6.0.0"\n\n"is-odd@npm:^3.0.0":\n  version: 3.0.1\n  resolution: "is-odd@npm:3.0.1"\n  dependencies:\n    num: "npm:is-number@^6.0.0"\n\n"x@workspace:.":\n  version: 0.0.0-use.local\n  resolution: "x@workspace:."\n  dependencies:\n    is-odd: "npm:^3.0.0"\n',
    ],
    [
      'bun.lock',
      '{\n  "lockfileVersion": 1,\n  "packages": {\n    "is-odd": ["is-odd@3.0.1", "", { "dependencies": { "is-number": "^6.0.0" } }, "sha512-x"],\n\n    "num": ["is-number@6.0.0", "", {}, "sha512-x"],\n  }\n}\n',
    ],
  ])('does not come along, or is not looked for, in %s', (path, lock) => {
    const names = added({ [path]: '' }, { [path]: lock })
    expect(names.sort()).toEqual(['is-number', 'is-odd'])
    expect(added({ [path]: '' }, { [path]: lock }, 'is-odd')).toEqual([])
    expect(added({ [path]: '' }, { [path]: lock }, 'is-number')).toEqual(['is-odd'])
    expect(added({ 'package.json': json({ dependencies: { 'is-odd': '3' } }) }, { [path]: lock })).toEqual([])
  })

  test('a lock file that the baseline does not have adds everything that the baseline needs', () => {
    const lock = npmLock({ 'node_modules/a': { dependencies: { b: '1' } }, 'node_modules/b': {} })
    expect(added(NPM, { 'package-lock.json': lock })).toEqual([])
    const more = npmLock({ 'node_modules/a': {}, 'node_modules/evil': {} })
    expect(added(NPM, { 'package-lock.json': more })).toEqual(['evil'])
  })

  test('is refused where the lock file does not say who needs what', () => {
    const go = { 'go.mod': 'require a.b/c v1\n', 'go.sum': 'a.b/c v1 h1:x=\n' }
    const wanted = {
      'go.mod': 'require a.b/c v1\nrequire x.y/zstd v1\nrequire x.y/cgo v1 // indirect\n',
      'go.sum': 'a.b/c v1 h1:x=\nx.y/zstd v1 h1:x=\nx.y/cgo v1 h1:x=\n',
    }
    expect(added(go, wanted, 'x.y/zstd')).toEqual([])
    expect(added(go, wanted, 'x.y/cgo')).toEqual(['x.y/zstd', 'x.y/zstd'])
  })
})
