/** `assay serve` as a test uses it: its address, requests with any headers, and its stream. */
import { type IncomingMessage, request } from 'node:http'
import { type Running, startAssay } from '../rig/assay.ts'

export interface Serving {
  running: Running<unknown>
  /** As it was printed, with the token. */
  address: string
  port: number
  token: string
  ask: (path: string, options?: Ask) => Promise<Answered>
}

export interface Ask {
  method?: string
  headers?: Record<string, string>
  body?: unknown
}

export interface Answered {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

export async function startServing(cwd: string, ...args: string[]): Promise<Serving> {
  const running = startAssay(['serve', ...args], { cwd })
  await running.said('http://')
  const address = /http:\S+/.exec(running.output().stdout)?.[0] ?? ''
  const port = Number(/:(\d+)\//.exec(address)?.[1])
  const token = /page=(\w+)/.exec(address)?.[1] ?? ''
  return { running, address, port, token, ask: (path, options = {}) => asked(port, path, options) }
}

function asked(port: number, path: string, { method = 'GET', headers = {}, body }: Ask): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      )
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

export interface Told {
  id: string | null
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: what a stream says, looked at by the test that asked
  data: any
}

/** Listens until the predicate holds of what was told so far, then hangs up. */
export function untilTold(
  port: number,
  path: string,
  holds: (told: readonly Told[]) => boolean,
  headers: Record<string, string> = {},
): Promise<Told[]> {
  return new Promise((resolve, reject) => {
    const told: Told[] = []
    const sent = request({ host: '127.0.0.1', port, path, headers }, (response) => {
      let rest = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const parts = (rest + chunk).split('\n\n')
        rest = parts.pop() ?? ''
        for (const part of parts) {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1] ?? null
          const event = field('event')
          if (event !== null) told.push({ id: field('id'), event, data: JSON.parse(field('data') ?? 'null') })
        }
        if (!holds(told)) return
        sent.destroy()
        resolve(told)
      })
      response.on('end', () => reject(new Error(`the stream ended after ${JSON.stringify(told)}`)))
    })
    sent.on('error', (error) => (holds(told) ? null : reject(error)))
    sent.end()
  })
}
