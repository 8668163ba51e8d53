/** Who may ask the server: pages that it served itself, and for actions only those that know its token. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

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
