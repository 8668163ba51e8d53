import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import {
  type Files,
  type InitData,
  makeProject,
  type NewData,
  type Project,
  type RunData,
  type SpecParts,
  writeFiles,
} from './project.ts'

interface Made extends NewData {
  artifacts: string
  seed_artifact?: string
}
interface Shown {
  status: string
  artifacts: Record<string, { path: string; sha256: string; bytes: number }>
  undeclared: { files: { path: string; bytes: number }[]; more: number }
  from_artifact: { experiment: string; label: string } | null
}

/** The metric is the number in the artifact; what the sample sees is kept beside. */
const BENCH = `env | grep ^ASSAY_ > src/seen.txt || true
if [ -f src/hook.sh ]; then . ./src/hook.sh; fi
number=$(cat "$ASSAY_ARTIFACTS/model.bin" 2>/dev/null || echo 100)
if [ -e "$ASSAY_ARTIFACTS/model.bin" ]; then declared='"model": "model.bin"'; fi
echo "{\\"metrics\\": {\\"ms\\": $number}, \\"artifacts\\": {\${DECLARE-$declared}}}" > "$ASSAY_RESULT"
`
const number = (value: number): Files => ({ 'src/number.txt': `${value}\n` })
const SHA_OF_90 = '4393447bd3c1d55ea7f97417ecb1b36a691ccaacaaf2ebd21c59a5acf825fb7b'

const projectWith = (spec: SpecParts, files: Files = {}): Project =>
  makeProject({ files: { 'bench/run.sh': BENCH, ...number(100), ...files }, spec })

const shown = (project: Project, id: string) => project.data<Shown>('show', id)

