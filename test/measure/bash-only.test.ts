import { expect, test } from 'vitest'
import { bashOnly } from '../../cli/measure/bash-only.ts'

test.each([
  ['/bin/sh: 1: source: not found', '`source` is only known to bash: write `.` in its place'],
  ['out\nsh: 3: [[: not found\nmore', '`[[` is only known to bash: write `[ … ]` in its place'],
  ['/bin/sh: 1: pushd: not found', '`pushd` is only known to bash: write `cd` in its place'],
  ['sh: function: not found', '`function` is only known to bash: write `name() { …; }` in its place'],
  [
    '/bin/sh: 1: set: Illegal option -o pipefail',
    '`set -o pipefail` is only known to bash: give the command as a list',
  ],
  ['/bin/sh: 1: Syntax error: "(" unexpected', 'an array, or `function name()` is only known to bash'],
  ['/bin/sh: 1: Syntax error: redirection unexpected', '`<<<` or `<( … )` is only known to bash'],
  ['/bin/sh: 1: Bad substitution', 'a parameter expansion, of an array for example, is only known to bash'],
  ['bench/run.sh: 3: source: not found', 'sh runs bench/run.sh, and `source` is only known to bash'],
  ['bench/run.sh: 3: shopt: not found', 'start the script with bash: bash bench/run.sh'],
])('%s: no hint says that this is bash', (said, hint) => {
  expect(bashOnly(said)?.hint).toContain(hint)
})

test.each(['/bin/sh: 1: cargo: not found', 'Error: module source: not found', 'SyntaxError: x', ''])(
  '%s is called bash',
  (said) => {
    expect(bashOnly(said)).toBeNull()
  },
)
