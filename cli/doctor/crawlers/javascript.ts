/** Tools of JavaScript projects. */
import { recordOf } from '../../json.ts'
import { type Crawler, firstFile, mentions, type Project, STATE, withEndings } from './crawler.ts'

/** How a project shows that it uses a tool: a configuration file, a key of package.json, a package, a script. */
function configOf(
  project: Project,
  files: readonly string[],
  key: string | null,
  name: string,
): string | null {
  const file = firstFile(project, files)
  if (file !== null) return file
  if (key !== null && project.manifest[key] !== undefined) return 'package.json'
  return project.packages.has(name) || new RegExp(`(^|[\\s/])${name}(\\s|$)`, 'm').test(project.scripts)
    ? 'package.json'
    : null
}

/** The text that configures it: the file, or its key of package.json. */
function configText(project: Project, config: string, key: string | null): string {
  if (config !== 'package.json') return project.text(config)
  return key === null ? '' : JSON.stringify(project.manifest[key] ?? '')
}

const jest: Crawler = {
  tool: 'jest',
  find(project) {
    const config = configOf(project, withEndings('jest.config'), 'jest', 'jest')
    if (config === null) return null
    const text = configText(project, config, 'jest')
    return {
      config,
      walks: !mentions(text),
      follows_exclude: false,
      why: 'it maps every file below the root, and finds each test and each package name once per worktree',
      ignore: {
        file: config === 'package.json' ? 'package.json, under "jest"' : config,
        line: `"modulePathIgnorePatterns": ["<rootDir>/${STATE}/"], "testPathIgnorePatterns": ["/node_modules/", "<rootDir>/${STATE}/"], "watchPathIgnorePatterns": ["<rootDir>/${STATE}/"]`,
      },
    }
  },
}