describe('an artifact that the build makes', () => {
  let project: Project
  let log: string
  const builds = () => readFileSync(log, 'utf8').split('\n').slice(0, -1)
  beforeAll(async () => {
    log = join(makeTemp('builds'), 'log')
    project = projectWith(
      { worktree: { build: { command: ['sh', 'bench/build.sh'] } } },
      {
        'bench/build.sh': `echo "$(basename "$(dirname "$ASSAY_ARTIFACTS")") \${ASSAY_PARENT_ARTIFACTS:+parent} \${ASSAY_SEED_ARTIFACT:+seed}" >> '${log}'
cp "\${ASSAY_SEED_ARTIFACT:-src/number.txt}" "$ASSAY_ARTIFACTS/model.bin"\n`,
      },
    )
    await project.data('init', '--no-canary')
  })

  test('is not recorded with its hash, or is built again for a tree that was built before', async () => {
    const made = await project.data<Made>('new', '-m', 'smaller')
    expect(made.artifacts).toBe(project.repo.path('.assay/runs/run_0001/exp/0001/artifacts'))
    writeFiles(made.worktree, number(90))
    expect(await project.data<RunData>('run', 'exp_0001')).toMatchObject({ status: 'kept', value: 90 })
    expect(await shown(project, 'exp_0001')).toMatchObject({
      artifacts: { model: { path: 'model.bin', sha256: SHA_OF_90, bytes: 3 } },
      undeclared: { files: [], more: 0 },
      from_artifact: null,
    })
    expect(builds()).toEqual(['0000  ', '0001 parent '])
    expect(await project.data<RunData>('run', 'exp_0001')).toMatchObject({ repeated: true, attempt: 1 })
  })

  test('one tree with a different seed artifact counts as a duplicate, or with the same one does not', async () => {
    const same = await project.attempt(number(90))
    expect(same).toMatchObject({
      status: 'rejected',
      reason: 'duplicate',
      message: 'the same files were judged as exp_0001: kept, 90',
    })
    const again = await project.data<Made>(
      'new',
      '-m',
      'x',
      '--from-artifact',
      'exp_0001:model',
      '-p',
      'exp_0000',
    )
    expect(again.seed_artifact).toBe(project.repo.path('.assay/runs/run_0001/exp/0001/artifacts/model.bin'))
    expect(await project.data<RunData>('run', again.experiment)).toMatchObject({ status: 'kept', value: 90 })
    expect(builds().at(-1)).toBe('0003 parent seed')
    const twin = await project.data<Made>('new', '-m', 'x', '--from-artifact', 'exp_0001', '-p', 'exp_0000')
    expect(await project.data<RunData>('run', twin.experiment)).toMatchObject({
      status: 'rejected',
      reason: 'duplicate',
      message: 'the same files and artifacts were judged as exp_0003: kept, 90',
    })
  })

  test('samples may write to artifacts: their own, the parent’s, the seed', async () => {
    for (const [write, named] of [
      ['echo 1 > "$ASSAY_ARTIFACTS/model.bin"', 'model.bin in ASSAY_ARTIFACTS'],
      ['echo 1 > "$ASSAY_ARTIFACTS/new"', 'new in ASSAY_ARTIFACTS'],
      ['echo 1 > "$ASSAY_PARENT_ARTIFACTS/new"', 'new in ASSAY_PARENT_ARTIFACTS'],
      // Put back at once, or by the next sample.
      [
        'cp -p "$ASSAY_ARTIFACTS/model.bin" keep; echo 1 > "$ASSAY_ARTIFACTS/model.bin"; cat keep > "$ASSAY_ARTIFACTS/model.bin"',
        'model.bin in ASSAY_ARTIFACTS',
      ],
      [
        'if [ -e "$ASSAY_ARTIFACTS/memo" ]; then rm "$ASSAY_ARTIFACTS/memo"; else : > "$ASSAY_ARTIFACTS/memo"; fi',
        'memo in ASSAY_ARTIFACTS',
      ],
    ] as const) {
      const answer = await project.attempt({ ...number(10), 'src/hook.sh': `${write}\n` })
      expect(answer).toMatchObject({ status: 'rejected', reason: 'out_of_scope', best: false })
      expect(answer.message).toBe(`its own run changed what judges it: ${named}`)
    }
    const { worktree, experiment } = await project.data<Made>(
      'new',
      '-m',
      'x',
      '-p',
      'exp_0000',
      '--from-artifact',
      'exp_0003',
    )
    writeFiles(worktree, { 'src/hook.sh': 'echo 7 > "$ASSAY_SEED_ARTIFACT"\n' })
    expect((await project.data<RunData>('run', experiment)).message).toBe(
      'its own run changed what judges it: ASSAY_SEED_ARTIFACT',
    )
    const after = await project.data<Made>('new', '-m', 'x', '--from-artifact', 'exp_0003:model')
    const ran = await project.cli<RunData>(['run', after.experiment])
    expect(ran.code).toBe(4)
    expect(dataOf(ran)).toMatchObject({
      status: 'failed',
      reason: 'environment',
      message: expect.stringContaining('the artifact exp_0003:model has changed since it was recorded'),
    })
  })
})

