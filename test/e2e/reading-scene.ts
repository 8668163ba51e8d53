import { expect } from 'vitest'

export const show = (message: string) => expect.stringContaining(message)

/** What the benchmark of `makeProject` prints, whole. */
export const prints = (text: string) => ({ 'src/metrics.txt': `${text}\n` })

/** Parts of a spec: how the metric is read. */
export const reading = (read: unknown, name = 'lat') => ({
  measure: { command: 'sh bench/run.sh', read },
  metric: { name, direction: 'minimize' },
})
