/** `assay serve`: a page on the loopback interface, its data, a stream of what is new, and actions that call verbs. */
import { timingSafeEqual } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { diskSizeOf } from '../measure/disk-space.ts'
import { isExperimentId } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { nodeFor } from '../run/open.ts'
import { nowOf } from '../view/page.ts'
import { argumentsOf, readAction, shellLineOf } from '../view/page-actions.ts'
import { pageDiff, pageLog, pageNode, pagePatch } from '../view/page-node.ts'
import { reportCsv, reportData } from '../view/report.ts'
import { liveDocument } from './document.ts'
import { htmlOf } from './export.ts'
import type { Followed, Runs } from './runs.ts'

export interface ServerOptions {
  runs: Runs
  version: string
  /** 0 = any that is free. */
  port: number
  /** null: no actions. */
  token: string | null
  /** A verb, as if it were called in the repository. */
  call: (argv: string[]) => Promise<Result<unknown>>
}

export interface Serving {
  port: number
  close: () => Promise<void>
}

type Answer = { type: string; body: string; name?: string } | { problem: Problem }

interface Asked {
  runs: Runs
  version: string
  live: boolean
  query: URLSearchParams
  /** What the path's groups matched. */
  at: string[]
}

const json = (value: unknown): Answer => ({ type: 'application/json', body: JSON.stringify(value) })

/** Every GET but the stream. */
const ROUTES: readonly [RegExp, (asked: Asked) => Answer | Promise<Answer>][] = [
  [/^\/$/, () => ({ type: 'text/html; charset=utf-8', body: liveDocument('Assay') })],
  [/^\/api\/runs$/, ({ runs, live, version }) => json({ runs: runs.lines(), acts: live, version })],
  [/^\/api\/runs\/(run_\d+)$/, (asked) => withRun(asked, (run) => json(whole(run)))],
  [/^\/api\/runs\/(run_\d+)\/head$/, (asked) => withRun(asked, (run) => json(run.head()))],
  [
    /^\/api\/runs\/(run_\d+)\/nodes\/(exp_\d+)$/,
    (asked) => withNode(asked, async ({ run }, node) => json(await pageNode(run, node))),
  ],
  [/^\/api\/runs\/(run_\d+)\/diff\/(exp_\d+)\/(exp_\d+|base)$/, (asked) => withNode(asked, diffOf)],
  [
    /^\/api\/runs\/(run_\d+)\/log\/(exp_\d+)$/,
    (asked) => withNode(asked, ({ run }, node) => json({ log: pageLog(run, node) })),
  ],
  [/^\/api\/runs\/(run_\d+)\/file\/(html|csv)$/, (asked) => withRun(asked, fileOf)],
]
const STREAM = /^\/api\/runs\/(run_\d+)\/stream$/
const ACTION = /^\/api\/runs\/(run_\d+)\/do$/

function withRun(asked: Asked, use: (run: Followed, asked: Asked) => Answer | Promise<Answer>) {
  const run = asked.runs.get(asked.at[0] ?? '')
  return run.ok ? use(run.value, asked) : { problem: run.problem }
}

type Node = Parameters<typeof pageNode>[1]

function withNode(asked: Asked, use: (run: Followed, node: Node, asked: Asked) => Answer | Promise<Answer>) {
  return withRun(asked, (run) => {
    const node = nodeFor(run.run, asked.at[1] ?? '')
    return node.ok ? use(run, node.value, asked) : { problem: node.problem }
  })
}

const whole = (followed: Followed) => ({
  head: followed.head(),
  rows: followed.rows(),
  now: nowOf(followed.run, null),
})

async function diffOf({ run }: Followed, node: Node, { at, query }: Asked): Promise<Answer> {
  const other = at[2] !== undefined && isExperimentId(at[2]) ? at[2] : null
  const path = query.get('path')
  const found = path === null ? await pageDiff(run, node, other) : await pagePatch(run, node, other, path)
  return found.ok ? json(found.value) : { problem: found.problem }
}

async function fileOf({ run }: Followed, { at, query, version }: Asked): Promise<Answer> {
  if (at[1] === 'csv') {
    return { type: 'text/csv; charset=utf-8', body: reportCsv([reportData(run)]), name: `${run.run}.csv` }
  }
  const html = await htmlOf(run, { version, full: query.has('full') })
  if (!html.ok) return { problem: html.problem }
  return { type: 'text/html; charset=utf-8', body: html.value, name: `${run.run}.html` }
}

// ---------------------------------------------------------------- the server

