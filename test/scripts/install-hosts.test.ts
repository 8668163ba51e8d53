import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { execute } from '../../cli/process.ts'
import { makeTemp } from '../rig/temp.ts'

/** Takes every question, and answers none. */
const mute = createServer(() => {})
beforeAll(() => new Promise<void>((resolve) => void mute.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  mute.closeAllConnections()
  mute.close()
})

test('without a registry the agent programs are waited for, or nothing says why they are missing', async () => {
  const folder = makeTemp('programs')
  const done = await execute({
    argv: [process.execPath, fileURLToPath(new URL('../../scripts/install-hosts.mjs', import.meta.url))],
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: makeTemp('home'),
      ASSAY_HOSTS: folder,
      npm_config_registry: `http://127.0.0.1:${(mute.address() as AddressInfo).port}`,
      npm_config_fetch_timeout: '300',
      npm_config_fetch_retries: '0',
    },
    timeoutMs: 60_000,
  })
  expect(done.code).toBe(1)
  expect(done.stderr.toString().trimEnd().split('\n').at(-1)).toMatch(
    /^@anthropic-ai\/claude-code@\S+ could not be installed into .*: npm must reach its registry; or set ASSAY_HOSTS/,
  )
})
