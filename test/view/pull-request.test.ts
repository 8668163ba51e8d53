import { expect, test } from 'vitest'
import { type PullRequest, pullRequest } from '../../cli/view/pull-request.ts'

const winner: PullRequest['winner'] = {
  experiment: 'exp_0002',
  value: 50,
  improvement: 0.5,
  interval: null,
  samples: 14,
  message: 'better than exp_0000 in 7 pairs: 50 % better',
  paired: false,
}

const text = (more: Partial<PullRequest> = {}) =>
  pullRequest({
    name: 'demo',
    goal: 'Make it small.',
    metric: { name: 'ms', direction: 'minimize' },
    run: 'run_0001',
    branch: 'assay/demo',
    base: 'a'.repeat(40),
    dirtyBase: false,
    baseline: { value: 100 },
    winner,
    steps: [],
    gates: [],
    constraints: [],
    commands: ['npm ci'],
    folder: '',
    files: [],
    artifacts: [],
    learnings: [],
    ...more,
  })

test('the text says of a metric that varies that it gives the same value each time', () => {
  expect(text()).toContain('does not vary from run to run')
  const varies = text({ winner: { ...winner, paired: true } })
  expect(varies).not.toContain('does not vary')
  expect(varies).toContain('no interval with two finite ends')
  expect(text({ winner: { ...winner, paired: true, interval: [40, 60] } })).toContain(
    'The gain lies between 40 and 60 of ms (95 %). Both values are on the scale of the baseline as it was recorded',
  )
  expect(text()).not.toContain('on the scale')
})

test('a binary file is told to have an unknown number of lines', () => {
  const files = [
    { path: 'src/a.bin', status: 'A', added: null, removed: null },
    { path: 'src/b.js', status: 'M', added: 2, removed: 1 },
  ]
  expect(text({ files })).toContain('\n- A binary `src/a.bin`\n- M +2 −1 `src/b.js`\n')
})

test('the title shows backslashes, or the text lets a name become markup', () => {
  const [title, ...rest] = text({ metric: { name: 'p_99_ms', direction: 'minimize' } }).split('\n')
  expect(title).toBe('demo: p_99_ms 100 → 50 (50 % better)')
  expect(rest.join('\n')).toContain('| p_99_ms (minimize) |')
})

test('the lines to reproduce it are not those that were run, or a shell takes them for others', () => {
  const told = text({
    branch: "it's $(touch x);",
    commands: ['cd bench\n  python3 -c "if 1:\n    print(1)"\n', "printf 'a  b'\u001b[2J"],
  })
  expect(
    told
      .split('\n')
      .filter((line) => line.startsWith('    '))
      .slice(1),
  ).toEqual([
    "    git worktree add --detach ../after 'refs/heads/it'\\''s $(touch x);'",
    '    cd bench',
    '      python3 -c "if 1:',
    '        print(1)"',
    "    printf 'a  b'\\x1b[2J",
  ])
})

test('a command or a path that a person copies is not the one that was run', () => {
  const command = 'npm test -w @org/a_b -- "#1" | grep -c `nproc` && curl http://localhost/?a=1&b=2'
  const told = text({
    gates: [{ name: 'unit_2', command }],
    files: [{ path: 'src/@types/a_b  c.ts', status: 'M', added: 1, removed: 0 }],
    folder: 'packages/@org/a_b',
  })
  expect(told).toContain(`\n- gate unit_2: \`\`${command}\`\`\n`)
  expect(told).toContain('\n- M +1 −0 `src/@types/a_b  c.ts`\n')
  expect(told).toContain('in each of the two, in `packages/@org/a_b`:')
})