describe('an artifact that the agent makes', () => {
  let project: Project
  const open = async (model: string | null, files: Files = {}, ...flags: string[]) => {
    const made = await project.data<Made>('new', '-m', 'train', '-p', 'exp_0000', ...flags)
    writeFiles(made.worktree, files)
    if (model !== null) writeFileSync(join(made.artifacts, 'model.bin'), model)
    return made
  }
  beforeAll(async () => {
    project = projectWith({})
    await project.data('init', '--no-canary')
  })

  test('counts as no change, or two different ones count as the same candidate', async () => {
    const first = await open('90\n')
    expect(await project.data<RunData>('run', first.experiment)).toMatchObject({ status: 'kept', value: 90 })
    expect((await shown(project, first.experiment)).artifacts.model?.sha256).toBe(SHA_OF_90)
    const same = await open('90\n')
    expect(await project.data<RunData>('run', same.experiment)).toMatchObject({
      reason: 'duplicate',
      message: 'the same files and artifacts were judged as exp_0001: kept, 90',
    })
    const other = await open('80\n')
    expect(await project.data<RunData>('run', other.experiment)).toMatchObject({ status: 'kept', value: 80 })
    const none = await open(null)
    expect(await project.data<RunData>('run', none.experiment)).toMatchObject({ reason: 'empty' })
  })

  test('a kept experiment repeats its verdict although its artifact has changed since', async () => {
    const made = await open('70\n')
    await project.data<RunData>('run', made.experiment)
    appendFileSync(join(made.artifacts, 'model.bin'), '\n')
    expect(await project.problem('run', made.experiment)).toMatchObject({
      code: 'is_kept',
      exit: 3,
      message: `${made.experiment} is kept, and its artifacts have changed since`,
    })
  })

  test('a rejected experiment repeats its verdict although its artifact was made better', async () => {
    const made = await open('200\n')
    expect(await project.data<RunData>('run', made.experiment)).toMatchObject({
      status: 'rejected',
      value: 200,
    })
    writeFileSync(join(made.artifacts, 'model.bin'), '60\n')
    expect(await project.data<RunData>('run', made.experiment)).toMatchObject({ attempt: 2, value: 60 })
  })

  test('a path outside of the folder, to nothing or through a link is an artifact', async () => {
    const cases: [string, string][] = [
      ['"x": "../../../spec.json"', 'artifact x is not inside ASSAY_ARTIFACTS: ../../../spec.json'],
      ['"x": "missing"', 'artifact x: no file missing was in ASSAY_ARTIFACTS before the samples'],
      ['"x": "link"', 'artifact x: no file link was in ASSAY_ARTIFACTS before the samples'],
    ]
    for (const [declare, words] of cases) {
      const made = await open('50\n', { 'src/hook.sh': `DECLARE='${declare}'\n` })
      symlinkSync('/etc/passwd', join(made.artifacts, 'link'))
      const ran = await project.cli<RunData>(['run', made.experiment])
      expect(dataOf(ran)).toMatchObject({ status: 'failed', reason: 'metric_error' })
      expect(dataOf(ran).message).toContain(words)
      // The file may come later, and is no part of the record.
      expect(await project.data('show', made.experiment, '--recompute')).toMatchObject({ same: true })
    }
  })

  test('the artifact of a failed evaluation is lost, or no sibling can measure it again', async () => {
    const made = await open('40\n', { 'src/hook.sh': 'echo lost >&2; exit 3\n' })
    await project.cli(['run', made.experiment])
    await project.data('discard', made.experiment, '--reason', 'the evaluation is broken')
    expect(existsSync(join(made.artifacts, 'model.bin'))).toBe(true)
    expect(await shown(project, made.experiment)).toMatchObject({
      status: 'discarded',
      artifacts: {},
      undeclared: { files: [{ path: 'model.bin', bytes: 3 }], more: 0 },
    })
    const retest = await project.data<Made>(
      'new',
      '-m',
      'retest',
      '--from-artifact',
      `${made.experiment}:model.bin`,
    )
    expect(retest).toMatchObject({ parent: 'exp_0000', seed_artifact: join(made.artifacts, 'model.bin') })
    writeFiles(retest.worktree, {
      'src/hook.sh': 'DECLARE=; number=; ASSAY_ARTIFACTS=$(dirname "$ASSAY_SEED_ARTIFACT")\n',
    })
    expect(await project.data('path', retest.experiment)).toMatchObject({
      artifacts: retest.artifacts,
      seed_artifact: join(made.artifacts, 'model.bin'),
    })
    expect(await project.data<RunData>('run', retest.experiment)).toMatchObject({ status: 'kept', value: 40 })
    expect(await shown(project, retest.experiment)).toMatchObject({
      from_artifact: { experiment: made.experiment, label: 'model.bin' },
    })
  })

  test('an artifact that does not exist, or lies outside, can be asked for', async () => {
    const ask = (text: string) => project.problem('new', '-m', 'x', '--from-artifact', text)
    expect(await ask('exp_0001:nothing')).toMatchObject({
      code: 'no_artifact',
      exit: 2,
      message: 'exp_0001 has no artifact "nothing"',
      hint: 'it has: model, model.bin',
    })
    expect(await ask('exp_0001:../../../spec.json')).toMatchObject({ code: 'no_artifact' })
    expect(await ask('exp_0000')).toMatchObject({ message: 'exp_0000 has no artifact at all' })
    expect(await ask('exp_9999')).toMatchObject({ code: 'unknown_experiment' })
  })
})

