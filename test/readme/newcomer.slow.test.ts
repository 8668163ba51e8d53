import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { execute } from '../../cli/process.ts'
import { ASSAY_BIN } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { makeRepo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { shellBlocks } from './commands.ts'
import { type Newcomer, NODE, PYTHON } from './projects.ts'

/**
 * Programs on PATH: `assay` as a link, as npm makes it, an editor that types what the author would, and a browser that
 * writes the title of each page that it is given to `seen`, and then ends the server.
 */
function programs(newcomer: Newcomer, seen: string): string {
  const folder = makeTemp('bin')
  const program = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), 0o755)
  }
  program('assay', `#!/bin/sh\nexec '${process.execPath}' '${ASSAY_BIN}' "$@"\n`)
  const { benchmark, beside, change, idea } = newcomer
  const host = scriptedHost(`import { writeFileSync } from 'node:fs'
const idea = ${JSON.stringify(Object.entries(idea))}
export default {
  brief: ({ capsule: { open } }) => ({ briefs: [{ parent: open.parents[0].experiment, objective: 'shorter' }] }),
  implement: ({ worktree }) => {
    for (const [path, text] of idea) writeFileSync(worktree + '/' + path, text)
    return { hypothesis: 'shorter', learnings: [], suggestions: [] }
  },
  verify: () => ({ passed: true, findings: [] }),
  audit: () => ({ findings: [] }),
  '*': () => ({ learnings: [], suggestions: [] }),
}`)
  const agent = `loop: { width: 1, depth: 1 }\nagent: { host: command, command: ${JSON.stringify(host.argv)} }\n`
  const spec = [...newcomer.spec, ['experiments: 100', 'experiments: 2']]
  program(
    'editor',
    `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs')
const edit = (file, replaced, more = '') => {
  let text = readFileSync(file, 'utf8')
  for (const [from, to] of replaced) {
    if (!text.includes(from)) throw new Error(file + ' has no ' + from)
    text = text.replace(from, to)
  }
  writeFileSync(file, text + more)
}
const write = (folder, files) => {
  for (const [path, text] of Object.entries(files)) writeFileSync(folder + '/' + path, text)
}
const [, , place] = process.argv
if (place === 'assay.yaml') edit(place, ${JSON.stringify(spec)}, ${JSON.stringify(agent)})
else if (place === '.assay/w/1-0000/bench') {
  edit(place + '/${benchmark.path}', ${JSON.stringify(benchmark.edit)})
  write(place, ${JSON.stringify(beside)})
} else if (place === '.assay/w/1-0001') write(place, ${JSON.stringify(change)})
else throw new Error('the author does not know what to do with ' + place)
`,
  )
  const browser = `#!${process.execPath}
const { spawn } = require('node:child_process')
const { appendFileSync } = require('node:fs')
fetch(process.argv[2]).then(async (page) => {
  appendFileSync(${JSON.stringify(seen)}, page.status + ' ' + /<title>.*<\\/title>/.exec(await page.text()))
  spawn('assay', ['serve', '--stop'], { detached: true, stdio: 'ignore' }).unref()
})
`
  program('xdg-open', browser)
  program('open', browser)
  return folder
}

test.each([NODE, PYTHON])(
  'a command of the README does not work, in its place, for a $language project without a benchmark',
  async (newcomer) => {
    const repo = makeRepo({ files: newcomer.files })
    const home = makeTemp('home')
    mkdirSync(join(home, 'your'))
    renameSync(repo.dir, join(home, 'your', 'repository'))
    const blocks = shellBlocks('On your own repository', newcomer.language)
    expect(blocks.length).toBe(5)
    const [spec, , build, byHand, loop] = blocks
    const seen = join(home, 'seen')
    const env = {
      ...repo.env,
      PATH: [programs(newcomer, seen), process.env.PATH].join(delimiter),
      EDITOR: 'editor',
      NO_COLOR: '1',
    }
    const script = ['set -e', spec, build, byHand, loop].join('\n')
    const ran = await execute({ argv: ['sh', '-c', script], cwd: home, env })
    const said = `${ran.stdout}${ran.stderr}`
    expect(ran.code, said).toBe(0)
    expect(said).toContain('The benchmark reads them: ')
    expect(said).toMatch(/^exp_0001 kept .*← the best so far$/m)
    expect(said).toMatch(/^ {2}exp_0002 rejected /m)
    expect(readFileSync(seen, 'utf8')).toMatch(/^200 <title>/)
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: join(home, 'your', 'repository'), env, encoding: 'utf8' })
    expect(git('status', '--porcelain')).toBe('?? assay.yaml\n')
    const [branch = ''] = git('branch', '--format=%(refname:short)', '--list', 'assay/*').split('\n')
    expect(git('log', '--format=%s', branch)).toBe('Cache the parsed header\nThe benchmark\nfirst\n')
  },
  180_000,
)
