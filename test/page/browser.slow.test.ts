/** The page in a real browser: what it shows, how it is used, and what it must never do. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JudgedExperiment, PageHead, PageNode } from '../../cli/view/page-model.ts'
import { type JudgeScene, judgeScene, MERIT, quality } from '../e2e/judge-scene.ts'
import type { Scene } from '../e2e/loop-scene.ts'
import { makeProject, metrics, type Project } from '../e2e/project.ts'
import { promptSuite } from '../examples/prompt-suite-scene.ts'
import { fakeProgram } from '../hosts/fake-program.ts'
import { RECORDINGS } from '../hosts/recorded.ts'
import { unpack } from '../recorded/unpack.ts'
import { assay, dataOf, startAssay } from '../rig/assay.ts'
import { look, missingBrowser } from '../rig/browser.ts'
import { makeTemp } from '../rig/temp.ts'
import { type FullRun, fullRun } from './full-run.ts'
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

/** Each view of a file, in light and dark, wide and narrow, with and without the panel of an experiment. */
async function isSound(file: string, kind: string, views: string[], nodes: string[]): Promise<void> {
  mkdirSync(SHOTS, { recursive: true })
  const compared = nodes.filter(Boolean).join()
  for (const dark of [false, true]) {
    for (const width of [1280, 480]) {
      const { page, requests, trouble } = await look(file, { dark, width })
      for (const view of views) {
        for (const node of nodes) {
          const open = node === '' ? '' : `&node=${node}`
          await page.goto(`${file}#view=${view}&with=exp_0000,${compared}${open}`)
          await page.waitForSelector(open === '' ? 'main section' : '.panel .block')
          expect(await violations(page), `${view}${open}, dark: ${dark}, ${width}`).toEqual([])
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
}

const told = async (place: Locator) => (await place.allInnerTexts()).join('\n')
const shown = (page: Page) => told(page.locator('body'))

/** Text of an agent, a benchmark or a judge. */
const HOSTILE = [
  '</script><script>globalThis.pwned = 1</script>',
  '<img src=x onerror="globalThis.pwned = 1">',
  '\u001b[2J\u001b]8;;http://evil.example\u0007link',
  '\u202eright to left\u2066',
  '{{TITLE}} <!--DATA--> $& javascript:alert(1)',
]

// ---------------------------------------------------------------- a file

describe('a file', () => {
  const files = new Map<string, string>()
  beforeAll(async () => {
    if (why !== null) return
    for (const kind of ['looped', 'paired', 'doubted', 'epochs']) files.set(kind, await written(kind))
  })
  const fileOf = (kind: string): string => files.get(kind) ?? ''

  test.each([
    ['looped', 'exp_0011'],
    ['paired', 'exp_0001'],
    ['doubted', 'exp_0003'],
    ['epochs', 'exp_0001'],
  ])(
    '%s: a view has a fault for a screen reader, asks for something, breaks the policy, or is wider than the window',
    (kind, node) => isSound(fileOf(kind), kind, VIEWS, ['', node]),
    300_000,
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

  test('on paper the tree has only the rows that were in sight, or a dark page stays dark', async () => {
    const { page } = await look(`${fileOf('looped')}#view=tree&q=exp`, { dark: true })
    await page.evaluate("document.querySelector('.tree').style.maxHeight = '60px'")
    const rows = page.locator('[role=treeitem]')
    await rows.nth(12).waitFor({ state: 'detached' })
    expect(await rows.count()).toBe(10)
    await page.evaluate(`globalThis.seen = []
      const look = () => seen.push([
        document.querySelectorAll('[role=treeitem]').length,
        document.documentElement.dataset.theme,
      ])
      addEventListener('beforeprint', () => queueMicrotask(() => queueMicrotask(look)))
      addEventListener('afterprint', () => setTimeout(look))`)
    await page.pdf()
    await page.waitForFunction('seen.length === 2')
    expect(await page.evaluate('seen')).toEqual([
      [13, 'light'],
      [10, 'dark'],
    ])
  })
})

// ---------------------------------------------------------------- a run with everything in it

describe('a run with everything in it', () => {
  const file = join(makeTemp('page'), 'full.html')
  const address = pathToFileURL(file).href
  let project: Project
  let is: FullRun['is']
  let pullRequest = ''
  beforeAll(async () => {
    if (why !== null) return
    ;({ project, is } = await fullRun())
    pullRequest = (await project.data<{ text: string }>('finish')).text
    await project.data('report', '--html', file, '--full')
  }, 300_000)
  const panelOf = async (id: string) => {
    const { page } = await look(`${address}#view=tree&node=${id}`)
    await page.waitForSelector('.panel .block')
    return page
  }

  test(
    'a view has a fault for a screen reader, asks for something, breaks the policy, or is wider than the window',
    () =>
      isSound(
        address,
        'full',
        ['overview', 'tree', 'rounds', 'cost', 'record'],
        ['', is.attributed, is.again],
      ),
    300_000,
  )

  test('what a part of a diff is worth does not stand beside it, or dead weight looks like the rest', async () => {
    const page = await panelOf(is.attributed)
    await page.waitForSelector('.patch .worth')
    expect(await page.locator('.patch .worth').allInnerTexts()).toEqual([
      expect.stringMatching(/^h1: pays \+4\.4 %/),
      'h2: dead weight',
    ])
    expect(await page.locator('.patch .dead .code').allInnerTexts()).toEqual(['part 8 0', 'part 8 1'])
    const rows = await told(page.locator('.panel .block', { hasText: 'Which parts pay' }))
    expect(rows).toContain(`the same gain with 2 of 4 lines: ${is.reduced}`)
    // Against another experiment the parts are different ones.
    const { port } = await startServing(project.repo.dir)
    const against = `node=${is.attributed}&against=exp_0000`
    const live = await look(`http://127.0.0.1:${port}/#view=tree&${against}`)
    await live.page.locator('.patch .added', { hasText: 'part 1 1' }).waitFor()
    expect(await live.page.locator('.patch .worth').count()).toBe(0)
    expect((await project.cli(['serve', '--stop'])).code).toBe(0)
  })

  test('a line that an ancestor took out comes back unseen', async () => {
    const page = await panelOf(is.again)
    await page.waitForSelector('.patch')
    expect(await page.locator('.patch .again').allInnerTexts()).toEqual([` re-adds what ${is.first} removed`])
    expect(await told(page.locator('.patch tr', { hasText: 're-adds' }))).toContain('part 1 0')
  })

  test('a prediction is not compared, or a rule that was broken looks like one that held', async () => {
    const first = await panelOf(is.first)
    const prediction = await told(first.locator('.block', { hasText: 'Prediction' }))
    expect(prediction.split('\n').slice(1)).toEqual(['predicted', '20 % better', 'measured', '10 % better'])
    const broken = async (id: string) =>
      (await (await panelOf(id)).locator('tr.broken').allInnerTexts()).map((row) => row.split('\t'))
    expect(await broken(is.constraint)).toEqual([['constraint', 'mb <= 50', 'does not hold: it is 60']])
    expect(await broken(is.protected)).toEqual([
      ['protected', 'size', expect.stringMatching(/^it is better, but size .*150/)],
    ])
    expect(await broken(is.gate)).toEqual([['gate unit', 'before', 'did not pass']])
    expect(await broken(is.first)).toEqual([])
    const printed = async (id: string) => told((await panelOf(id)).locator('.panel pre'))
    expect(await printed(is.gate)).toBe('the check is not run\n')
    expect(await printed(is.crashed)).toContain('Error: part 5 breaks it')
    expect(await printed(is.first)).toBe('')
  })

  test('the text of the pull request is missing, or is not that of finish', async () => {
    const { page } = await look(address)
    const details = page.locator('#export details')
    await details.locator('summary').click()
    expect(await told(details.locator('pre'))).toBe(pullRequest)
  })

  test('a link forgets what was searched for, or which part of the run was shown', async () => {
    const { page } = await look(`${address}#until=3`)
    const replay = page.getByLabel('replay')
    expect(await replay.inputValue()).toBe('3')
    await replay.fill('5')
    expect(page.url()).toContain('until=5')
    await replay.fill('100')
    expect(page.url()).not.toContain('until')
    await page.goto(`${address}#view=record&words=allocations`)
    await page.locator('section.part', { hasText: 'Said to agents (1)' }).waitFor()
    expect(await page.getByRole('heading', { name: /^Notes/ }).count()).toBe(0)
    await page.locator('input[type=search]').fill('numbers are exact')
    await page.getByRole('heading', { name: 'Notes (1)' }).waitFor()
    expect(page.url()).toContain('words=numbers+are+exact')
  })

  test('a merge looks like any other experiment, or has one parent', async () => {
    const page = await panelOf(is.merged)
    expect(await told(page.locator('.panel .outcome'))).toContain('merged')
    const kin = page.locator('.panel .facts').first()
    expect(await told(kin)).toMatch(/^merge of\nexp_\d+ exp_\d+/)
    expect(await page.locator('.graph path.merged').count()).toBeGreaterThan(0)
    expect(await page.locator('.chips', { hasText: 'merged 1' }).count()).toBe(1)
  })

  test('the colours cannot be chosen, or the choice is lost', async () => {
    const { page } = await look(address, { dark: true })
    const shown = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const dark = await shown()
    await page.getByLabel('colours').selectOption('light')
    expect(await shown()).not.toBe(dark)
    await page.reload()
    await page.waitForSelector('.app')
    expect(await shown()).not.toBe(dark)
    await page.getByLabel('colours').selectOption('system')
    expect(await shown()).toBe(dark)
  })
})

// ---------------------------------------------------------------- a judged run, a backlog, a suite

/** What the page has in its file, by the kind of block. */
function blockIn<T>(file: string, kind: string): T {
  const text = new RegExp(`data-kind="${kind}">(.*?)</script>`, 's').exec(readFileSync(file, 'utf8'))?.[1]
  return JSON.parse(text ?? 'null')
}

describe('a judged run with a backlog', () => {
  let scene: JudgeScene
  const file = join(makeTemp('page'), 'judged.html')
  const address = pathToFileURL(file).href
  beforeAll(async () => {
    if (why !== null) return
    const evidence = JSON.stringify(HOSTILE.join(' '))
    scene = judgeScene({
      how: `const verdict = (() => {${MERIT}})()
        return JSON.stringify(Object.fromEntries(labels.map((label) => [label, { evidence: ${evidence}, verdict }])))`,
      judge: { batch: 2, criteria: [{ name: 'clear', ask: 'Which answer has the higher quality?' }] },
      spec: { dependencies: { approved: [] } },
    })
    await scene.data('init')
    const ideas = [
      { hypothesis: 'Answer from a dictionary', kind: 'lookup', priority: 'low' },
      { hypothesis: HOSTILE.join(' '), kind: 'codec', priority: 'high', dependencies: ['zstd'] },
      { hypothesis: 'Answer twice', dependencies: ['left-pad'] },
    ]
    await scene.data('propose', '--input', JSON.stringify({ ideas }))
    await scene.data('backlog', 'drop', 'idea_0003', '--reason', 'no package for this')
    await scene.attempt(quality(7))
    await scene.data('report', '--html', file)
  }, 120_000)

  test(
    'a view has a fault for a screen reader, asks for something, breaks the policy, or is wider than the window',
    () => isSound(address, 'judged', ['overview', 'cost', 'record'], ['', 'exp_0001']),
    300_000,
  )

  test('page and terminal say different things of the judge', async () => {
    const { head } = blockIn<{ head: PageHead }>(file, 'head')
    const node = blockIn<Record<string, PageNode>>(file, 'nodes').exp_0001
    const status = await scene.data<{ judging: unknown }>('status')
    const report = await scene.data<{ judged_items: unknown }>('report')
    const show = await scene.data<{ judged_items: JudgedExperiment }>('show', 'exp_0001')
    expect(head.judging).toEqual(status.judging)
    expect(head.judged_items).toEqual(report.judged_items)
    expect(node?.judged_items).toEqual(show.judged_items)
    const { items, pairs, answers } = show.judged_items
    expect(items).toMatchObject({ lost: 0, tied: 0, won: 2 * pairs.length })
    expect(pairs[0]).toMatchObject({ stage: 'judge', pair: 0, asked: 2, changed: 2, judged: 2, d: 1 })
    expect(answers.map(({ calls }) => calls[0]?.statements[0])).toEqual(
      answers.map(() => expect.objectContaining({ criterion: 'clear', candidate: 'better', other: 'worse' })),
    )
    // Held-out items are judged as well, and what was said of them is for nobody to read.
    expect(pairs.map(({ stage }) => stage)).not.toContain('holdout')

    const { page } = await look(`${address}#view=cost`)
    const judge = page.locator('section.part', {
      has: page.getByRole('heading', { name: 'Judge', exact: true }),
    })
    const text = (await judge.textContent()) ?? ''
    const { calls, usd } = head.judging ?? { calls: Number.NaN, usd: Number.NaN }
    expect(usd).toBeCloseTo(calls / 1000, 9)
    expect(text).toContain(`$${Number(usd.toPrecision(3))} of $5`)
    expect(text).toContain(`${calls} judgements`)
    expect(text).toMatch(/damaged answers\d+ of \d+ lost \(100 %\)/)
    expect(text).toMatch(/injected answers0 of \d+ won \(0 %\)/)
  })

  test('what the judge or an idea says becomes markup, or what a person decides is not shown', async () => {
    for (const hash of ['#view=tree&node=exp_0001', '#view=record', '#view=overview']) {
      const { page, trouble } = await look(`${address}${hash}`)
      if (hash.includes('node')) await page.waitForSelector('.judged li')
      expect(await page.evaluate("'pwned' in globalThis")).toBe(false)
      expect(await page.locator('img').count()).toBe(0)
      expect(await shown(page)).not.toMatch(/[\u001b\u202e\u2066]/)
      expect(trouble).toEqual([])
      await page.context().close()
    }
    const { page } = await look(`${address}#view=tree&node=exp_0001`)
    const first = page.locator('.judged > li').first()
    expect(await first.textContent()).toContain('clear: better')
    expect(await first.textContent()).toContain('</script><script>globalThis.pwned = 1</script>')
    await page.goto(`${address}#view=record`)
    const rows = await page.locator('table.backlog tbody tr').allInnerTexts()
    expect(rows.map((row) => row.replace(/\s+/g, ' ').slice(0, 24))).toEqual([
      expect.stringMatching(/^idea_0002 parked /),
      expect.stringMatching(/^idea_0001 added /),
      expect.stringMatching(/^idea_0003 dropped /),
    ])
    // A file has the line; the line works.
    const line = await told(page.locator('#backlog code'))
    expect(line).toBe('assay backlog approve idea_0002 --run=run_0001')
    expect(await page.locator('#backlog button[type=submit]').count()).toBe(0)
    await page.locator('#backlog select').selectOption('drop')
    expect(await told(page.locator('#backlog code'))).toBe(
      'assay backlog drop idea_0002 --run=run_0001 --reason=TEXT',
    )
    expect((await scene.cli(line.split(' ').slice(1))).code).toBe(0)
  })

  test('an idea cannot be approved or dropped from the page, or that is shown only after a reload', async () => {
    const serving = await startServing(scene.repo.dir)
    const ideas = [{ hypothesis: 'Pack it', dependencies: ['lz4'] }]
    const { page, requests, trouble } = await look(serving.address)
    await page.goto(`http://127.0.0.1:${serving.port}/#view=record`)
    const row = (id: string) => page.locator('table.backlog tr', { hasText: id })
    const form = page.locator('#backlog form.actions')
    await scene.data('propose', '--input', JSON.stringify({ ideas }))
    await row('idea_0004').getByRole('button').click()
    expect(await told(page.locator('.decision'))).toContain('idea_0004 Pack it needs lz4')
    await form.locator('button[type=submit]').click()
    await form.getByText('done: assay backlog approve idea_0004').waitFor()
    await row('idea_0004').getByText('approved').waitFor()
    const backlog = async () =>
      (
        await scene.data<{ ideas: { id: string; status: string; outcome: string | null }[] }>(
          'backlog',
          '--all',
        )
      ).ideas
    expect((await backlog())[3]).toMatchObject({ id: 'idea_0004', status: 'approved' })

    await row('idea_0001').getByRole('button').click()
    expect(await form.locator('select option').allInnerTexts()).toEqual(['Drop from the backlog'])
    expect(await form.locator('button[type=submit]').isDisabled()).toBe(true)
    await form.locator('input').fill('nobody has one')
    expect(await told(form.locator('code'))).toBe(
      "assay backlog drop idea_0001 --run=run_0001 '--reason=nobody has one'",
    )
    await form.locator('button[type=submit]').click()
    await row('idea_0001').getByText('nobody has one').waitFor()
    await page.getByText('There is nothing left to decide: it is dropped.').waitFor()
    expect((await backlog())[0]).toMatchObject({ status: 'dropped', outcome: 'nobody has one' })
    expect(trouble).toEqual([])
    expect(requests.filter((url) => !url.startsWith(`http://127.0.0.1:${serving.port}/`))).toEqual([])
    expect((await assay(['serve', '--stop'], { cwd: scene.repo.dir })).code).toBe(0)
  })
})

describe('a suite that learns', () => {
  const file = join(makeTemp('page'), 'suite.html')
  const address = pathToFileURL(file).href
  let scene: Scene
  beforeAll(async () => {
    if (why !== null) return
    scene = promptSuite('noise: { mode: single }\n')
    dataOf(await scene.cli(['init']))
    dataOf(await scene.loop('--rounds', '5'))
    dataOf(await scene.cli(['report', '--html', file]))
  }, 300_000)

  test(
    'a view has a fault for a screen reader, asks for something, breaks the policy, or is wider than the window',
    () => isSound(address, 'suite', ['learning'], ['', 'exp_0001']),
    300_000,
  )

  test('page and terminal show different losses and versions', async () => {
    const { epochs } = dataOf(await scene.cli<{ epochs: { loss: number }[] }>(['artifact']))
    const { page } = await look(`${address}#view=learning`, { width: 480 })
    const titles = await page.locator('.learning .spot title').allTextContents()
    expect(titles.map((text) => Number(/loss ([\d.]+);/.exec(text)?.[1]))).toEqual(
      epochs.map(({ loss }) => Number(loss.toFixed(3))),
    )
    const [versions, losses] = await page.locator('table.by-epoch').all()
    expect((await versions?.textContent())?.match(/→ v\d/g)).toHaveLength(5)
    for (const task of ['summary', 'extract', 'plan']) expect(await losses?.textContent()).toContain(task)
    const { artifacts, expectations } = dataOf(
      await scene.cli<{
        artifacts: { name: string; active: number }[]
        expectations: { experiment: string; expected: number; measured: number }[]
      }>(['artifact']),
    )
    expect(await told(page.locator('.headline'))).toContain(
      `texts: ${artifacts.map(({ name, active }) => `${name} v${active}`).join(', ')}`,
    )
    const expected = page.locator('section.part', {
      has: page.getByRole('heading', { name: 'Expected and measured' }),
    })
    const digits = (value: number) => value.toFixed(3)
    expect(
      (await expected.locator('tbody tr').allInnerTexts()).map((row) =>
        row.split('\t').map((cell) => cell.trim()),
      ),
    ).toEqual(
      expectations.map((one) => [
        one.experiment,
        expect.any(String),
        digits(one.expected),
        '80 %',
        digits(one.measured),
      ]),
    )
    // One bar an epoch, with a dot for each of the three tasks.
    expect(await page.locator('.tasks rect.span').count()).toBe(epochs.length)
    expect(await page.locator('.tasks circle').count()).toBe(3 * epochs.length)
    const parts = page.locator('section.part', {
      has: page.getByRole('heading', { name: 'Parts of the loss' }),
    })
    await parts.locator('tbody tr').first().waitFor()
    expect(await parts.locator('thead th').allInnerTexts()).toEqual([
      'task',
      'ended',
      'loss',
      'eval',
      'critique',
      'gate rejections',
      'budget',
    ])
    const suites = page.locator('section.part', { has: page.getByRole('heading', { name: 'Suites' }) })
    expect(await told(suites.locator('tbody tr'))).toMatch(
      new RegExp(`^prompt-suite\\s+run_0001\\s+6\\s+${digits(epochs.at(-1)?.loss ?? 0)}$`),
    )
    await versions?.locator('a', { hasText: '→' }).first().click()
    await page.waitForSelector('.panel .patch .added')
    // A label stays readable in a narrow window: it is not drawn smaller.
    const tick = await page.locator('.learning text').first().boundingBox()
    expect(tick?.height).toBeGreaterThan(9)
  })
})

// ---------------------------------------------------------------- a server

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
    await doIt('pin', 'its index is new')
    await page.locator('.panel', { hasText: 'pinned its index is new' }).waitFor()
    await page.locator('[role=treeitem]', { hasText: experiment }).locator('text=pinned').waitFor()
    expect(await project.data('frontier')).toMatchObject({
      parents: [{ experiment, why: 'pinned by a person: its index is new' }],
    })
    await doIt('unpin', 'no use')
    await page.locator('.panel', { hasText: 'pinned its index is new' }).waitFor({ state: 'detached' })
    expect(await project.data('status')).not.toHaveProperty('pins')
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
    await page.locator('.badge', { hasText: 'connected' }).waitFor()
    serving.running.kill('SIGKILL')
    await serving.running.ended
    await page.locator('.badge.warn', { hasText: 'connection lost' }).waitFor()
    const { experiment } = await project.attempt(metrics({ ms: 60 }), 'exp_0001')
    const { port, token, address } = serving
    serving = await startServing(project.repo.dir)
    expect([serving.port, serving.token, serving.address]).toEqual([port, token, address])
    await page.locator('.badge', { hasText: 'connected' }).waitFor()
    await page.locator('.headline', { hasText: experiment }).waitFor()
    expect(await page.locator('.badge.warn').count()).toBe(0)
  })

  test('of two runs in one repository only one is shown, or a new one only after a reload', async () => {
    await project.attempt(metrics({ ms: 55 }), 'exp_0001')
    const { page } = await look(`http://127.0.0.1:${serving.port}/#view=runs&run=run_0001`)
    const rows = page.locator('table.runs tbody tr')
    expect(await rows.count()).toBe(1)
    const file = join(project.repo.dir, 'assay.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"name": "hostile"', '"name": "second"'))
    await project.data('init', '--new')
    await rows.nth(1).waitFor()
    expect(await rows.nth(0).textContent()).toMatch(/run_0001[\s\S]*55/)
    for (const row of await rows.all()) await row.locator('input').check()
    const beside = page.locator('section.part', {
      has: page.getByRole('heading', { name: 'Runs side by side' }),
    })
    const cells = async (name: string) =>
      (await told(beside.locator('tr', { hasText: new RegExp(`^${name}`) }))).split('\t').slice(1)
    await beside.locator('td').first().waitFor()
    expect(await cells('best')).toEqual([
      expect.stringMatching(/^55 \(exp_\d+, confirmed\)$/),
      '100 (exp_0000)',
    ])
    expect(await cells('kept')).toEqual([
      expect.stringMatching(/^\d of \d experiments$/),
      '0 of 0 experiments',
    ])
    expect(page.url()).toContain('runs=run_0001%2Crun_0002')
    await rows.nth(1).locator('a').click()
    await page.locator('h1', { hasText: 'second' }).waitFor()
    expect(page.url()).toContain('run=run_0002')
  })
})

