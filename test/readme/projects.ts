/** Two small projects without a benchmark, and what their author types where the README says `$EDITOR`. */
import type { Files } from '../rig/repo.ts'

/** Texts to replace; each must be there. */
type Edit = readonly (readonly [from: string, to: string])[]

export interface Newcomer {
  language: 'node' | 'python'
  files: Files
  /** Of the template of a spec. */
  spec: Edit
  /** Of the template of a benchmark. */
  benchmark: { path: string; edit: Edit }
  /** What else the benchmark needs, beside it. */
  beside: Files
  /** The change by hand. */
  change: Files
  /** What the scripted agent writes next, no better: the loop must end by itself. */
  idea: Files
}

const GOAL = 'Say in a sentence or two what should get better, and what must stay as it is.'
/** Bytes, not milliseconds: with a number that does not vary the whole path takes seconds. */
const BYTES: Edit = [
  ['name: ms', 'name: bytes'],
  [GOAL, 'Write fewer bytes that still read as the same numbers.'],
]

const encodeInNode = (rest: string) =>
  `/** The numbers as JSON. */\nexport const encode = (numbers) => JSON.stringify(numbers${rest})\n`

export const NODE: Newcomer = {
  language: 'node',
  files: {
    'package.json': '{ "name": "numbers", "type": "module", "scripts": { "test": "node --test" } }\n',
    'src/encode.js': encodeInNode(', null, 2'),
    'test/encode.test.js': `import assert from 'node:assert/strict'
import test from 'node:test'
import { encode } from '../src/encode.js'

test('is read back', () => assert.deepEqual(JSON.parse(encode([3, 1])), [3, 1]))
`,
  },
  spec: [['my-optimization', 'fewer-bytes'], ...BYTES],
  benchmark: {
    path: 'run.mjs',
    edit: [
      ["'src/main.mjs'", "'bench/child.mjs'"],
      ['() => Math.floor(random() * 1e9)', '(_, i) => i * i'],
      [
        `const sorted = input
    .split('\\n')
    .map(Number)
    .sort((a, b) => a - b)
  return output.trim() === sorted.join('\\n')`,
        "return JSON.parse(output).join('\\n') === input",
      ],
      ['times.push(ms)', 'times.push(child.stdout.length)'],
      ['METRIC ms=', 'METRIC bytes='],
      ['RUNS = 5', 'RUNS = 1'],
    ],
  },
  beside: {
    'child.mjs': `import { readFileSync } from 'node:fs'
import { encode } from '../src/encode.js'
process.stdout.write(encode(readFileSync(0, 'utf8').split('\\n').map(Number)))
`,
  },
  change: { 'src/encode.js': encodeInNode('') },
  idea: { 'src/encode.js': encodeInNode(', null, 1') },
}

const encodeInPython = (rest: string) =>
  `import json\n\n\ndef encode(numbers):\n    """The numbers as JSON."""\n    return json.dumps(numbers${rest})\n`

export const PYTHON: Newcomer = {
  language: 'python',
  files: {
    '.gitignore': '__pycache__/\n',
    'src/encode.py': encodeInPython(', indent=2'),
    'test/test_encode.py': `import json, sys, unittest
sys.path.insert(0, "src")
from encode import encode


class Encode(unittest.TestCase):
    def test_is_read_back(self):
        self.assertEqual(json.loads(encode([3, 1])), [3, 1])
`,
  },
  spec: [
    ['my-optimization', 'fewer-bytes'],
    ...BYTES,
    ['node bench/run.mjs', 'python3 bench/run.py'],
    ['npm test', 'python3 -m unittest discover test'],
  ],
  benchmark: {
    path: 'run.py',
    edit: [
      ['"src/main.py"', '"bench/child.py"'],
      ['str(draw.randrange(10**9)) for _ in', 'str(i * i) for i in'],
      [
        'output.split() == [str(number) for number in sorted(map(int, given.split()))]',
        'json.loads(output) == [int(number) for number in given.split()]',
      ],
      ['import os\n', 'import json\nimport os\n'],
      ['times.append(ms)', 'times.append(len(child.stdout))'],
      ['METRIC ms=', 'METRIC bytes='],
      ['RUNS = 5', 'RUNS = 1'],
    ],
  },
  beside: {
    'child.py': `import sys
sys.path.insert(0, "src")
from encode import encode

sys.stdout.write(encode([int(number) for number in sys.stdin.read().split()]))
`,
  },
  change: { 'src/encode.py': encodeInPython(', separators=(",", ":")') },
  idea: { 'src/encode.py': encodeInPython('') },
}
