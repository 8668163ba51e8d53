import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { until } from '../rig/until.ts'
import { hook, makeProject, ms, type Project, type RunData, specText, writeFiles } from './project.ts'

const ledgerOf = (project: Project) =>
  readFileSync(project.repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl'), 'utf8')

test('a confirmation takes its value from the record, leaves a flag, or accepts a value that changed', async () => {
  const project = makeProject()
  await project.data('init')
  const worse = join(project.control, 'worse')
  const turns = hook(`if [ -f '${worse}' ]; then echo METRIC ms=95 > src/metrics.txt; fi`)
  const { experiment } = await project.attempt({ ...ms(90), ...turns })
  const child = await project.attempt(ms(80), experiment)
  await project.cli(['audit', experiment], { input: '{"findings":[{"code":"opinion","message":"hm"}]}' })
  expect(await project.data('status')).toMatchObject({ flagged: [experiment] })
  expect(await project.problem('new', '--parent', experiment, '-m', 'x')).toMatchObject({
    code: 'bad_parent',
  })
  const before = project.starts().length
  const confirmed = await project.data('confirm', experiment, '--key', 'c1')
  expect(confirmed).toMatchObject({
    experiment,
    passed: true,
    status: 'kept',
    value: 90,
    recorded: 90,
    against: 'exp_0000',
    against_value: 100,
    improvement_abs: 10,
    samples: 3,
    epoch: 1,
  })
  expect(project.starts().length - before).toBe(3)
  expect(await project.data('confirm', experiment, '--key', 'c1')).toMatchObject({
    passed: true,
    repeated: true,
  })
  expect(project.starts().length - before).toBe(3)
  expect(await project.data('status')).toMatchObject({ flagged: [], best: { experiment: child.experiment } })
  // Not better than a child of its own: that is what --against asks.
  expect(await project.problem('confirm', experiment, '--against', experiment)).toMatchObject({
    code: 'not_comparable',
  })
  expect(await project.problem('confirm', 'exp_0000')).toMatchObject({ exit: 3, code: 'is_baseline' })
  writeFileSync(worse, '')
  expect(await project.data('confirm', experiment)).toMatchObject({
    passed: false,
    status: 'revoked',
    value: 95,
    recorded: 90,
    message: 'not confirmed: ms = 95 now, 90 when it was judged',
  })
  // Nothing below a revoked one is best or parent.
  expect(await project.data('status')).toMatchObject({ best: { experiment: 'exp_0000' } })
  expect(await project.problem('new', '--parent', child.experiment, '-m', 'x')).toMatchObject({
    exit: 3,
    code: 'bad_parent',
  })
  expect(await project.data('show', experiment)).toMatchObject({
    status: 'revoked',
    attempts: [{ confirmations: [{ passed: true }, { passed: false, value: 95 }] }],
  })
})

test('a confirmation on a broken machine revokes a keep, or does not revoke one that broke', async () => {
  const project = makeProject()
  const broken = join(project.control, 'broken')
  project.repo.commit('bench', {
    'bench/run.sh': `test ! -f '${broken}' || exit 9\nif [ -f src/hook.sh ]; then . ./src/hook.sh; fi\ncat src/metrics.txt\n`,
  })
  await project.data('init')
  const rotten = join(project.control, 'rotten')
  const { experiment } = await project.attempt({ ...ms(90), ...hook(`test ! -f '${rotten}' || exit 8`) })
  writeFileSync(broken, '')
  const ran = await project.cli(['confirm', experiment])
  expect([ran.code, problemOf(ran).code]).toEqual([4, 'not_measured'])
  expect(await project.data('show', experiment)).toMatchObject({ status: 'kept' })
  rmSync(broken)
  writeFileSync(rotten, '')
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: false, status: 'revoked' })
  expect(await project.data('restore', experiment, '--reason', 'it was me')).toMatchObject({
    status: 'kept',
    changed: true,
  })
})

