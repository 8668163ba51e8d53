/** The page in a real browser: what it shows, how it is used, and what it must never do. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeProject, metrics, type Project } from '../e2e/project.ts'
import { unpack } from '../recorded/unpack.ts'
import { assay, dataOf, startAssay } from '../rig/assay.ts'
import { look, missingBrowser } from '../rig/browser.ts'
import { makeTemp } from '../rig/temp.ts'
import { type Serving, startServing } from './serving.ts'

const why = missingBrowser()
beforeEach(({ skip }) => {
  if (why !== null) skip(why)
})

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** For a person to look at. */
const SHOTS = fileURLToPath(new URL('../../bench-results/page/', import.meta.url))
const VIEWS = ['overview', 'tree', 'rounds', 'cost', 'record', 'compare', 'runs']

async function written(kind: string): Promise<string> {
  const { repo, env } = unpack(kind)
  const file = join(makeTemp('page'), `${kind}.html`)
  dataOf(await assay(['report', '--html', file, '--json'], { cwd: repo, env }))
  return pathToFileURL(file).href
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }
    interface Violation {
      id: string
      nodes: { html: string }[]
    }
    const found = await axe.run()
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`),
    )
  })
}

const shown = async (page: Page) => (await page.locator('body').allInnerTexts()).join('\n')

// ---------------------------------------------------------------- a file

describe('a file', () => {
  const files = new Map<string, string>()
  beforeAll(async () => {
    if (why !== null) return
    for (const kind of ['looped', 'paired', 'doubted', 'epochs']) files.set(kind, await written(kind))
    mkdirSync(SHOTS, { recursive: true })
  })
  const fileOf = (kind: string): string => files.get(kind) ?? ''

  test.each([
    ['looped', 'exp_0011'],
    ['paired', 'exp_0001'],
    ['doubted', 'exp_0003'],
    ['epochs', 'exp_0001'],
  ])(
    '%s: a view has a fault for a screen reader, asks for something, breaks the policy, or is wider than the window',
    async (kind, node) => {
      for (const dark of [false, true]) {
        for (const width of [1280, 480]) {
          const { page, requests, trouble } = await look(fileOf(kind), { dark, width })
          for (const view of VIEWS) {
            for (const open of ['', `&node=${node}`]) {
              await page.goto(`${fileOf(kind)}#view=${view}&with=exp_0000,${node}${open}`)
              await page.waitForSelector(open === '' ? 'main section' : '.panel .block')
              if (width === 1280) expect(await violations(page), `${view}${open}, dark: ${dark}`).toEqual([])
              const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
              expect(wide, `${view}${open} at ${width}`).toBeLessThanOrEqual(0)
              expect(await page.locator('text=cannot be shown').count()).toBe(0)
              await page.screenshot({
                path: join(
                  SHOTS,
                  `${kind}-${view}${open === '' ? '' : '-node'}-${width}-${dark ? 'dark' : 'light'}.png`,
                ),
                fullPage: true,
              })
            }
          }
          expect(requests).toEqual([])
          expect(trouble).toEqual([])
          await page.context().close()
        }
      }
    },
  )

  test('a link into a file leads elsewhere', async () => {
    const { page } = await look(`${fileOf('looped')}#view=tree&node=exp_0011&q=exp_0011`)
    await page.waitForSelector('.panel .patch')
    const text = await shown(page)
    expect(text).toContain('ms = 94: 1 better (1.053 %, minimize) against exp_0009 (95)')
    expect(await page.locator('[role=treeitem][aria-selected=true]').textContent()).toContain('exp_0011')
    expect(await page.locator('input[type=search]').inputValue()).toBe('exp_0011')
    expect(await page.locator('.patch .added').textContent()).toContain('94')
    // What was found stands where it belongs, under the experiments that it is built on.
    expect(await page.locator('[role=treeitem] .id').allInnerTexts()).toEqual([
      'exp_0000',
      'exp_0001',
      'exp_0004',
      'exp_0005',
      'exp_0007',
      'exp_0009',
      'exp_0011',
    ])
  })

  test('the tree cannot be used by keyboard', async () => {
    const { page } = await look(`${fileOf('looped')}#view=tree`)
    const active = () =>
      page.evaluate<string>(
        "document.activeElement.getAttribute('aria-activedescendant').replace('row-', '')",
      )
    await page.locator('[role=tree]').focus()
    expect(await active()).toBe('exp_0000')
    await page.keyboard.press('ArrowDown')
    expect(await active()).toBe('exp_0001')
    await page.keyboard.press('End')
    const last = await active()
    expect(last).toBe('exp_0002')
    const before = await page.locator('[role=treeitem]').count()
    await page.keyboard.press('ArrowRight')
    expect(await page.locator('[role=treeitem]').count()).toBe(before + 1)
    await page.keyboard.press('ArrowRight')
    expect(await active()).toBe('exp_0003')
    await page.keyboard.press('ArrowLeft')
    expect(await active()).toBe('exp_0002')
    await page.keyboard.press('ArrowLeft')
    expect(await page.locator('[role=treeitem]').count()).toBe(before)
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.panel')
    expect(page.url()).toContain('node=exp_0001')
  })

  test('on paper there are controls, or the tree is cut', async () => {
    const { page } = await look(`${fileOf('looped')}#view=tree`)
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('nav').isVisible()).toBe(false)
    expect(await page.evaluate("getComputedStyle(document.querySelector('.tree')).overflowY")).toBe('visible')
  })
})

