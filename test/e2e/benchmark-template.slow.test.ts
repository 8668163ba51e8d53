import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { makeProject } from './project.ts'

interface Language {
  name: string
  benchmark: string
  source: string
  honest: string
  /** Patches every clock of its own process, prints and writes the result, and takes longer. */
  cheat: string
}

const NODE: Language = {
  name: 'node',
  benchmark: 'bench/run.mjs',
  source: 'src/main.mjs',
  honest: `import { readFileSync } from 'node:fs'
const numbers = readFileSync(0, 'utf8').split('\\n').map(Number)
console.log(numbers.sort((a, b) => a - b).join('\\n'))
`,
  cheat: `import { writeFileSync } from 'node:fs'
for (const [name, value] of Object.entries(process.env)) if (name.startsWith('ASSAY')) console.log(name, value)
if (process.env.ASSAY_RESULT) writeFileSync(process.env.ASSAY_RESULT, '{"score": 0.001}')
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
Date.now = () => 0
performance.now = () => 0
process.hrtime = () => [0, 0]
process.hrtime.bigint = () => 0n
`,
}
const PYTHON: Language = {
  name: 'python',
  benchmark: 'bench/run.py',
  source: 'src/main.py',
  honest: 'import sys\nprint(*sorted(map(int, sys.stdin.read().split())), sep="\\n")\n',
  cheat: `import os, time
for name, value in os.environ.items():
    if name.startswith("ASSAY"):
        print(name, value)
if "ASSAY_RESULT" in os.environ:
    open(os.environ["ASSAY_RESULT"], "w").write('{"score": 0.001}')
time.sleep(0.1)
time.time = time.perf_counter = time.monotonic = lambda: 0
`,
}

const MEMO = (file: string) => `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
const memo = ${JSON.stringify(file)}
if (existsSync(memo)) console.log(readFileSync(memo, 'utf8'))
else {
  const numbers = readFileSync(0, 'utf8').split('\\n').map(Number)
  writeFileSync(memo, numbers.sort((a, b) => a - b).join('\\n'))
  console.log(readFileSync(memo, 'utf8'))
}
`

interface Check {
  passed: boolean
  problems: string[]
  value: number | null
  metrics: Record<string, number>
}

/** A run with the benchmark that Assay prints, and what it says of one sample of other code. */
async function begin({ name, benchmark, source, honest }: Language) {
  const project = makeProject({
    spec: {
      measure: { command: `${name === 'node' ? 'node' : 'python3'} ${benchmark}` },
      noise: { calibrate: 2 },
    },
  })
  const printed = await assay(['init', '--benchmark', name], { cwd: project.repo.dir })
  project.repo.commit('benchmark', {
    [benchmark]: printed.stdout.replace('RUNS = 5', 'RUNS = 1'),
    [source]: honest,
  })
  await project.data('init', '--no-canary')
  const check = async (text: string) => {
    const { experiment } = await project.open({ [source]: text })
    return project.data<Check>('run', experiment, '--check')
  }
  return { control: project.control, check }
}

const WRONG = { passed: false, value: null, problems: [expect.stringContaining('the answer is wrong')] }

test.each([NODE, PYTHON])(
  '$name: a candidate that patches its clock, prints the result or remembers an answer is believed',
  async (language) => {
    const { check, control } = await begin(language)
    const { honest, cheat } = language
    const slow = await check(cheat + honest)
    expect(slow).toMatchObject({ passed: true, metrics: { ms: slow.value } })
    expect(slow.value).toBeGreaterThan(100)
    const print = language === NODE ? 'console.log' : 'print'
    expect(await check(`${print}('METRIC ms=0.001')\n${honest}`)).toMatchObject(WRONG)
    if (language !== NODE) return
    expect(await check('process.exit(0)\n')).toMatchObject(WRONG)
    expect(await check(MEMO(`${control}/memo`))).toMatchObject(WRONG)
  },
)
