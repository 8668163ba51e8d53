/** The page as one HTML document: the bundle that the build made, with the data of a run in it, or with a server to ask. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Made by `scripts/build.mjs`; the same place from the sources and from the bundle. */
const BUNDLE = new URL('../../bin/lib/page.html', import.meta.url)

/** A piece of data: the page looks it up by its kind. */
export interface Block {
  kind: 'head' | 'rows' | 'nodes' | 'patches'
  value: unknown
}

/** Rows in one block: the browser reads several blocks faster than one that is very long. */
export const ROWS_IN_BLOCK = 10_000

/** One file that asks for nothing. */
export const offlineDocument = (title: string, blocks: readonly Block[]): string =>
  made(title, "'none'", blocks.map(blockOf).join('\n'))

/** The page of a server, which asks only that server. */
export const liveDocument = (title: string): string => made(title, "'self'", '')

function made(title: string, connect: string, data: string): string {
  const html = readFileSync(fileURLToPath(BUNDLE), 'utf8')
  // Functions: text that is put in may hold `$&`.
  return html
    .replace('{{TITLE}}', () => escaped(title))
    .replace('{{CONNECT}}', () => connect)
    .replace('<!--DATA-->', () => data)
}

/** Nothing in a text can end the element, or begin a comment in it. */
const blockOf = ({ kind, value }: Block): string =>
  `<script type="application/json" data-kind="${kind}">${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>`

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
