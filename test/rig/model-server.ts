/**
 * A model without a model: answers the wire formats of the agent programs from a script. It listens on loopback only and
 * keeps no state; whoever scripts it sees the whole conversation in each request.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'
import { type Ask, type Body, dialectOf, type Reply } from './model-dialects.ts'

export interface ModelServer {
  url: string
  asks: Ask[]
}

export async function startModel(reply: (ask: Ask) => Reply): Promise<ModelServer> {
  const asks: Ask[] = []
  const server = createServer((request, response) => {
    serve(request, response, (ask) => {
      asks.push(ask)
      return reply(ask)
    }).catch((error: unknown) => sendJson(response, 500, { error: { message: String(error) } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asks }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (ask: Ask) => Reply,
): Promise<void> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const path = new URL(request.url ?? '/', 'http://model').pathname
  const dialect = request.method === 'POST' ? dialectOf(path) : null
  if (dialect === null) {
    sendJson(response, 200, { object: 'list', data: [], models: [], totalTokens: 1, input_tokens: 1 })
    return
  }
  const body = JSON.parse(text) as Body
  const ask = dialect.read(body, path)
  const said = answer(ask)
  if ('status' in said) {
    sendJson(response, said.status, dialect.error(said.status, said.message))
    return
  }
  if (body.stream !== true && !/stream/i.test(path)) {
    sendJson(response, 200, dialect.whole(said, ask))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of dialect.stream(said, ask)) {
    if (event.name !== null) response.write(`event: ${event.name}\n`)
    response.write(`data: ${typeof event.data === 'string' ? event.data : JSON.stringify(event.data)}\n\n`)
  }
  response.end()
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}