const vitest: Crawler = {
  tool: 'vitest',
  find(project) {
    const config = configOf(
      project,
      [...withEndings('vitest.config'), ...withEndings('vitest.workspace')],
      null,
      'vitest',
    )
    if (config === null) return null
    const file =
      config === 'package.json'
        ? (firstFile(project, withEndings('vite.config')) ?? 'vitest.config.ts')
        : config
    const text = project.text(file)
    const narrow = /\b(include|dir)\s*:/.test(text) && !/include\s*:\s*\[\s*['"`]\*\*/.test(text)
    return {
      config: file,
      walks: mentions(text) ? false : narrow ? null : true,
      follows_exclude: false,
      why: narrow
        ? 'its include patterns are its own; those that begin with ** also match in hidden folders'
        : 'its patterns begin with ** and match in hidden folders too',
      ignore: {
        file,
        line: `test: { exclude: [...configDefaults.exclude, '${STATE}/**'] }  // configDefaults from 'vitest/config'`,
      },
    }
  },
}

const mocha: Crawler = {
  tool: 'mocha',
  find(project) {
    const files = [
      '.mocharc.js',
      '.mocharc.cjs',
      '.mocharc.mjs',
      '.mocharc.json',
      '.mocharc.jsonc',
      '.mocharc.yml',
      '.mocharc.yaml',
    ]
    const config = configOf(project, files, 'mocha', 'mocha')
    if (config === null) return null
    const watches = /mocha\s[^\n]*(--watch\b|-w\b)/.test(project.scripts)
    const text = configText(project, config, 'mocha') + project.scripts
    return {
      config,
      walks: watches && !mentions(text),
      follows_exclude: false,
      why: watches ? 'with --watch it watches every folder' : 'its patterns pass over hidden folders',
      ignore: { file: config, line: `"watch-ignore": ["node_modules", ".git", "${STATE}"]` },
    }
  },
}

const tsc: Crawler = {
  tool: 'tsc',
  find(project) {
    const config = [...project.files].find((name) => /^tsconfig(\..+)?\.json$/.test(name))
    if (config === undefined) return null
    const exclude = /"exclude"\s*:\s*\[([^\]]*)\]/.exec(project.text(config))?.[1] ?? ''
    const include = /"include"\s*:\s*\[([^\]]*)\]/.exec(project.text(config))?.[1] ?? ''
    // TypeScript's ** passes over folders that begin with a dot; a pattern that names the dot does not.
    const named = /["'](?:\.\/)?\.\*|["']\.\*/.test(include) || mentions(include)
    return {
      config,
      walks: named && !mentions(exclude),
      follows_exclude: false,
      why: named ? 'its "include" names hidden folders' : 'its ** passes over hidden folders',
      ignore: { file: config, line: `"exclude": ["node_modules", "${STATE}"]` },
    }
  },
}

const eslint: Crawler = {
  tool: 'eslint',
  find(project) {
    const flat = firstFile(project, withEndings('eslint.config'))
    const old = [...project.files].find((name) => /^\.eslintrc(\..+)?$/.test(name)) ?? null
    const config = flat ?? old ?? configOf(project, [], 'eslintConfig', 'eslint')
    if (config === null) return null
    const isOld = flat === null && (old !== null || project.manifest.eslintConfig !== undefined)
    const ignored = mentions(project.text(config)) || mentions(project.text('.eslintignore'))
    return {
      config,
      walks: !isOld && !ignored,
      follows_exclude: false,
      why: isOld
        ? 'with a configuration of the old form it passes over hidden folders'
        : 'with a flat configuration it no longer passes over hidden folders',
      ignore: {
        file: flat ?? 'eslint.config.js',
        line: `{ ignores: ['${STATE}/**'] },  // an object of its own, first in the list`,
      },
    }
  },
}

const prettier: Crawler = {
  tool: 'prettier',
  find(project) {
    const files = [
      '.prettierrc',
      ...withEndings('.prettierrc'),
      '.prettierrc.yaml',
      '.prettierrc.yml',
      '.prettierrc.toml',
      ...withEndings('prettier.config'),
    ]
    const config = configOf(project, files, 'prettier', 'prettier')
    if (config === null) return null
    return {
      config,
      walks: !mentions(project.text('.prettierignore') + project.text('.gitignore')),
      follows_exclude: false,
      why: 'it expands folders with hidden ones, and reads .gitignore and .prettierignore only',
      ignore: { file: '.prettierignore', line: `/${STATE}/` },
    }
  },
}

const biome: Crawler = {
  tool: 'biome',
  find(project) {
    const config = firstFile(project, ['biome.json', 'biome.jsonc'])
    if (config === null) return null
    return {
      config,
      walks: !mentions(project.text(config) + project.text('.gitignore')),
      follows_exclude: null,
      why: 'it scans hidden folders; with vcs.useIgnoreFile it reads .gitignore',
      ignore: { file: config, line: `"files": { "includes": ["**", "!${STATE}"] }` },
    }
  },
}

const nx: Crawler = {
  tool: 'nx',
  find(project) {
    if (!project.files.has('nx.json')) return null
    return {
      config: 'nx.json',
      walks: mentions(project.text('.nxignore') + project.text('.gitignore')) ? false : null,
      follows_exclude: null,
      why: 'it looks for projects in hidden folders too, and two of one name are an error; not every version reads .git/info/exclude',
      ignore: { file: '.nxignore', line: `/${STATE}/` },
    }
  },
}

const workspaces: Crawler = {
  tool: 'turbo and workspaces',
  find(project) {
    const pnpm = project.text('pnpm-workspace.yaml')
    const declared = project.manifest.workspaces ?? null
    const config =
      pnpm !== ''
        ? 'pnpm-workspace.yaml'
        : declared !== null
          ? 'package.json'
          : firstFile(project, ['turbo.json'])
    if (config === null) return null
    const list = Array.isArray(declared) ? declared : (recordOf(declared).packages ?? [])
    const text = pnpm !== '' ? pnpm : JSON.stringify(list)
    const wide = /["'\s](?:\.\/)?\*/.test(text.replaceAll('["', ' "'))
    return {
      config,
      walks: !wide || mentions(text) ? false : null,
      follows_exclude: !wide,
      why: wide
        ? 'a pattern of the workspaces begins with *, and some package managers match hidden folders with it'
        : 'the workspaces name their folders; turbo itself asks git which files there are',
      ignore: { file: config, line: pnpm !== '' ? `  - '!${STATE}/**'` : `"!${STATE}/**"` },
    }
  },
}

export const JAVASCRIPT: readonly Crawler[] = [
  jest,
  vitest,
  mocha,
  tsc,
  eslint,
  prettier,
  biome,
  nx,
  workspaces,
]
