import { expect, test } from 'vitest'
import { crawlers } from '../../cli/doctor/checks/crawlers.ts'
import { writeFiles } from '../e2e/project.ts'
import { makeTemp } from '../rig/temp.ts'
import { sceneAt } from './patient.ts'

async function found(files: Record<string, string>): Promise<string[]> {
  const top = makeTemp()
  writeFiles(top, files)
  const findings = await crawlers.look({ ...(await sceneAt(top)), top })
  return findings.map(({ level, code }) => `${level} ${code}`)
}

const WALKS: [string, Record<string, string>, string][] = [
  ['jest', { 'jest.config.js': 'module.exports = {}' }, 'warning crawler_jest'],
  ['jest in package.json', { 'package.json': '{"jest":{}}' }, 'warning crawler_jest'],
  [
    'jest that ignores it',
    { 'jest.config.js': `module.exports = { modulePathIgnorePatterns: ['<rootDir>/.assay/'] }` },
    'ok crawler_jest',
  ],
  [
    'jest that ignores every experiment too',
    { 'jest.config.js': `module.exports = { testPathIgnorePatterns: ['/\\\\.assay/'] }` },
    'problem crawler_jest_unanchored',
  ],
  ['vitest', { 'vitest.config.ts': 'export default {}' }, 'warning crawler_vitest'],
  [
    'vitest by its package',
    { 'package.json': '{"devDependencies":{"vitest":"4"}}' },
    'warning crawler_vitest',
  ],
  ['vitest that ignores it', { 'vitest.config.ts': `test: { exclude: ['.assay/**'] }` }, 'ok crawler_vitest'],
  ['mocha', { '.mocharc.json': '{}' }, 'ok crawler_mocha'],
  ['mocha that watches', { 'package.json': '{"scripts":{"test":"mocha --watch"}}' }, 'warning crawler_mocha'],
  ['tsc', { 'tsconfig.json': '{"include":["**/*"]}' }, 'ok crawler_tsc'],
  ['tsc with hidden folders', { 'tsconfig.json': '{"include":[".*/**/*"]}' }, 'warning crawler_tsc'],
  ['eslint, flat', { 'eslint.config.js': 'export default []' }, 'warning crawler_eslint'],
  ['eslint, old', { '.eslintrc.json': '{}' }, 'ok crawler_eslint'],
  ['prettier', { '.prettierrc': '{}' }, 'warning crawler_prettier'],
  [
    'prettier that ignores it',
    { '.prettierrc': '{}', '.prettierignore': '/.assay/\n' },
    'ok crawler_prettier',
  ],
  ['biome', { 'biome.json': '{}' }, 'warning crawler_biome'],
  ['nx', { 'nx.json': '{}' }, 'warning crawler_nx'],
  ['workspaces that name folders', { 'package.json': '{"workspaces":["packages/*"]}' }, 'ok crawler_turbo'],
  ['workspaces of everything', { 'package.json': '{"workspaces":["**"]}' }, 'warning crawler_turbo'],
  ['npm', { 'package.json': '{}', '.assay/runs/a': '' }, 'warning crawler_npm'],
  [
    'npm beside a folder that ignores itself',
    { 'package.json': '{}', '.assay/.gitignore': '*\n' },
    'ok crawler_npm',
  ],
  [
    'npm that ignores it',
    { 'package.json': '{}', '.assay/runs/a': '', '.npmignore': '/.assay/\n' },
    'ok crawler_npm',
  ],
  [
    'npm that ignores it, with files that name everything',
    { 'package.json': '{"files":["**"]}', '.assay/runs/a': '', '.npmignore': '/.assay/\n' },
    'warning crawler_npm',
  ],
  ['npm with files', { 'package.json': '{"files":["dist"]}', '.assay/runs/a': '' }, 'ok crawler_npm'],
  ['vsce', { 'package.json': '{"engines":{"vscode":"^1.90.0"}}' }, 'warning crawler_vsce'],
  [
    'vsce that ignores it',
    { 'package.json': '{"engines":{"vscode":"^1.90.0"}}', '.vscodeignore': '.assay/**\n' },
    'ok crawler_vsce',
  ],
  ['rsync', { Makefile: 'deploy:\n\trsync -az --delete . host:/srv\n' }, 'warning crawler_copy'],
  [
    'rsync that leaves it out',
    { Makefile: 'deploy:\n\trsync -az --exclude=/.assay . host:/srv\n' },
    'ok crawler_copy',
  ],
  ['tar', { 'package.json': '{"scripts":{"d":"tar czf a.tgz ."}}' }, 'warning crawler_copy'],
  ['pytest', { 'pytest.ini': '[pytest]\n' }, 'ok crawler_pytest'],
  [
    'pytest with its own norecursedirs',
    { 'pyproject.toml': '[tool.pytest.ini_options]\nnorecursedirs = ["build"]\n' },
    'warning crawler_pytest',
  ],
  ['black', { 'pyproject.toml': '[tool.black]\nline-length = 99\n' }, 'warning crawler_black'],
  [
    'black that ignores it',
    { 'pyproject.toml': `[tool.black]\nextend-exclude = '^/\\.assay/'\n` },
    'ok crawler_black',
  ],
  ['flake8', { '.flake8': '[flake8]\n' }, 'warning crawler_flake8'],
  ['ruff', { 'ruff.toml': '' }, 'ok crawler_ruff'],
  ['cargo', { 'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\n' }, 'ok crawler_cargo'],
  ['cargo of everything', { 'Cargo.toml': '[workspace]\nmembers = ["*"]\n' }, 'warning crawler_cargo'],
  ['ripgrep', { Makefile: 'todo:\n\trg TODO\n' }, 'ok crawler_ripgrep'],
  ['ripgrep without ignore files', { Makefile: 'todo:\n\trg -uuu TODO\n' }, 'warning crawler_ripgrep'],
  ['docker', { Dockerfile: 'FROM scratch\n' }, 'warning crawler_docker'],
]

test.each(WALKS)('%s', async (_, files, expected) => {
  expect(await found(files)).toEqual([expected])
})

test('a plain project has crawlers, or a broken manifest crashes doctor', async () => {
  expect(await found({ 'package.json': '{"name":"x"}', 'src/a.js': '' })).toEqual([])
  expect(await found({ 'package.json': '{' })).toEqual([])
})

test('a finding does not tell whether exclude is followed, or lacks the line to write', async () => {
  const top = makeTemp()
  writeFiles(top, { '.prettierrc': '{}' })
  const [one] = await crawlers.look({ ...(await sceneAt(top)), top })
  expect(one).toMatchObject({
    repair: 'in .prettierignore: /.assay/',
    data: {
      tool: 'prettier',
      walks: true,
      follows_exclude: false,
      ignore: { file: '.prettierignore', line: '/.assay/' },
    },
  })
})
