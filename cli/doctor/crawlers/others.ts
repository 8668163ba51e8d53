/** Tools of Python and Rust projects, and those of no language. */
import { type Crawler, firstFile, mentions, type Project, STATE, section } from './crawler.ts'

/** Whether a Python project names the tool in what it asks for. */
function asksFor(project: Project, tool: string): string | null {
  const files = [
    'pyproject.toml',
    'setup.cfg',
    'tox.ini',
    'requirements.txt',
    'requirements-dev.txt',
    '.pre-commit-config.yaml',
  ]
  const word = new RegExp(`(^|[\\s"'\\[/])${tool}(?=[\\s"'\\]=<>~\\[,.:]|$)`, 'm')
  return (
    files.find((file) => word.test(project.text(file))) ?? (word.test(project.scripts) ? 'Makefile' : null)
  )
}

const pytest: Crawler = {
  tool: 'pytest',
  find(project) {
    const options = [
      ['pytest.ini', section(project.text('pytest.ini'), 'pytest')],
      ['pyproject.toml', section(project.text('pyproject.toml'), 'tool.pytest.ini_options')],
      ['tox.ini', section(project.text('tox.ini'), 'pytest')],
      ['setup.cfg', section(project.text('setup.cfg'), 'tool:pytest')],
    ] as const
    const own = options.find(([, text]) => /^\s*norecursedirs\b/m.test(text))
    const used =
      options.find(([, text]) => text !== '')?.[0] ??
      firstFile(project, ['pytest.ini', 'conftest.py']) ??
      asksFor(project, 'pytest')
    if (used === null) return null
    const dirs = own?.[1] ?? ''
    const skipsHidden = own === undefined || /(^|[\s"'=[])\.\*/m.test(dirs) || mentions(dirs)
    return {
      config: own?.[0] ?? used,
      walks: !skipsHidden,
      follows_exclude: false,
      why: skipsHidden
        ? 'it passes over hidden folders'
        : 'its own norecursedirs replaces the default, which has .*',
      ignore: {
        file: own?.[0] ?? used,
        line: own?.[0] === 'pyproject.toml' ? `norecursedirs = [".*", …]` : 'norecursedirs = .* …',
      },
    }
  },
}

const black: Crawler = {
  tool: 'black',
  find(project) {
    const text = section(project.text('pyproject.toml'), 'tool.black')
    const config = text !== '' ? 'pyproject.toml' : asksFor(project, 'black')
    if (config === null) return null
    return {
      config,
      walks: !mentions(text.replaceAll('\\', '') + project.text('.gitignore')),
      follows_exclude: false,
      why: 'it passes over some hidden folders by name, and over what .gitignore names',
      ignore: { file: 'pyproject.toml, under [tool.black]', line: `extend-exclude = '^/\\${STATE}/'` },
    }
  },
}

const flake8: Crawler = {
  tool: 'flake8',
  find(project) {
    const text =
      project.text('.flake8') +
      section(project.text('setup.cfg'), 'flake8') +
      section(project.text('tox.ini'), 'flake8')
    const config = project.files.has('.flake8')
      ? '.flake8'
      : text !== ''
        ? (firstFile(project, ['setup.cfg', 'tox.ini']) ?? '')
        : asksFor(project, 'flake8')
    if (config === null) return null
    return {
      config,
      walks: !mentions(text),
      follows_exclude: false,
      why: 'it passes over some hidden folders by name only',
      ignore: { file: text === '' ? '.flake8, under [flake8]' : config, line: `extend-exclude = ./${STATE}` },
    }
  },
}

const ruff: Crawler = {
  tool: 'ruff',
  find(project) {
    const file = firstFile(project, ['ruff.toml', '.ruff.toml'])
    const text = file === null ? section(project.text('pyproject.toml'), 'tool.ruff') : project.text(file)
    const config = file ?? (text !== '' ? 'pyproject.toml' : asksFor(project, 'ruff'))
    if (config === null) return null
    const ignoresRules = /respect-gitignore\s*=\s*false/.test(text)
    return {
      config,
      walks: ignoresRules && !mentions(text),
      follows_exclude: !ignoresRules,
      why: ignoresRules
        ? 'respect-gitignore is false'
        : 'it leaves out what git ignores, .git/info/exclude included',
      ignore: { file: config, line: `extend-exclude = ["./${STATE}"]` },
    }
  },
}

const cargo: Crawler = {
  tool: 'cargo',
  find(project) {
    const text = section(project.text('Cargo.toml'), 'workspace')
    if (text === '') return null
    const members = /members\s*=\s*\[([^\]]*)\]/.exec(text)?.[1] ?? ''
    const wide = /["'](?:\.\/)?\*/.test(members)
    return {
      config: 'Cargo.toml',
      walks: wide && !mentions(text),
      follows_exclude: false,
      why: wide ? 'a * of its members matches hidden folders too' : 'its members name their folders',
      ignore: { file: 'Cargo.toml, under [workspace]', line: `exclude = ["${STATE}"]` },
    }
  },
}

const ripgrep: Crawler = {
  tool: 'ripgrep',
  find(project) {
    const calls = project.scripts.split('\n').filter((line) => /(^|[\s"'(;&|])rg\s/.test(line))
    if (calls.length === 0) return null
    // Hidden folders are searched with --hidden, and then .git/info/exclude still counts, unless that is off too.
    const ignoring = calls.filter(
      (line) => /\s(-u{2,}|--no-ignore(-vcs|-exclude)?)\b/.test(line) && /\s(-u{2,}|--hidden|-\.)/.test(line),
    )
    return {
      config: 'scripts',
      walks: ignoring.some((line) => !mentions(line)),
      follows_exclude: ignoring.length === 0,
      why:
        ignoring.length > 0
          ? 'a script turns ignore files off and hidden folders on'
          : 'it passes over hidden folders and what git ignores',
      ignore: { file: 'the script', line: `rg --glob '!/${STATE}/**' …` },
    }
  },
}

const docker: Crawler = {
  tool: 'docker build',
  find(project) {
    const config = [...project.files].find((name) =>
      /^(Dockerfile(\..+)?|(docker-)?compose.*\.ya?ml)$/.test(name),
    )
    if (config === undefined) return null
    return {
      config,
      walks: !mentions(project.text('.dockerignore')),
      follows_exclude: false,
      why: 'the whole folder is sent as context, the state with it',
      ignore: { file: '.dockerignore', line: STATE },
    }
  },
}

export const OTHERS: readonly Crawler[] = [pytest, black, flake8, ruff, cargo, ripgrep, docker]