/** A browser may keep a page of an earlier version, or put ours into a frame of its own. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Problems: `port_in_use`, `not_listening`. */
export function startServer(options: ServerOptions): Promise<Result<Serving>> {
  const streams = new Streams(options.runs)
  let port = options.port
  const server = createServer((request, response) => {
    void answer(request, response, { ...options, port }, streams).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error)
      if (response.headersSent) response.end()
      else send(response, 500, json({ problem: { code: 'bug', message } }))
    })
  })
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(notListening(error, port)))
    server.listen(port, '127.0.0.1', () => {
      port = (server.address() as AddressInfo).port
      resolve(ok({ port, close: () => closed(server, streams) }))
    })
  })
}

function notListening({ code, message }: NodeJS.ErrnoException, port: number): Result<Serving> {
  if (code === 'EADDRINUSE') {
    return fail({
      kind: 'failed',
      code: 'port_in_use',
      message: `port ${port} is in use`,
      hint: 'choose a different port, or omit --port to take a free one',
    })
  }
  return fail({ kind: 'failed', code: 'not_listening', message: `the page cannot be served: ${message}` })
}

function closed(server: Server, streams: Streams): Promise<void> {
  streams.close()
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { runs, version, token, call, port }: ServerOptions,
  streams: Streams,
): Promise<void> {
  const refused = refusalOf(request.headers, port)
  if (refused) return refuse(response, refused)
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://page')
  if (request.method === 'POST') return act(request, response, { runs, token, call }, pathname)
  if (request.method !== 'GET') return refuse(response, { status: 405, message: 'GET and POST only' })
  const stream = STREAM.exec(pathname)
  if (stream) return follow(request, response, searchParams, runs.get(stream[1] ?? ''), streams)
  for (const [path, route] of ROUTES) {
    const found = path.exec(pathname)
    if (!found) continue
    const asked: Asked = { runs, version, live: token !== null, query: searchParams, at: found.slice(1) }
    const given = await route(asked)
    return send(response, 'problem' in given ? 404 : 200, given)
  }
  refuse(response, { status: 404, message: 'there is no page or run of that name' })
}

function send(response: ServerResponse, status: number, answer: Answer): void {
  const { type, body, name } =
    'problem' in answer
      ? { type: 'application/json', body: JSON.stringify({ problem: answer.problem }), name: undefined }
      : answer
  response.writeHead(status, {
    ...HEADERS,
    'content-type': type,
    ...(name === undefined ? {} : { 'content-disposition': `attachment; filename="${name}"` }),
  })
  response.end(body)
}

const refuse = (response: ServerResponse, { status, message }: HttpRefusal): void =>
  send(response, status, json({ problem: { code: 'refused', message } }))

// ---------------------------------------------------------------- actions

const LONGEST_BODY = 64 * 1024

