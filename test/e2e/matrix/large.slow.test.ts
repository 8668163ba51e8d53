/** As many files as a large project has. */
import { test } from 'vitest'
import type { Files } from '../../rig/repo.ts'
import { journey, makeKind } from './journey.ts'

test('with 20,000 files a worktree lacks some, a seal misses the edit, or a command runs into a limit', async () => {
  const files: Files = {
    'src/text.txt': 'a long text\n',
    'bench/size.sh': `test "$(find . -name '*.part' | wc -l)" = 20000 || exit 1
echo "METRIC bytes=$(wc -c < src/text.txt)"
`,
  }
  for (let n = 0; n < 20_000; n++) files[`src/${n % 100}/${n}.part`] = `${n}\n`
  const spec = {
    measure: { command: 'sh bench/size.sh' },
    metric: { name: 'bytes', direction: 'minimize' },
  }
  const project = makeKind({ files, spec })
  await journey(project, {
    baseline: 12,
    edit: { 'src/text.txt': 'short\n', 'src/99/99.part': 'x\n' },
    value: 6,
  })
})
