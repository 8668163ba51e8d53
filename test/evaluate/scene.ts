import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type SampleRequest, takeSample } from '../../cli/evaluate/measure.ts'
import { makeTemp } from '../rig/temp.ts'

/** One sample of `command` in a fresh checkout, with a metric `t`. */
export function scene(
  command: string | string[],
  more: Omit<Partial<SampleRequest>, 'config'> & { config?: Partial<SampleRequest['config']> } = {},
) {
  const checkout = join(makeTemp('measure'), "it's a checkout")
  const folder = makeTemp('attempt')
  mkdirSync(checkout)
  const { config, ...rest } = more
  const request: SampleRequest = {
    metric: { name: 't' },
    aggregate: 'mean',
    checkout,
    folder,
    stage: 'judge',
    side: 'candidate',
    pair: 2,
    seed: 77,
    slot: 1,
    environment: { PATH: process.env.PATH ?? '', KEPT: 'yes' },
    ...rest,
    config: {
      command,
      directory: '.',
      timeoutMs: 30_000,
      read: 'auto',
      slots: 1,
      outputBytes: 64 * 1024 * 1024,
      environment: { inherit: [], set: {}, file: null, keys: null },
      before: null,
      after: null,
      requires: [],
      score: null,
      ...config,
    },
  }
  return { checkout, folder, sample: () => takeSample(request), at: (name: string) => join(folder, name) }
}