describe('a build that starts from the artifact of the parent', () => {
  let project: Project
  /** Adds the number in the sources to the one that the parent has. */
  const BUILD = `before=0
if [ -n "$ASSAY_PARENT_ARTIFACTS" ]; then before=$(cat "$ASSAY_PARENT_ARTIFACTS/model.bin"); fi
echo $((before + $(cat src/number.txt))) > "$ASSAY_ARTIFACTS/model.bin"
if [ "$ASSAY_SLOT" != 0 ]; then exit 9; fi
`
  const near = (value: number) => expect.closeTo(value, 3) as number
  const model = (id: string) =>
    project.repo.path('.assay/runs/run_0001/exp', id.slice(4), 'artifacts/model.bin')

  test('init says that the checkouts are not apart, or that the emptied files lack what only the build gets', async () => {
    project = projectWith(
      {
        worktree: { build: { command: ['sh', 'bench/build.sh'] } },
        noise: { mode: 'paired', calibrate: 2 },
        // The number of a file is no time of a run: a fall that no clock shows would be in doubt.
        metric: { name: 'ms', direction: 'minimize', unit: 'points' },
      },
      { 'bench/build.sh': BUILD },
    )
    const begun = await project.data<InitData>('init')
    expect(begun.baseline.value).toBe(100)
    expect(begun.warnings.filter((one) => one.includes('checkouts'))).toEqual([])
    const { canary } = begun.facts as { canary: { outcome: string; why: string } }
    expect(canary.why).toContain('arithmetic')
  })

  test('the same files that start from a different artifact count as a duplicate', async () => {
    expect(await project.attempt(number(-10))).toMatchObject({ status: 'kept', value: near(90) })
    expect(await project.attempt(number(-20), 'exp_0001')).toMatchObject({ status: 'kept', value: near(70) })
    expect(await project.attempt(number(-20))).toMatchObject({ status: 'kept', value: near(80) })
    expect(await project.attempt(number(-20))).toMatchObject({ status: 'rejected', reason: 'duplicate' })
  })

  test('two experiments with the same files are measured as parents with the artifacts of one of them', async () => {
    for (const [parent, value] of [
      ['exp_0002', 70],
      ['exp_0003', 80],
    ] as const) {
      const child = await project.attempt(number(-1), parent)
      expect(child).toMatchObject({ status: 'kept', value: near(value - 1) })
    }
  })

  test('a candidate is measured although the artifact that it starts from was exchanged', async () => {
    writeFileSync(model('exp_0002'), '1\n')
    const ran = await project.cli<RunData>(['run', (await project.open(number(-2), 'exp_0002')).experiment])
    expect(ran.code).toBe(4)
    expect(dataOf(ran)).toMatchObject({
      failure_class: 'environment',
      message: expect.stringContaining(
        'the artifacts of exp_0002 have changed since they were recorded',
      ) as string,
    })
  })
})