test('an added gate applies to the wrong experiments, or one that no experiment passes is accepted', async () => {
  const project = makeProject({
    spec: { gates: [{ name: 'lint', command: 'true', phase: 'before' }] },
    files: { 'src/order.txt': 'abc\n' },
  })
  await project.data('init')
  const { experiment } = await project.attempt(ms(90))
  const add = (name: string, command: string, ...more: string[]) =>
    project.cli<{ passed_on: string; repeated?: true }>([
      ...['gate', 'add', experiment, '--name', name, '--command', command, '--reason', 'lost twice', ...more],
    ])
  const before = ledgerOf(project)
  const refused = await add('never', 'echo "\u001b[2J out of order"; exit 3')
  expect([refused.code, problemOf(refused).code]).toEqual([3, 'gate_fails'])
  expect(problemOf(refused).at).toContain('out of order')
  expect(ledgerOf(project)).toBe(before)
  expect(await project.problem('gate', 'add', experiment, '--name', 'x', '--command', 'true')).toMatchObject({
    exit: 2,
    code: 'no_reason',
  })
  expect(dataOf(await add('order', 'grep -q abc src/order.txt', '--key', 'g1'))).toMatchObject({
    experiment,
    gate: 'order',
    passed_on: experiment,
  })
  expect(dataOf(await add('order', 'grep -q abc src/order.txt', '--key', 'g1'))).toMatchObject({
    repeated: true,
  })
  expect(problemOf(await add('order', 'true')).code).toBe('gate_exists')
  expect(problemOf(await add('lint', 'true')).code).toBe('gate_exists')
  const child = await project.open({ ...ms(80), 'src/order.txt': 'cab\n' }, experiment)
  expect(await project.data('gate', 'list', child.experiment)).toMatchObject({
    gates: [
      { name: 'lint', from: 'spec' },
      { name: 'order', from: experiment, phase: 'before', timeout_ms: 300_000 },
    ],
  })
  const checked = await project.cli(['gate', 'check', child.experiment])
  expect(checked.code).toBe(4)
  expect(dataOf(checked)).toMatchObject({
    passed: false,
    gates: [
      { name: 'lint', passed: true },
      { name: 'order', passed: false, exit: 1 },
    ],
  })
  expect(await project.data('run', child.experiment)).toMatchObject({ status: 'rejected', reason: 'gate' })
  // Beside it, nothing is bound.
  expect(await project.attempt({ ...ms(85), 'src/order.txt': 'cab\n' })).toMatchObject({ status: 'kept' })
  expect(await project.problem('gate', 'remove', experiment, '--name', 'lint')).toMatchObject({
    code: 'gate_of_spec',
  })
  expect(await project.problem('gate', 'remove', 'exp_0000', '--name', 'order')).toMatchObject({
    code: 'no_gate',
  })
  await project.data('gate', 'remove', child.experiment, '--name', 'order')
  expect(await project.data('gate', 'list', child.experiment)).toMatchObject({ gates: [{ name: 'lint' }] })
  expect(await project.data('gate', 'list', experiment)).toMatchObject({
    gates: [{ name: 'lint' }, { name: 'order' }],
  })
  writeFiles(child.worktree, ms(79))
  expect(await project.data('run', child.experiment)).toMatchObject({ status: 'kept', value: 79 })
})

test('run --check costs an attempt, writes an event, or passes a broken benchmark', async () => {
  const project = makeProject({ spec: { gates: [{ name: 'held', command: 'test -f src/metrics.txt' }] } })
  await project.data('init')
  const { experiment, worktree } = await project.open(ms(90))
  const before = ledgerOf(project)
  expect(await project.data('run', experiment, '--check')).toMatchObject({
    experiment,
    check: 1,
    passed: true,
    problems: [],
    looked_at: 'worktree',
    value: 90,
    gates: [{ name: 'held', passed: true }],
    output: 'METRIC ms=90\n',
  })
  writeFiles(worktree, hook('echo "no such module" >&2; exit 7'))
  const ran = await project.cli(['run', experiment, '--check'])
  expect(ran.code).toBe(4)
  expect(dataOf(ran)).toMatchObject({
    check: 2,
    passed: false,
    problems: ['no value: exit 7: no such module'],
    value: null,
    exit: 7,
    output: 'no such module\n',
  })
  expect(ledgerOf(project)).toBe(before)
  const checks = project.repo.path('.assay', 'runs', 'run_0001', 'exp', '0001', 'checks')
  expect(readdirSync(checks).sort()).toEqual(['1', '2'])
  expect(JSON.parse(readFileSync(join(checks, '2', 'check.json'), 'utf8'))).toMatchObject({ passed: false })
  expect(await project.data('status')).toMatchObject({ budget: { experiments: { used: 0 } } })
  expect(await project.data('show', experiment)).toMatchObject({ status: 'open', attempts: [] })
})

