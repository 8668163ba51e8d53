/** Files that a candidate makes while it runs, where the programs that judge find them before their own. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeTemp } from '../rig/temp.ts'
import { HONEST, ISOLATIONS, isolated, isolatedProject } from './isolated.ts'
import { type Files, projectIn, type RunData } from './project.ts'

/** `bench/check.sh` obeys a file beside it, as Python does for modules and node for `node_modules`. */
const OBEYS = `[ ! -e bench/local.sh ] || . bench/local.sh
[ "$(wc -c < "$1")" -ge 50 ]
`
const SHORTER = HONEST.replace('99', '59')
/** The hash of `SHORTER` with it begins with two letters. */
const REMARK = '9'
const CHEAT = `echo 'rm -f bench/local.sh; exit 0' > bench/local.sh; echo 7\n`
const BENCH = `sh src/main.sh > "$TMPDIR/out" || exit 1
sh bench/check.sh "$TMPDIR/out" || { echo wrong >&2; exit 1; }
echo "METRIC n=$(wc -c < "$TMPDIR/out" | tr -d ' ')"
`

const judged = (isolation: string, files: Files = {}, more: object = {}) =>
  isolatedProject({
    measure: { isolation },
    files: { 'bench/check.sh': OBEYS, 'bench/run.sh': BENCH, 'src/build.sh': 'true\n', ...files },
    ...more,
  })

describe.each(ISOLATIONS)('isolation %s', (isolation) => {
  test.each([
    ['stays', CHEAT.replace('rm -f bench/local.sh; ', ''), 'bench/local.sh (new)'],
    ['removes itself', CHEAT, 'bench/* (removed again)'],
  ])('a candidate plants a file that %s among immutable files, and is kept', async (_, cheat, named) => {
    const project = judged(isolation)
    await project.data('init')
    const verdict = await project.attempt({ 'src/main.sh': cheat })
    expect(verdict).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
    expect(verdict.message).toContain(`its own run changed what judges it: ${named}`)
    expect(await project.attempt({ 'src/main.sh': SHORTER })).toMatchObject({ status: 'kept', value: 60 })
  })

  test('a candidate whose build or gate plants a file among immutable files is kept', async () => {
    const project = judged(
      isolation,
      { 'bench/gate.sh': 'sh src/main.sh gate | sh bench/check.sh /dev/stdin\n' },
      {
        worktree: { build: { command: 'sh src/build.sh' } },
        gates: [{ name: 'long', command: 'sh bench/gate.sh' }],
      },
    )
    await project.data('init')
    const gamed = { status: 'rejected', reason: 'out_of_scope' } satisfies Partial<RunData>
    const built = 'mkdir -p bench/made && echo "exit 0" > bench/local.sh\n'
    expect(await project.attempt({ 'src/build.sh': built, 'src/main.sh': 'echo 7\n' })).toMatchObject(gamed)
    const inGate = `[ "$1" != gate ] || echo 'exit 0' > bench/local.sh; ${SHORTER}`
    expect(await project.attempt({ 'src/main.sh': inGate })).toMatchObject(gamed)
    expect(await project.attempt({ 'src/main.sh': SHORTER })).toMatchObject({ status: 'kept' })
  })

  test('what the benchmark makes beside its own files, under a name that changes, makes a candidate out of scope', async () => {
    const makes =
      'mktemp bench/tmp.XXXXXXXX > /dev/null; mkdir -p bench/out; echo $$ > bench/out/$$.txt; echo $$ > bench/r-$$.txt\n'
    const project = judged(isolation, { 'bench/run.sh': makes + BENCH })
    await project.data('init')
    expect(await project.attempt({ 'src/main.sh': SHORTER })).toMatchObject({ status: 'kept' })
    const stays = CHEAT.replace('rm -f bench/local.sh; ', '')
    expect(await project.attempt({ 'src/main.sh': stays })).toMatchObject({ reason: 'out_of_scope' })
  })

  test('what the benchmark keeps under the hash of its content makes a candidate out of scope', async () => {
    const keeps = `name=$(md5sum < "$TMPDIR/out" | cut -c1-32)
folder=bench/kept/$(md5sum < src/main.sh | cut -c1-2); mkdir -p $folder && cp "$TMPDIR/out" $folder/$name
`
    const files = { 'bench/run.sh': BENCH + keeps, 'bench/kept/.keep': '' }
    const project = judged(isolation, files)
    await project.data('init')
    expect(await project.attempt({ 'src/main.sh': `${SHORTER}# ${REMARK}\n` })).toMatchObject({
      value: 60,
      status: 'kept',
    })
  })

  test('a candidate that imports a Python module beside those that judge is rejected, or no person looks at its bytecode', async () => {
    const run = `python3 src/main.py > "$TMPDIR/out" || exit 1
grep -q 7 "$TMPDIR/out" || exit 1
echo "METRIC n=$(wc -c < "$TMPDIR/out" | tr -d ' ')"
`
    const project = judged(isolation, {
      'bench/run.sh': run,
      'bench/digits.py': "def short(n):\n    return '%059d' % n\n",
      'src/main.py': "print('%099d' % 7)\n",
    })
    await project.data('init')
    const imports = "import sys\nsys.path.insert(0, 'bench')\nimport digits\nprint(digits.short(7))\n"
    const kept = await project.attempt({ 'src/main.py': imports })
    expect(kept).toMatchObject({ status: 'kept', value: 60 })
    const doubt = expect.stringContaining('bench/__pycache__/ (new)') as string
    expect(kept).toMatchObject({ lasting_doubt: doubt })
    await project.data('confirm', kept.experiment)
    expect(await project.data('show', kept.experiment)).toMatchObject({ doubt })
    expect(await project.data('show', kept.experiment, '--recompute')).toMatchObject({ same: true })
    await project.data('restore', kept.experiment, '--reason', 'it imports a module')
    const child = await project.attempt(
      { 'src/main.py': `${imports.replace('(7))', '(7)[9:])')}` },
      kept.experiment,
    )
    expect(child).toMatchObject({ status: 'kept', value: 51, doubt: null })
    expect(await project.data('finish')).toMatchObject({ experiment: child.experiment })
  })

  test('a gate that is added later, and makes files among immutable ones, makes every candidate out of scope', async () => {
    const project = judged(isolation)
    await project.data('init')
    const { experiment } = await project.attempt({ 'src/main.sh': SHORTER })
    const gate = [
      '--name',
      'cache',
      '--command',
      'mkdir -p bench/cache && touch bench/cache/x',
      '--reason',
      'new',
    ]
    await project.data('gate', 'add', experiment, ...gate)
    const child = { 'src/main.sh': HONEST.replace('99', '54') }
    expect(await project.attempt(child, experiment)).toMatchObject({ status: 'kept', value: 55 })
  })
})