// ---------------------------------------------------------------- a server

const HOSTILE = [
  '</script><script>globalThis.pwned = 1</script>',
  '<img src=x onerror="globalThis.pwned = 1">',
  '\u001b[2J\u001b]8;;http://evil.example\u0007link',
  '\u202eright to left\u2066',
  '{{TITLE}} <!--DATA--> $& javascript:alert(1)',
]

describe('a server', () => {
  let project: Project
  let serving: Serving
  beforeAll(async () => {
    if (why !== null) return
    project = makeProject({
      spec: { name: 'hostile', goal: HOSTILE.join(' '), gates: [{ name: 'unit', command: 'true' }] },
      files: { 'src/long.txt': 'short\n', 'src/package-lock.json': '{}\n' },
    })
    await project.data('init')
    await project.attempt({
      ...metrics({ ms: 90 }),
      'src/hostile.txt': `${HOSTILE.join('\n')}\n`,
      'src/long.txt': `${'x'.repeat(1_000_000)}\n`,
      'src/package-lock.json': '{"a": 1}\n',
    })
    const { experiment } = await project.data<{ experiment: string }>('new', '-m', HOSTILE.join(' '))
    await project.data('annotate', 'exp_0001', HOSTILE.join(' '))
    await project.data('note', HOSTILE.join(' '))
    await project.data('discard', experiment, '--reason', HOSTILE.join(' '))
    serving = await startServing(project.repo.dir)
  })

  async function isInert(address: string): Promise<void> {
    for (const view of VIEWS) {
      for (const node of ['', '&node=exp_0001', '&node=exp_0002']) {
        const { page, requests, trouble } = await look(`${address}#view=${view}${node}`)
        await page.waitForSelector(node === '' ? 'main section' : '.panel .block')
        expect(await page.evaluate("'pwned' in globalThis")).toBe(false)
        expect(await page.locator('img').count()).toBe(0)
        expect(trouble).toEqual([])
        const own = new URL(address).origin
        expect(requests.filter((url) => !url.startsWith(own))).toEqual([])
        expect(await shown(page)).not.toMatch(/[\u001b\u202e\u2066]/)
        await page.context().close()
      }
    }
  }

  test('text of an agent becomes markup or runs as a script', async () => {
    await isInert(`http://127.0.0.1:${serving.port}/`)
    const file = join(makeTemp('page'), 'hostile.html')
    await project.data('report', '--html', file, '--full')
    await isInert(pathToFileURL(file).href)
    const { page } = await look(`${pathToFileURL(file).href}#view=tree&node=exp_0001`)
    await page.waitForSelector('.patch')
    const text = await shown(page)
    expect(text).toContain('</script><script>globalThis.pwned = 1</script>')
    expect(text).toContain('\\x1b[2J')
  })

  test('a diff that is too long looks like none, or a file that a tool wrote is in the way', async () => {
    const { page } = await look(`http://127.0.0.1:${serving.port}/#view=tree&node=exp_0001`)
    await page.waitForSelector('.file')
    await page.getByText('Too big for a page').waitFor()
    expect(await shown(page)).toMatch(/Too big for a page: \d+ lines, 9\d\d KB\. Open it with:/)
    const lock = page.locator('.file', { hasText: 'package-lock.json' })
    expect(await lock.getAttribute('open')).toBeNull()
    expect(await lock.textContent()).toContain('written by a tool')
    await lock.locator('summary').click()
    await lock.locator('.patch .added').waitFor()
  })

  test('an event is shown only after a reload, or an action does something else than its verb', async () => {
    const { page, trouble } = await look(serving.address)
    expect(page.url()).toBe(`http://127.0.0.1:${serving.port}/`)
    const { experiment } = await project.attempt(metrics({ ms: 70 }), 'exp_0001')
    await page.locator('.headline', { hasText: '70' }).waitFor()
    await page.goto(`http://127.0.0.1:${serving.port}/#view=tree&node=${experiment}`)
    const form = page.locator('.panel form.actions')
    const doIt = async (action: string, text?: string) => {
      await form.locator('select').selectOption(action)
      if (text !== undefined) await form.locator('input').fill(text)
      await form.locator('button[type=submit]').click()
      await form.getByText('done: assay').waitFor()
    }
    await doIt('new', 'from the page')
    await page.locator('[role=treeitem]', { hasText: 'from the page' }).waitFor()
    const { nodes } = await project.data<{ nodes: { parent: string; hypothesis: string }[] }>('tree')
    expect(nodes.at(-1)).toMatchObject({ parent: experiment, hypothesis: 'from the page' })
    await doIt('confirm')
    const show = await project.data<{ attempts: { confirmations: { passed: boolean }[] }[] }>(
      'show',
      experiment,
    )
    expect(show.attempts.at(-1)?.confirmations).toMatchObject([{ passed: true }])
    await doIt('steer_one', 'leave the parser alone')
    await doIt('prune', 'enough of it')
    expect(await project.data('show', experiment)).toMatchObject({ status: 'pruned', why: 'enough of it' })
    await page.locator('.panel .outcome', { hasText: 'pruned' }).waitFor()

    await page.goto(`http://127.0.0.1:${serving.port}/#`)
    const steer = page.locator('main form.actions')
    await steer.locator('select').selectOption('pause')
    await steer.locator('input').fill('lunch')
    expect(await steer.locator('code').textContent()).toBe('assay loop pause --run=run_0001 --reason=lunch')
    await steer.locator('button[type=submit]').click()
    await page.locator('.badge', { hasText: 'paused: lunch' }).waitFor()
    expect(await project.data('status')).toMatchObject({ paused: 'lunch' })
    expect(trouble).toEqual([])
  })

  test('a server that was killed leaves a page that is dead, or that missed something', async () => {
    const { page } = await look(serving.address)
    await page.locator('.badge', { hasText: 'live' }).waitFor()
    serving.running.kill('SIGKILL')
    await serving.running.ended
    await page.locator('.badge.warn', { hasText: 'connection lost' }).waitFor()
    const { experiment } = await project.attempt(metrics({ ms: 60 }), 'exp_0001')
    const { port, token, address } = serving
    serving = await startServing(project.repo.dir)
    expect([serving.port, serving.token, serving.address]).toEqual([port, token, address])
    await page.locator('.badge', { hasText: 'live' }).waitFor()
    await page.locator('.headline', { hasText: experiment }).waitFor()
    expect(await page.locator('.badge.warn').count()).toBe(0)
  })

  test('of two runs in one repository only one is shown, or a new one only after a reload', async () => {
    const { page } = await look(`http://127.0.0.1:${serving.port}/#view=runs&run=run_0001`)
    const rows = page.locator('table.runs tbody tr')
    expect(await rows.count()).toBe(1)
    const file = join(project.repo.dir, 'assay.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"name": "hostile"', '"name": "second"'))
    await project.data('init', '--new')
    await rows.nth(1).waitFor()
    expect(await rows.nth(0).textContent()).toMatch(/run_0001[\s\S]*60/)
    await rows.nth(1).locator('a').click()
    await page.locator('h1', { hasText: 'second' }).waitFor()
    expect(page.url()).toContain('run=run_0002')
  })
})

test('loop --serve serves nothing, or ends with the loop', async () => {
  const { repo } = unpack('tuned')
  const loop = await startAssay(['loop', '--serve', '--rounds', '1'], { cwd: repo }).ended
  const address = /http:\S+/.exec(loop.stderr)?.[0] ?? ''
  try {
    const { page } = await look(address)
    await page.locator('.badge', { hasText: 'live' }).waitFor()
    expect(await shown(page)).toContain('Find the floor of the bowl.')
  } finally {
    expect((await assay(['serve', '--stop'], { cwd: repo })).code).toBe(0)
  }
})