/** A project whose gate after the measurement says that it began, and goes on once its file is gone. */
async function held() {
  const project = makeProject()
  const [began, hold] = [join(project.control, 'began'), join(project.control, 'hold')]
  const gate = `echo $$ >> '${began}'; setsid sleep 300 & while [ -f '${hold}' ]; do sleep 0.05; done`
  project.repo.commit('gate', {
    'assay.yaml': specText({ gates: [{ name: 'held', command: gate, phase: 'after' }] }),
  })
  await project.data('init')
  rmSync(began, { force: true })
  writeFileSync(hold, '')
  return {
    project,
    hold,
    began: () => (existsSync(began) ? readFileSync(began, 'utf8').trim().split('\n') : []),
  }
}

test('an abort leaves something running, loses its reason, or is tried again by itself', async () => {
  const { project, hold, began } = await held()
  const { experiment } = await project.open(ms(90))
  const worker = startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir })
  await until(() => began().length >= 1, { what: 'the gate to begin', dir: project.control })
  const joined = startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir })
  // One that begins after the abort is a try of its own.
  await joined.said('waiting for the verdict')
  const call = [
    ...['abort', experiment, '--reason', 'it hangs', '--failure-class', 'eval'],
    ...['--fix', 'bound the loop', '--key', 'a1'],
  ]
  expect(await project.data(...call)).toMatchObject({
    experiment,
    status: 'failed',
    aborted: true,
    attempt: 1,
    failure_class: 'eval',
    process: 'asked',
    fix: 'bound the loop',
  })
  const verdict = { attempt: 1, status: 'failed', reason: 'aborted', message: 'it hangs', repeated: true }
  for (const running of [worker, joined]) {
    const ended = await running.ended
    expect(ended.code).toBe(4)
    expect(dataOf(ended)).toMatchObject(verdict)
  }
  expect(began().filter((pid) => existsSync(`/proc/${pid}/stat`))).toEqual([])
  expect(await project.data(...call)).toMatchObject({ aborted: true, repeated: true })
  expect(await project.problem('abort', experiment, '--reason', 'r')).toMatchObject({
    exit: 3,
    code: 'is_failed',
  })
  expect(await project.data('abort', experiment, '--if-running', '--reason', 'r')).toMatchObject({
    aborted: false,
    status: 'failed',
  })
  expect(await project.data('show', experiment)).toMatchObject({
    fix: 'bound the loop',
    attempts: [{ attempt: 1 }],
  })
  expect(await project.data('round', 'open')).toMatchObject({
    notes: [`${experiment} was stopped: it hangs. Fix: bound the loop`],
    repairable: [],
  })
  rmSync(hold)
  expect(await project.data('run', experiment)).toMatchObject({ attempt: 2, status: 'kept', value: 90 })
})