test('a child pays for a parent that writes to its own artifacts when it is measured as a parent', async () => {
  const project = projectWith(
    {
      noise: { mode: 'paired', calibrate: 2 },
      metric: { name: 'ms', direction: 'minimize', unit: 'points' },
    },
    {
      'src/number.txt': '100\n',
      'bench/run.sh': `. ./src/hook.sh; echo "METRIC ms=$(cat src/number.txt)"\n`,
    },
  )
  project.repo.commit('hook', { 'src/hook.sh': 'true\n' })
  await project.data('init')
  const flag = join(project.control, 'evil')
  const writes = { 'src/hook.sh': `[ ! -e '${flag}' ] || date +%N >> "$ASSAY_ARTIFACTS/log"\n` }
  const evil = await project.attempt({ ...number(80), ...writes })
  expect(evil).toMatchObject({ status: 'kept' })
  writeFileSync(flag, '')
  const child = await project.attempt({ ...number(70), 'src/hook.sh': 'true\n' }, evil.experiment)
  expect(child).toMatchObject({
    status: 'failed',
    failure_class: 'environment',
    message: expect.stringContaining(
      `the run of ${evil.experiment}, with which it is compared, changed files that decide this verdict: log in ASSAY_PARENT_ARTIFACTS`,
    ) as string,
  })
  expect(await project.data('show', child.experiment, '--recompute')).toMatchObject({ same: true })
  const own = await project.attempt({ ...number(60), ...writes }, evil.experiment)
  expect(own).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
})

test.each([
  ['ASSAY_ARTIFACTS', 'exp_0001'],
  ['ASSAY_PARENT_ARTIFACTS', 'exp_0000'],
])(
  'a gain that rests on a file in $%s, which no commit has, is the best, and finish makes a branch without it',
  async (variable, owner) => {
    const answer = `cat "$${variable}/answer" 2>/dev/null || echo METRIC ms=500\n`
    const project = makeProject({
      files: { 'bench/run.sh': '. ./src/hook.sh\n', 'src/hook.sh': 'echo METRIC ms=100\n' },
    })
    await project.data('init')
    const made = await project.open({ 'src/hook.sh': answer })
    const folder = project.repo.path(`.assay/runs/run_0001/exp/${owner.slice(4)}/artifacts`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'answer'), 'METRIC ms=1\n')
    const kept = await project.data<RunData>('run', made.experiment)
    expect(kept).toMatchObject({ status: 'kept', value: 1, best: false })
    expect(await project.problem('finish')).toMatchObject({ code: 'nothing_better' })
    const { doubt } = await project.data<{ doubt: string }>('show', made.experiment)
    expect(doubt).toContain(`answer in ${variable}`)
    expect(await project.data('confirm', made.experiment)).toMatchObject({ flagged: true })
    expect(await project.data('show', made.experiment, '--recompute')).toMatchObject({ same: true })
    await project.data('restore', made.experiment)
    expect(await project.data('status')).toMatchObject({ best: { experiment: made.experiment } })
  },
)

test('an artifact that the benchmark declares puts a keep in doubt, or finish does not say that its branch lacks it', async () => {
  const project = projectWith({})
  await project.data('init', '--no-canary')
  const made = await project.data<Made>('new', '-m', 'train')
  writeFileSync(join(made.artifacts, 'model.bin'), '90\n')
  expect(await project.data<RunData>('run', made.experiment)).toMatchObject({ status: 'kept', best: true })
  const unchanged = await project.problem('finish')
  expect(unchanged.message).toContain('exp_0001 changes no file: its gain comes from its artifacts')
  const child = await project.data<Made>('new', '-m', 'train more', '-p', 'exp_0001')
  writeFileSync(join(child.artifacts, 'model.bin'), '80\n')
  writeFiles(child.worktree, number(80))
  expect(await project.data<RunData>('run', child.experiment)).toMatchObject({ status: 'kept', best: true })
  const { text } = await project.data<{ text: string }>('finish')
  expect(text).toContain('## Artifacts\n\nThe branch does not contain them')
  expect(text).toContain('- model: 3 bytes, SHA-256')
})
