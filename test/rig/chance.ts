import { fileURLToPath } from 'node:url'

const PRELOAD = fileURLToPath(new URL('./chance-preload.cjs', import.meta.url))

/** An environment in which everything that chance decides in the CLI follows from this number, from 0 to 255. */
export const steadyChance = (nonce: number): Record<string, string> => ({
  NODE_OPTIONS: `--require ${PRELOAD}`,
  CHANCE_NONCE: String(nonce),
})
