/** A benchmark that starts a server: it asks for a free port, or brings one along. */
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import type { Files } from '../../rig/repo.ts'
import { journey, makeKind, refusedInit } from './journey.ts'

const files = (port: string): Files => ({
  'src/page.mjs': "export const page = () => '<p>' + '  '.repeat(20) + 'hello</p>'\n",
  'bench/serve.mjs': `import { createServer } from 'node:http'
import { page } from '../src/page.mjs'
const port = ${port}
const server = createServer((_, answer) => answer.end(page()))
server.listen(port, '127.0.0.1', async () => {
  const text = await (await fetch('http://127.0.0.1:' + port)).text()
  if (!text.includes('hello')) throw new Error('wrong page')
  console.log('METRIC bytes=' + text.length)
  server.closeAllConnections()
  server.close()
})
`,
})

const SPEC = {
  measure: { command: 'node bench/serve.mjs' },
  metric: { name: 'bytes', direction: 'minimize' },
}

test('ASSAY_PORT is not set, or not free', async () => {
  const project = makeKind({ files: files('Number(process.env.ASSAY_PORT)'), spec: SPEC })
  await journey(project, {
    baseline: 52,
    edit: { 'src/page.mjs': "export const page = () => '<p>hello</p>'\n" },
    value: 12,
  })
})

test('a port that is in use is not reported', async () => {
  const other = createServer()
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => {
      const address = other.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
  try {
    const problem = await refusedInit(makeKind({ files: files(String(port)), spec: SPEC }))
    expect(problem.code).toBe('baseline_failed')
    expect(problem.message).toContain(
      `exit 1: Error: listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
    )
  } finally {
    other.close()
  }
})
