/** The values that the spec of a run passes on to the benchmark: none of them may come back in what is stored or shown. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { buildEnvironment, parseEnvironmentFile } from '../evaluate/environment.ts'
import type { RunStarted } from '../ledger/events.ts'
import { rememberSecrets } from '../redact.ts'
import type { Spec } from '../spec/spec.ts'

/** A file that cannot be read is named where the environment is needed; here it only means that nothing is known. */
export function rememberSecretsOf(run: { spec: Spec; started: RunStarted; env: NodeJS.ProcessEnv }): void {
  const { file, ...rest } = run.spec.measure.environment
  const text = file === null ? '' : contentOf(resolve(run.started.checkout, run.started.prefix, file))
  const fromFile = parseEnvironmentFile(text, file ?? '')
  const values = fromFile.ok ? fromFile.value : {}
  const passed = buildEnvironment({ ...rest, file: null }, run.env, () => null)
  rememberSecrets({ ...(passed.ok ? passed.value : {}), ...values }, Object.keys(values))
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
