import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemp } from './temp.ts'
import { until } from './until.ts'

/** How the benchmark behaves at its next start. */
export interface Behaviour {
  /** Printed instead of the METRIC line. */
  print?: string
  /** Default 0. */
  exit?: number
  /** Wait, after saying that it started, until `release()`. */
  hold?: boolean
  /** Added to the number, one after the other and from the start again. */
  noise?: number[]
}

export interface Started {
  pid: number
  cwd: string
  env: Record<string, string>
}

/** A benchmark whose number a candidate sets (`src/number.txt`) and whose behaviour the test steers through files. */
export interface Benchmark {
  /** The program, to be committed as for example `bench/run.mjs`; run it with node in the repository's root. */
  source: string
  behave: (behaviour: Behaviour) => void
  /** Its starts until now, in order. */
  starts: () => Started[]
  /** Resolves once it has been started so many times in all. */
  started: (times: number) => Promise<void>
  /** Lets everything that holds go on, now and later. */
  release: () => void
}

export function scriptedBenchmark({ metric = 'ms' }: { metric?: string } = {}): Benchmark {
  const control = makeTemp('benchmark')
  const starts = join(control, 'starts')
  mkdirSync(starts)
  const behave = (behaviour: Behaviour) => {
    writeFileSync(join(control, 'behaviour.json'), JSON.stringify(behaviour))
  }
  behave({})
  const read = () =>
    readdirSync(starts)
      .filter((name) => name.endsWith('.json'))
      .sort()
  return {
    source: SOURCE.replace('CONTROL', JSON.stringify(control)).replace('METRIC_NAME', JSON.stringify(metric)),
    behave,
    starts: () => read().map((name) => JSON.parse(readFileSync(join(starts, name), 'utf8'))),
    started: (times) =>
      until(() => read().length >= times, { what: `${times} starts of the benchmark`, dir: starts }),
    release: () => {
      if (!existsSync(join(control, 'released'))) writeFileSync(join(control, 'released'), '')
    },
  }
}

const SOURCE = `import { existsSync, linkSync, readdirSync, readFileSync, unlinkSync, watch, writeFileSync } from 'node:fs'
const control = CONTROL
const metric = METRIC_NAME
const behaviour = JSON.parse(readFileSync(control + '/behaviour.json', 'utf8'))
// The sample with which init looks whether anything is read: as if it had not been started.
if (readFileSync('src/number.txt', 'utf8') === '') process.exit(1)
const temporary = control + '/' + process.pid + '.tmp'
writeFileSync(temporary, JSON.stringify({ pid: process.pid, cwd: process.cwd(), env: process.env }))
let index = readdirSync(control + '/starts').length
for (;;) {
  try {
    linkSync(temporary, control + '/starts/' + String(index).padStart(6, '0') + '.json')
    break
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    index++
  }
}
unlinkSync(temporary)
if (behaviour.hold) {
  await new Promise((resolve) => {
    const look = () => existsSync(control + '/released') && (watcher.close(), clearInterval(timer), resolve())
    const watcher = watch(control, look)
    const timer = setInterval(look, 50)
    look()
  })
}
const noise = behaviour.noise ?? [0]
const number = Number(readFileSync('src/number.txt', 'utf8')) + noise[index % noise.length]
console.log(behaviour.print ?? 'METRIC ' + metric + '=' + number)
process.exitCode = behaviour.exit ?? 0
`