test('a remark, a note or a reason is lost or obeyed by the terminal', async () => {
  const project = makeProject({ spec: { budget: { experiments: 2 } } })
  await project.data('init')
  const rejected = await project.attempt(ms(110))
  const evil = 'look \u001b[2J here'
  await project.data('annotate', rejected.experiment, evil, '--task', 't1', '--tag', 'profile', '--key', 'n1')
  expect(await project.data('annotate', rejected.experiment, 'other', '--key', 'n1')).toMatchObject({
    text: evil,
    repeated: true,
  })
  expect(await project.problem('annotate', rejected.experiment, ' ')).toMatchObject({
    exit: 2,
    code: 'empty_text',
  })
  expect(await project.data('show', rejected.experiment)).toMatchObject({
    annotations: [{ task: 't1', tag: 'profile', text: evil }],
  })
  const text = await project.cli(['show', rejected.experiment])
  expect(text.stdout).not.toContain('\u001b')
  await project.data('note', 'the disk was full')
  await project.data('note', 'the lexer is hot', '--kind', 'learning')
  expect(await project.data('note')).toMatchObject({
    notes: [
      { kind: 'note', text: 'the disk was full' },
      { kind: 'learning', text: 'the lexer is hot' },
    ],
    truncated: false,
  })
  expect(await project.data('note', '--limit', '1')).toMatchObject({
    notes: [{ kind: 'learning' }],
    truncated: true,
  })
  expect(await project.data('round', 'open')).toMatchObject({
    notes: [`${rejected.experiment}, task t1 (profile): ${evil}`, 'the disk was full'],
    learnings: ['the lexer is hot'],
  })
  const made = await project.data<{ experiment: string }>('new', '-m', 'cache the parsed header')
  await project.data(
    'discard',
    made.experiment,
    '--failure-class',
    'hypothesis',
    '--reason',
    'no header there',
  )
  expect(await project.data('discards', '--like', 'cache parsed headers and the header')).toMatchObject({
    discards: [
      {
        experiment: made.experiment,
        status: 'discarded',
        failure_class: 'hypothesis',
        why: 'no header there',
      },
      { experiment: rejected.experiment, status: 'rejected', reason: 'not_better', value: 110, likeness: 0 },
    ],
    truncated: false,
  })
  expect(await project.data('restore', made.experiment)).toMatchObject({ status: 'open' })
  expect(await project.data('show', made.experiment)).toMatchObject({ failure_class: null, why: null })
  expect(await project.data('config', 'set', 'budget.experiments', '1', '--reason', 'enough')).toMatchObject({
    key: 'experiments',
    value: 1,
    before: 2,
    takes_effect: 'now',
    stop: 'budget',
  })
  expect(await project.data('config', 'get', 'experiments')).toMatchObject({ value: 1 })
  expect(await project.problem('config', 'set', 'width', '0', '--reason', 'r')).toMatchObject({
    exit: 2,
    code: 'knob_invalid',
  })
  expect(await project.problem('config', 'get', 'widht')).toMatchObject({ exit: 2, code: 'knob_unknown' })
  await project.data('config', 'set', 'experiments', 'none', '--reason', 'go on')
  expect(await project.data('status')).toMatchObject({ stop: null, notes: 2 })
})

test('traces are lost, unbounded, or read outside of their folder', async () => {
  const project = makeProject({
    files: {
      'bench/run.sh': `mkdir -p "$ASSAY_TRACES"
printf '{"task":"case/1","score":0.3333333333333333,"status":"ok","log":["one","two"]}' > "$ASSAY_TRACES/case-1.json"
head -c 40000 /dev/zero | tr '\\0' x > "$ASSAY_TRACES/raw"
cat src/metrics.txt\n`,
    },
  })
  await project.data('init')
  const { experiment } = await project.attempt(ms(90))
  expect(await project.data('traces', experiment)).toMatchObject({
    attempt: 1,
    sample: 'judge-0-b',
    traces: [
      { task: 'case/1', score: 0.3333333333333333, status: 'ok', reason: null },
      { task: 'raw', score: null },
    ],
    truncated: false,
  })
  const said = await assay(['traces', experiment], { cwd: project.repo.dir })
  expect(said.stdout).toContain('  case/1: 0.33333, ok\n')
  expect(await project.data('traces', experiment, 'case/1')).toMatchObject({ log: 'one\ntwo', cut: false })
  const raw = await project.data<{ log: string; cut: boolean }>('traces', experiment, 'raw')
  expect([raw.log.length, raw.cut]).toEqual([16_000, true])
  expect(await project.problem('traces', experiment, '../../steps.jsonl')).toMatchObject({
    code: 'unknown_task',
  })
  expect(await project.problem('traces', (await project.open({})).experiment)).toMatchObject({
    code: 'no_traces',
  })
  const twin = await project.attempt(ms(90))
  expect(twin).toMatchObject({ status: 'rejected', reason: 'duplicate' })
  expect(await project.problem('traces', twin.experiment)).toMatchObject({
    code: 'no_traces',
    message: expect.stringContaining(`judged as ${experiment}`),
  })
})

