/** Candidates that delete, skip or end the tests that a gate of the spec would run. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { type InitData, makeProject, ms, type Project, type RunData, writeFiles } from './project.ts'

const TEST = `import test from 'node:test'
import assert from 'node:assert'
test('the number is printed', () => { assert.ok(1 + 1 === 2) })
test('and nothing else', () => { assert.ok(true) })
`

interface Shown {
  flagged: boolean
  doubt: string | null
}

describe('a gate whose tests lie where candidates may delete them', () => {
  let project: Project
  const made = () =>
    makeProject({
      spec: {
        scope: { mutable: ['src/**'], immutable: [] },
        gates: [{ name: 'unit', command: 'node --test src/' }],
      },
      files: { 'src/main.test.mjs': TEST },
    })
  beforeAll(async () => {
    project = made()
    const { facts } = await project.data<InitData>('init')
    expect(facts.exposed).toEqual([
      {
        kind: 'tests',
        at: 'src/main.test.mjs',
        message:
          'gate unit runs the tests in src/main.test.mjs, and a candidate may change, skip or delete them: add them to scope.immutable',
      },
    ])
  })

  const CHEATS: Record<string, { value: number; edit: (worktree: string) => void; says: string }> = {
    'deletes them': {
      value: 90,
      edit: (worktree) => rmSync(join(worktree, 'src/main.test.mjs')),
      says: 'it deletes src/main.test.mjs',
    },
    'skips them': {
      value: 89,
      edit: (worktree) =>
        writeFiles(worktree, { 'src/main.test.mjs': TEST.replaceAll('test(', 'test.skip(') }),
      says: 'it skips tests in src/main.test.mjs',
    },
    'ends before they run': {
      value: 88,
      edit: (worktree) => writeFiles(worktree, { 'src/main.test.mjs': `process.exit(0)\n${TEST}` }),
      says: 'it ends src/main.test.mjs with exit code 0',
    },
    'puts them into a comment': {
      value: 87,
      edit: (worktree) =>
        writeFiles(worktree, {
          'src/main.test.mjs': `${TEST.replace("test('the", "/* test('the")} */ test('none', () => {})\n`,
        }),
      says: 'it removes tests from src/main.test.mjs',
    },
    'puts them where nothing comes': {
      value: 86,
      edit: (worktree) =>
        writeFiles(worktree, {
          'src/main.test.mjs': `${TEST.replace("test('the", "if (false) {\ntest('the")}}\n`,
        }),
      says: 'it skips tests in src/main.test.mjs',
    },
  }
  test.each(Object.entries(CHEATS))(
    'a candidate that %s is kept without a doubt, or its verdict cannot be computed again',
    async (_name, { value, edit, says }) => {
      const { experiment, worktree } = await project.open(ms(value))
      edit(worktree)
      const verdict = await project.data<RunData>('run', experiment)
      expect(verdict).toMatchObject({ status: 'kept', value, best: false })
      expect(verdict.message).toContain(`${says}: look whether its tests still test what they did`)
      expect(await project.data('show', experiment, '--recompute')).toMatchObject({
        same: true,
        differences: [],
      })
      const shown = await project.data<Shown>('show', experiment)
      expect(shown.flagged).toBe(true)
      expect(shown.doubt).toContain(`${says}, so its gates may prove less`)
      expect(await project.problem('new', '--parent', experiment, '-m', 'on it')).toMatchObject({
        exit: 3,
        code: 'bad_parent',
        hint: `look at assay diff ${experiment}; when it is right, clear it: assay restore ${experiment}`,
      })
    },
  )

  test('of many experiments in doubt, status names twenty as if these were all', async () => {
    const many = made()
    await many.data('init')
    for (let n = 0; n < 22; n++) {
      const { experiment, worktree } = await many.open(ms(70 - n))
      rmSync(join(worktree, 'src/main.test.mjs'))
      expect(await many.data<RunData>('run', experiment)).toMatchObject({ status: 'kept' })
    }
    const status = await many.data<{ flagged: string[] }>('status')
    expect(status).toMatchObject({ doubts_more: 2 })
    expect(status.flagged).toHaveLength(20)
    const said = await assay(['status'], { cwd: many.repo.dir })
    expect(said.stdout).toContain('in doubt: 2 more, see assay tree')
  })

  test('a confirmation clears a doubt that only a person may clear, or a person cannot clear it', async () => {
    const confirmed = await project.data<{ passed: boolean; flagged: boolean }>('confirm', 'exp_0001')
    expect(confirmed).toMatchObject({ passed: true, flagged: true })
    await project.data('restore', 'exp_0001')
    expect(await project.data<Shown>('show', 'exp_0001')).toMatchObject({ flagged: false, doubt: null })
    expect(await project.data('confirm', 'exp_0001')).toMatchObject({ passed: true, flagged: false })
  })

  test('a candidate that leaves the tests alone, or adds one, is doubted', async () => {
    const honest = await project.attempt({ ...ms(80), 'src/more.test.mjs': TEST })
    expect(honest).toMatchObject({ status: 'kept', value: 80, best: true })
    expect(honest.message).not.toContain('tests')
  })

  test('an edited assertion is not reported', async () => {
    const edited = await project.attempt({
      ...ms(70),
      'src/main.test.mjs': TEST.replace('1 + 1 === 2', 'true'),
    })
    expect(edited).toMatchObject({ status: 'kept', best: true })
    expect(edited.message).toContain('it edits src/main.test.mjs')
  })
})