test('an agent at work, what it says and how long it may take are not seen, or are seen badly', async () => {
  const brief = RECORDINGS.codex.object?.({ briefs: [{ objective: 'less', parent: 'exp_0000' }] }) ?? {}
  const lines = [
    {
      type: 'item.completed',
      item: { type: 'agent_message', text: 'The number is read twice; I read it once.' },
    },
    { type: 'item.started', item: { type: 'command_execution', command: 'cat src/metrics.txt' } },
  ]
  const print = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const codex = fakeProgram('codex', [brief, { print, hang: true }])
  const project = makeProject({
    spec: { budget: { experiments: 1 }, loop: { width: 1, depth: 1, stall: 1 }, agent: { host: 'codex' } },
  })
  await project.data('init')
  const loop = startAssay(['loop'], { cwd: project.repo.dir, env: codex.env })
  const serving = await startServing(project.repo.dir)
  try {
    mkdirSync(SHOTS, { recursive: true })
    for (const dark of [false, true]) {
      for (const width of [1280, 480]) {
        const { page } = await look(serving.address, { dark, width })
        const lane = page.locator('.lanes li')
        await lane.locator('.agent', { hasText: 'I read it once' }).waitFor()
        const text = await told(lane)
        expect(text).toMatch(/exp_0001 being edited .* of at most 30 min\n/)
        expect(text).toContain('codex for implement, last tool: command_execution: cat src/metrics.txt')
        await page.locator('.facts', { hasText: '.assay takes' }).waitFor()
        expect(await violations(page)).toEqual([])
        await page.screenshot({
          path: join(SHOTS, `live-overview-${width}-${dark ? 'dark' : 'light'}.png`),
          fullPage: true,
        })
        await page.context().close()
      }
    }
  } finally {
    loop.kill('SIGKILL')
    await loop.ended
    await project.cli(['serve', '--stop'])
  }
})

test('loop --serve serves nothing, or ends with the loop', async () => {
  const { repo } = unpack('tuned')
  const loop = await startAssay(['loop', '--serve', '--rounds', '1'], { cwd: repo }).ended
  const address = /http:\S+/.exec(loop.stderr)?.[0] ?? ''
  try {
    const { page } = await look(address)
    await page.locator('.badge', { hasText: 'connected' }).waitFor()
    expect(await shown(page)).toContain('Find the floor of the bowl.')
  } finally {
    expect((await assay(['serve', '--stop'], { cwd: repo })).code).toBe(0)
  }
})
