/** A folder that judges, moved away while it judges, and moved back: its files are as they were, so only the folder tells. */
import { describe, expect, test } from 'vitest'
import { HONEST, ISOLATIONS, isolatedProject, noBubblewrap } from './isolated.ts'
import type { Files, RunData } from './project.ts'

/** Accepts nothing that is shorter than the honest answer. */
const CHECK = `[ "$(wc -c < "$1")" -ge 50 ]\n`
const BENCH = `sh src/main.sh > "$TMPDIR/out" || exit 1
sh FOLDER/check.sh "$TMPDIR/out" || { echo wrong >&2; exit 1; }
echo "METRIC n=$(wc -c < "$TMPDIR/out" | tr -d ' ')"
`
const SETUP = `mkdir -p lib/made; cp bench/check.sh lib/made/check.sh`

/** Answers nothing, and puts a judge that accepts it in the place of the real one until it has judged. */
const cheat = (top: string, folder: string): Files => ({
  'src/main.sh': `mv ${top} aside && mkdir -p ${folder} || exit 1
printf 'rm -r ${top}; mv aside ${top}\\n' > ${folder}/check.sh; echo\n`,
})

const judged = (folder: string, isolation: string, more: Files = {}) =>
  isolatedProject({
    measure: { isolation },
    worktree: folder.startsWith('lib') ? { setup: { command: SETUP } } : undefined,
    files: {
      '.gitignore': 'lib/\n',
      'bench/check.sh': CHECK,
      'bench/run.sh': BENCH.replace('FOLDER', folder),
      ...(folder.startsWith('lib') ? {} : { [`${folder}/check.sh`]: CHECK }),
      ...more,
    },
  })

describe.each(ISOLATIONS)('isolation %s', (isolation) => {
  test.each([
    ['that is sealed', 'judge', 'judge'],
    ['below another folder', 'judge/deep', 'judge/deep'],
    ['that holds such a folder', 'judge/deep', 'judge'],
    ['that setup made', 'lib/made', 'lib'],
  ])('a folder %s is moved away and back, and the cheat is kept', async (_, folder, top) => {
    const project = judged(folder, isolation)
    await project.data('init')
    const verdict = await project.attempt(cheat(top, folder))
    expect(verdict).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
    expect(verdict.message).toContain(`changed what judges it: ${top}/`)
    const honest = { 'src/main.sh': HONEST.replace('99', '59') }
    expect(await project.attempt(honest)).toMatchObject({ status: 'kept', value: 60 })
  })

  test('files beside the folder, its rights, or a folder that is new make a candidate out of scope', async () => {
    const project = judged('judge', isolation)
    await project.data('init')
    const busy = `touch judge/note; rm judge/note; mkdir judge/new; mv judge/new judge/old; chmod 700 judge\n`
    const verdict = await project.attempt({ 'src/main.sh': `${busy}${HONEST.replace('99', '59')}` })
    expect(verdict).toMatchObject({ status: 'kept', value: 60 } satisfies Partial<RunData>)
  })

  test('a benchmark that moves its own folder makes every candidate out of scope', async () => {
    const moves = `mv judge aside; mv aside judge\n${BENCH.replace('FOLDER', 'judge')}`
    const project = judged('judge', isolation, { 'bench/run.sh': moves })
    await project.data('init')
    expect(await project.attempt({ 'src/main.sh': HONEST.replace('99', '59') })).toMatchObject({
      status: 'kept',
      value: 60,
    })
  })
})

test('with very many immutable files, the folders of the last ones can be moved in isolation', async ({
  skip,
}) => {
  skip(noBubblewrap !== null, noBubblewrap ?? '')
  const many: Files = {}
  for (let i = 0; i < 60; i++) many[`bench/cases/${i}.txt`] = 'case\n'
  const project = judged('bench/judge', 'strict', many)
  await project.data('init')
  // It writes there last, so that the folder itself tells nothing.
  const { 'src/main.sh': text } = cheat('bench/judge', 'bench/judge')
  const last = String(text)
    .replaceAll('aside', 'bench/aside')
    .replace('mv bench/aside bench/judge', 'mv bench/aside bench/judge; touch bench/judge/x')
  expect(await project.attempt({ 'src/main.sh': last })).toMatchObject({
    status: 'failed',
    reason: 'crash',
  })
})