async function act(
  request: IncomingMessage,
  response: ServerResponse,
  { runs, token, call }: Pick<ServerOptions, 'runs' | 'token' | 'call'>,
  pathname: string,
): Promise<void> {
  const run = ACTION.exec(pathname)?.[1]
  if (run === undefined)
    return refuse(response, { status: 404, message: 'there is no page or run of that name' })
  if (token === null)
    return refuse(response, { status: 403, message: 'this server allows no actions (--read-only)' })
  const refused = refusalOfAction(request.headers, token)
  if (refused) return refuse(response, refused)
  const known = runs.get(run)
  if (!known.ok) return send(response, 404, { problem: known.problem })
  const action = readAction(await bodyOf(request), run)
  if (action === null)
    return refuse(response, { status: 400, message: 'the request is not an action of this page' })
  const done = await call(argumentsOf(action))
  const line = shellLineOf(action)
  send(
    response,
    done.ok ? 200 : 409,
    json(done.ok ? { line, data: done.value } : { line, problem: done.problem }),
  )
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let body = ''
  for await (const chunk of request) {
    body += String(chunk)
    if (body.length > LONGEST_BODY) return null
  }
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

// ---------------------------------------------------------------- the stream

const LOOK_MS = 200
const NOW_MS = 1000
const DISK_MS = 60_000
/** Enough to tell gigabytes; all files of a large store would take seconds. */
const FILES_COUNTED = 20_000
const HEARTBEAT_MS = 15_000

function follow(
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
  followed: Result<Followed>,
  streams: Streams,
): void {
  if (!followed.ok) {
    send(response, 404, { problem: followed.problem })
    return
  }
  response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' })
  // A reconnect of the browser says where it stopped; the first connection says it in the address.
  const since = Number(request.headers['last-event-id'] ?? query.get('since') ?? 0)
  const leave = streams.join(followed.value, response, Number.isSafeInteger(since) && since >= 0 ? since : 0)
  request.on('close', leave)
}

interface Listener {
  response: ServerResponse
  /** Bytes of the ledger that it knows. */
  offset: number
}

/** One read of a ledger serves all browsers that follow it; without a browser nothing is read. */
class Streams {
  readonly #runs: Runs
  readonly #listeners = new Map<Followed, Set<Listener>>()
  readonly #timers = new Map<Followed, NodeJS.Timeout>()
  readonly #heart: NodeJS.Timeout
  #disk: { at: number; bytes: number | null } = { at: Number.NEGATIVE_INFINITY, bytes: null }

  constructor(runs: Runs) {
    this.#runs = runs
    this.#heart = setInterval(() => {
      for (const { response } of this.#all()) response.write(': still here\n\n')
    }, HEARTBEAT_MS)
  }

  join(followed: Followed, response: ServerResponse, since: number): () => void {
    const listener = { response, offset: since }
    const listeners = this.#listeners.get(followed) ?? new Set()
    this.#listeners.set(followed, listeners.add(listener))
    response.write('retry: 1000\n\n')
    if (!this.#timers.has(followed)) this.#look(followed, { now: '', at: Number.NEGATIVE_INFINITY })
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      clearTimeout(this.#timers.get(followed))
      this.#timers.delete(followed)
    }
  }

  close(): void {
    clearInterval(this.#heart)
    for (const timer of this.#timers.values()) clearTimeout(timer)
    for (const { response } of this.#all()) response.end()
  }

  #all(): Listener[] {
    return [...this.#listeners.values()].flatMap((listeners) => [...listeners])
  }

  #look(followed: Followed, told: { now: string; at: number }): void {
    const began = performance.now()
    const listeners = [...(this.#listeners.get(followed) ?? [])]
    const read = followed.refresh()
    if (!read.ok) for (const { response } of listeners) write(response, 'trouble', null, read.problem)
    else this.#tell(followed, listeners)
    let { now, at } = told
    if (began - at >= NOW_MS) {
      at = began
      const seen = JSON.stringify(nowOf(followed.run, this.#diskSize(began)))
      // Browsers that connected since the last time know nothing yet, and a repetition does no harm.
      for (const { response } of listeners) write(response, 'now', null, seen)
      now = seen
    }
    // A ledger of 100,000 experiments takes a while to be told: it must not be all that this process does.
    const pause = Math.max(LOOK_MS, 4 * (performance.now() - began))
    this.#timers.set(
      followed,
      setTimeout(() => this.#look(followed, { now, at }), pause),
    )
  }

  #tell(followed: Followed, listeners: readonly Listener[]): void {
    const told = new Map<number, string | null>()
    for (const listener of listeners) {
      if (listener.offset === followed.offset) continue
      const known = told.get(listener.offset)
      const text = known === undefined ? textOf(followed, listener.offset) : known
      told.set(listener.offset, text)
      listener.offset = followed.offset
      // A ledger that is shorter than what the page knows is another one.
      if (text === null) write(listener.response, 'reset', null, '{}')
      else write(listener.response, 'change', followed.offset, text)
    }
  }

  #diskSize(at: number): number | null {
    if (at - this.#disk.at > DISK_MS)
      this.#disk = { at, bytes: diskSizeOf(this.#runs.site.state, FILES_COUNTED) }
    return this.#disk.bytes
  }
}

function textOf(followed: Followed, since: number): string | null {
  const changes = followed.changes(since)
  return changes.ok && changes.value !== null ? JSON.stringify(changes.value) : null
}

function write(response: ServerResponse, event: string, id: number | null, data: unknown): void {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  response.write(`${id === null ? '' : `id: ${id}\n`}event: ${event}\ndata: ${text}\n\n`)
}

// ---------------------------------------------------------------- who may ask the server
// Who may ask the server: pages that it served itself, and for actions only those that know its token.

const TOKEN_HEADER = 'x-assay-token'

export interface HttpRefusal {
  status: number
  message: string
}

/**
 * A site elsewhere can make its name mean 127.0.0.1 (DNS rebinding), so the name that was asked for must be ours; what a
 * browser says of the page that asks must be ours, too. null = the request is allowed.
 */
export function refusalOf(headers: IncomingHttpHeaders, port: number): HttpRefusal | null {
  const names = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  if (!names.includes(headers.host ?? ''))
    return { status: 421, message: 'this server answers only to 127.0.0.1 and localhost' }
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && !names.some((name) => origin === `http://${name}`))
    return { status: 403, message: 'the request came from a different site' }
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return { status: 403, message: 'the request came from a different site' }
  return null
}

/** Of a request that changes something. */
export function refusalOfAction(headers: IncomingHttpHeaders, token: string): HttpRefusal | null {
  if (headers['content-type']?.split(';')[0] !== 'application/json')
    return { status: 415, message: 'an action must be sent as JSON' }
  const given = Buffer.from(String(headers[TOKEN_HEADER] ?? ''))
  const wanted = Buffer.from(token)
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return null
  return { status: 403, message: 'the token is missing or not the one that assay serve printed' }
}
