/** Which variables a benchmark gets, and where each comes from; never a value. */
import { fail, ok, type Problem, type Result } from '../result.ts'

export interface EnvironmentConfig {
  /** Variables to pass on in addition to the default ones; a name may end in `*`. */
  inherit: string[]
  set: Record<string, string>
  /** A file of `NAME=value` lines, read fresh each time and never stored. */
  file: string | null
  /** The names to take from the file; null = all. */
  keys: string[] | null
}

/** Variables that a program needs to find its tools, without those that differ by accident between machines or shells. */
const INHERITED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_*', 'TZ', 'XDG_*'],
  ...['VIRTUAL_ENV', 'CONDA_*', 'LD_LIBRARY_PATH', 'DYLD_*', 'CUDA_*'],
  ...['JAVA_HOME', 'GOPATH', 'GOROOT', 'CARGO_HOME', 'RUSTUP_HOME'],
]

/** The caller's own: a hook's repository, an editor's debugger, an agent's session, another Assay. */
const NEVER_INHERITED = ['GIT_*', 'NODE_OPTIONS', 'ASSAY_*', 'CLAUDECODE', 'VSCODE_*']

const matches = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  )

/**
 * The environment of a benchmark, gate or setup: inherited, then the file's, then `set`. `outer` is the caller's own.
 * `readFile` answers null, or throws a system error, when the file cannot be read. Problems never show a value.
 */
export function buildEnvironment(
  config: EnvironmentConfig,
  outer: NodeJS.ProcessEnv,
  readFile: (path: string) => string | null,
): Result<Record<string, string>> {
  const dropped = config.inherit.find((name) => !name.endsWith('*') && matches(NEVER_INHERITED, name))
  if (dropped !== undefined)
    return fail(
      problem(
        `${dropped} is not inherited: it belongs to the shell or tool that started Assay`,
        `give its value under measure.environment.set if the benchmark needs one`,
      ),
    )
  const environment: Record<string, string> = {}
  const wanted = [...INHERITED, ...config.inherit]
  for (const [name, value] of Object.entries(outer))
    if (value !== undefined && matches(wanted, name) && !matches(NEVER_INHERITED, name))
      environment[name] = value
  if (config.file !== null) {
    const loaded = loadFile(config.file, config.keys, readFile)
    if (!loaded.ok) return loaded
    Object.assign(environment, loaded.value)
  }
  Object.assign(environment, config.set)
  const reserved = Object.keys(environment).find((name) => name.startsWith('ASSAY_'))
  if (reserved !== undefined)
    return fail(problem(`${reserved} cannot be set: Assay sets it for each sample`, 'choose another name'))
  return ok(environment)
}

function loadFile(
  file: string,
  keys: string[] | null,
  readFile: (path: string) => string | null,
): Result<Record<string, string>> {
  let text: string | null
  try {
    text = readFile(file)
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
    text = null
  }
  if (text === null)
    return fail(
      problem(
        `the environment file ${file} cannot be read`,
        'create it, or correct measure.environment.file',
      ),
    )
  const parsed = parseEnvironmentFile(text, file)
  if (!parsed.ok || keys === null) return parsed
  const absent = keys.filter((key) => !Object.hasOwn(parsed.value, key))
  if (absent.length > 0)
    return fail(
      problem(`${file} has no ${absent.join(', ')}`, 'add it there, or correct measure.environment.keys'),
    )
  return ok(Object.fromEntries(keys.map((key) => [key, parsed.value[key] ?? ''])))
}

const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

/**
 * `NAME=value` lines: comments with `#` (after a space in bare values), `export`, 'literal' and "with \n escapes"
 * quotes. No references to other variables, no values over several lines. The last of two equal names wins.
 */
export function parseEnvironmentFile(text: string, file: string): Result<Record<string, string>> {
  const found = new Map<string, string>()
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue
    const [, name, written = ''] = LINE.exec(line) ?? []
    const value = name === undefined ? null : unquote(written)
    if (name === undefined || value === null)
      return fail(
        problem(
          `line ${index + 1} of ${file} is not NAME=value`,
          'write one variable per line; quote values that hold spaces',
          `${file}:${index + 1}:1`,
        ),
      )
    found.set(name, value)
  }
  return ok(Object.fromEntries(found))
}

function unquote(written: string): string | null {
  const literal = /^'([^']*)'\s*(?:#.*)?$/.exec(written)?.[1]
  if (literal !== undefined) return literal
  const escaped = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(written)?.[1]
  if (escaped !== undefined) return escaped.replace(/\\(.)/g, (_, char: string) => ESCAPES[char] ?? char)
  if (/^['"]/.test(written)) return null
  return written.replace(/(?:^|\s+)#.*$/, '')
}

const problem = (message: string, hint: string, at?: string): Problem => ({
  kind: 'usage',
  code: 'environment',
  message,
  hint,
  ...(at !== undefined && { at }),
})

// ---------------------------------------------------------------- which variables a benchmark gets, and where each comes from; never a value

/** `default`: inherited always; `inherit`: because the spec says so; `assay`: made for each sample. */
export type Origin = 'default' | 'inherit' | 'file' | 'set' | 'assay'

export interface Variable {
  name: string
  from: Origin
}

export interface EnvironmentOrigins {
  variables: Variable[]
  /** Asked for by `measure.environment.inherit`, and not set here. */
  missing: string[]
  file: string | null
}

/** Of each sample; gates, setup and build get `ASSAY_SLOT` and none of the others. */
const OF_A_SAMPLE = [
  ...['ASSAY_RESULT', 'ASSAY_TRACES', 'ASSAY_ARTIFACTS', 'ASSAY_EXPERIMENT', 'ASSAY_SAMPLE', 'ASSAY_SEED'],
  ...['ASSAY_SLOT', 'ASSAY_PORT', 'ASSAY_TOKEN', 'TMPDIR'],
]

/** Fails like `buildEnvironment`. */
export function environmentOrigins(
  config: EnvironmentConfig,
  outer: NodeJS.ProcessEnv,
  readFile: (path: string) => string | null,
): Result<EnvironmentOrigins> {
  const all = buildEnvironment(config, outer, readFile)
  if (!all.ok) return all
  const file = buildEnvironment({ ...config, inherit: [], set: {} }, {}, readFile)
  if (!file.ok) return file
  const standard = buildEnvironment({ inherit: [], set: {}, file: null, keys: null }, outer, readFile)
  if (!standard.ok) return standard
  const from = (name: string): Origin => {
    if (Object.hasOwn(config.set, name)) return 'set'
    if (Object.hasOwn(file.value, name)) return 'file'
    return Object.hasOwn(standard.value, name) ? 'default' : 'inherit'
  }
  const names = Object.keys(all.value).sort()
  return ok({
    variables: [
      ...names.map((name) => ({ name, from: from(name) })),
      ...OF_A_SAMPLE.map((name) => ({ name, from: 'assay' as const })),
    ],
    missing: config.inherit.filter(
      (name) => !name.endsWith('*') && !INHERITED.includes(name) && !Object.hasOwn(all.value, name),
    ),
    file: config.file,
  })
}
