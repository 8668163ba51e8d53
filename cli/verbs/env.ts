/** `env`: which environment variables a benchmark gets. It never shows their values. */
import { environmentSources } from '../measure/environment.ts'
import { ok } from '../result.ts'
import { plain } from '../text.ts'
import { onRun } from './verb.ts'

/** Names and origins; no value is ever shown. */
export const run = onRun((opened) => {
  const found = environmentSources(opened)
  if (!found.ok) return found
  const { variables, missing, file } = found.value
  const named = (from: string) =>
    variables
      .filter((one) => one.from === from)
      .map(({ name }) => plain(name, 100))
      .join(' ') || 'none'
  return ok({
    data: found.value,
    text: () => [
      `inherited always: ${named('default')}`,
      `inherited as the spec says: ${named('inherit')}`,
      `from ${file === null ? 'a file' : plain(file, 200)}: ${named('file')}`,
      `set by the spec: ${named('set')}`,
      `made for each sample: ${named('assay')}`,
      ...(missing.length === 0
        ? []
        : [`asked for by measure.environment.inherit, but not set here: ${plain(missing.join(' '), 500)}`]),
    ],
  })
})