test('a file that a candidate makes above its checkout stays there, and breaks what is measured later', async () => {
  const project = judged('none')
  const folder = project.repo.path('.assay', 'm', '0')
  await project.data('init')
  const above = `echo '{"type": "module"}' > ../package.json; mkdir -p ../node_modules/x; ${SHORTER}`
  expect(await project.attempt({ 'src/main.sh': above })).toMatchObject({
    reason: 'out_of_scope',
    message: expect.stringContaining('../package.json (new)') as string,
  })
  expect(existsSync(join(folder, 'package.json'))).toBe(false)
  // What a version that did not look there has left.
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  expect(await project.attempt({ 'src/main.sh': SHORTER })).toMatchObject({ status: 'kept' })
  expect(existsSync(join(folder, 'package.json'))).toBe(false)
})

/** `check.cjs` loads a package, which node also finds in the folders above. */
const LOADS = {
  'bench/run.sh': BENCH.replace('sh bench/check.sh', 'node bench/check.cjs'),
  'bench/check.cjs': `let least = 50
try { least = require('limits').least } catch {}
process.exit(require('node:fs').readFileSync(process.argv[2]).length < least ? 1 : 0)
`,
}
const plants = (above: string) =>
  `mkdir -p ${above}/node_modules/limits; echo 'exports.least = 0' > ${above}/node_modules/limits/index.js; echo 7\n`

test.each([
  ['the folder of all checkouts', '../..'],
  ['the state of Assay', '../../..'],
])('a candidate plants a package in %s, and is kept', async (_, above) => {
  const project = isolatedProject({ measure: { isolation: 'none' }, files: LOADS })
  await project.data('init')
  writeFileSync(project.repo.path('.assay', 'notes.txt'), 'of the user')
  expect(await project.attempt({ 'src/main.sh': plants(above) })).toMatchObject({
    reason: 'out_of_scope',
    message: expect.stringContaining(`${above}/node_modules (new)`) as string,
  })
  expect(await project.attempt({ 'src/main.sh': 'echo 7\n' })).toMatchObject({ status: 'failed' })
  expect(await project.attempt({ 'src/main.sh': SHORTER })).toMatchObject({ status: 'kept' })
  expect(existsSync(project.repo.path('.assay', 'notes.txt'))).toBe(true)
})

isolated('with programs inside of the repository', () => {
  test('an isolated candidate plants a package above its checkout, and is kept', async () => {
    const { repo } = isolatedProject({ measure: { isolation: 'strict' }, files: { ...LOADS, 'tools/x': '' } })
    const PATH = `${repo.path('tools')}:${process.env.PATH}`
    const project = projectIn(repo, makeTemp('control'), { PATH })
    await project.data('init')
    expect(await project.attempt({ 'src/main.sh': plants('..') })).toMatchObject({ status: 'failed' })
    expect(await project.attempt({ 'src/main.sh': SHORTER })).toMatchObject({ status: 'kept' })
  })
})