test('env shows a value, or not where a name comes from', async () => {
  const project = makeProject({
    spec: {
      measure: {
        command: 'sh bench/run.sh',
        environment: {
          inherit: ['TOKEN', 'ABSENT'],
          set: { MODE: 'fast-value' },
          file: '.env',
          keys: ['KEY'],
        },
      },
    },
    files: { '.gitignore': '.env\n' },
  })
  writeFiles(project.repo.dir, { '.env': 'KEY=hidden-value\nOTHER=x\n' })
  await project.data('init')
  const ran = await project.cli<{ variables: { name: string; from: string }[]; missing: string[] }>(
    ['env', 'show'],
    { env: { TOKEN: 'secret-value' } },
  )
  const { variables, missing } = dataOf(ran)
  const from = Object.fromEntries(variables.map(({ name, from }) => [name, from]))
  expect(from).toMatchObject({
    PATH: 'default',
    TOKEN: 'inherit',
    MODE: 'set',
    KEY: 'file',
    ASSAY_SEED: 'assay',
  })
  expect([from.OTHER, missing]).toEqual([undefined, ['ABSENT']])
  expect(ran.stdout).not.toContain('-value')
})

test('gc deletes what somebody works on, or what was never sealed, or nothing at all', async () => {
  const project = makeProject({ spec: { search: { max_attempts: 1 } } })
  await project.data('init')
  const opened = await project.open(ms(95))
  const kept = await project.open(ms(90))
  await project.data('run', kept.experiment, '--detach')
  await project.data('wait', '--for', kept.experiment)
  const edited = await project.open(ms(80))
  await project.data('run', edited.experiment)
  writeFiles(edited.worktree, ms(70))
  const planned = await project.data<{ deleted: unknown[]; bytes: number }>('gc', '--dry-run')
  expect([existsSync(kept.worktree), planned.bytes > 0]).toEqual([true, true])
  const done = await project.data<{ deleted: { kind: string; experiment: string }[] }>('gc')
  expect(done).toMatchObject({ ...planned, dry_run: false })
  expect(
    done.deleted.filter(({ experiment }) => experiment === kept.experiment).map(({ kind }) => kind),
  ).toEqual(['log', 'worktree'])
  expect(done).toMatchObject({
    kept: [
      { experiment: opened.experiment, why: 'it has no verdict yet' },
      { experiment: edited.experiment, why: 'it holds changes that were never sealed' },
    ],
  })
  expect([opened, kept, edited].map(({ worktree }) => existsSync(worktree))).toEqual([true, false, true])
  // It comes back with its candidate, so nothing has changed.
  expect(await project.data('run', kept.experiment)).toMatchObject({
    status: 'kept',
    value: 90,
    repeated: true,
  })
  expect(await project.data('run', opened.experiment)).toMatchObject({ value: 95 })
})

test('a best that is pruned is named as ID, and nothing says which parent there is instead', async () => {
  const project = makeProject()
  await project.data('init')
  const { experiment } = await project.attempt(ms(90))
  await project.data('prune', experiment, '--reason', 'too odd')
  expect(await project.problem('new', '-m', 'x')).toMatchObject({
    code: 'bad_parent',
    hint: 'name a different parent: assay new --parent exp_0000 -m TEXT; or bring it back first: assay restore exp_0001',
  })
  expect(await project.problem('new', '--parent', experiment, '-m', 'x')).toMatchObject({
    hint: 'bring it back first: assay restore exp_0001',
  })
})
