/** Debian's chromium, driven by playwright-core: a page that tells of every request, dialog and error. */
import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll } from 'vitest'
import { missingProgram } from './needs.ts'

const PROGRAM = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** As `missingProgram`. */
export const missingBrowser = (): string | null =>
  existsSync(PROGRAM) ? null : missingProgram('chromium', [PROGRAM, '--version'])

let browser: Promise<Browser> | null = null
afterAll(async () => {
  await (await browser)?.close()
})

export interface Seen {
  page: Page
  /** Addresses that were asked for, apart from the document itself. */
  requests: string[]
  /** Errors of scripts and of the policy, and dialogs. */
  trouble: string[]
}

export interface Look {
  width?: number
  dark?: boolean
}

/** Opens an address in a window of its own. */
export async function look(address: string, { width = 1280, dark = false }: Look = {}): Promise<Seen> {
  browser ??= chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox'] })
  const context = await (await browser).newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const [requests, trouble]: [string[], string[]] = [[], []]
  const [document] = address.split('#')
  page.on('request', (request) => {
    const url = request.url()
    if (url.split('#')[0] !== document && !url.startsWith('data:')) requests.push(url)
  })
  page.on('pageerror', (error) => trouble.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') trouble.push(message.text())
  })
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(address)
  await page.waitForSelector('.app')
  return { page, requests, trouble }
}
