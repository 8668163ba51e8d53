/** Which variables a benchmark gets, and where each comes from; never a value. */
import { ok, type Result } from '../result.ts'
import { buildEnvironment, type EnvironmentConfig, INHERITED } from './environment.ts'

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

/** Of each sample; gates, setup and build get none of these. */
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
