/** What a measured process shares with the machine, and what it does not. The table is in `references/integrity.md`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stateMark } from '../../cli/process/identity.ts'
import { identify } from '../../cli/process.ts'
import { dataOf, problemOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { unprivileged } from '../rig/unprivileged.ts'
import { until } from '../rig/until.ts'
import { HONEST, isolated, isolatedProject } from './isolated.ts'
import type { InitData, Project, RunData } from './project.ts'

async function judge(project: Project, main: string): Promise<RunData> {
  const { experiment } = await project.open({ 'src/main.sh': main })
  return dataOf(await project.cli<RunData>(['run', experiment]))
}

/** Which processes there are whose command line has the text. */
function processesLike(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
}

isolated('a candidate that remembers its answer', () => {
  test.each([
    ['/tmp', '/tmp/memo'],
    ['/var/tmp', '/var/tmp/memo'],
    ['/dev/shm', '/dev/shm/memo'],
    ['/dev, which root can write to', '/dev/memo-of-assay-test'],
    ['the caches of the home folder', '"$XDG_CACHE_HOME/memo"'],
    ['the state folder of the user', '"$XDG_STATE_HOME/memo"'],
    ['its checkout', 'src/memo'],
  ])('in %s is kept', async (_, memo) => {
    const project = isolatedProject({ noise: { mode: 'paired', calibrate: 2 } })
    await project.data('init')
    const run = await judge(
      project,
      `if [ -e ${memo} ]; then printf '%049d\\n' 7; else : > ${memo}; printf '%099d\\n' 7; fi\n`,
    )
    rmSync('/dev/memo-of-assay-test', { force: true })
    expect(run).toMatchObject({ status: 'rejected', value: 100 })
  })

  test.each([
    ['although measure.fresh is `sample`', 'sample', { status: 'rejected', value: 100 }],
    ['or what lasts with a candidate is gone after a sample', 'candidate', { status: 'kept' }],
  ])('in a build cache is kept, %s', async (_, fresh, verdict) => {
    const project = isolatedProject({
      measure: { isolation: 'strict', fresh },
      noise: { mode: 'paired', calibrate: 2 },
    })
    mkdirSync(join(String(project.repo.env.XDG_CACHE_HOME), 'go-build'), { recursive: true })
    await project.data('init')
    const memo = '"$XDG_CACHE_HOME/go-build/memo"'
    const remembers = `if [ -e ${memo} ]; then printf '%049d\\n' 7; else mkdir -p "$XDG_CACHE_HOME/go-build" && : > ${memo} || exit 1; printf '%099d\\n' 7; fi\n`
    expect(await judge(project, remembers)).toMatchObject(verdict)
    // A later candidate begins without it in any case.
    const finds = `if [ -e ${memo} ]; then printf '%029d\\n' 7; else printf '%099d\\n' 7; fi\n`
    expect(await judge(project, finds)).toMatchObject({ status: 'rejected', value: 100 })
    expect(existsSync(join(String(project.repo.env.XDG_CACHE_HOME), 'go-build/memo'))).toBe(false)
  })

  test('in the home folder itself is kept, or the home folder is written to', async () => {
    const project = isolatedProject()
    await project.data('init')
    const run = await judge(
      project,
      `if touch "$HOME/memo"; then printf '%049d\\n' 7; else printf '%099d\\n' 7; fi 2>/dev/null\n`,
    )
    expect(run).toMatchObject({ status: 'rejected' })
    expect(existsSync(join(String(project.repo.env.HOME), 'memo'))).toBe(false)
  })
})

isolated('what judges a candidate', () => {
  test.each([
    [
      'a script that the benchmark starts after the candidate',
      'cp -p bench/check.sh bench/keep; printf "exit 0; mv bench/keep bench/check.sh" > bench/check.sh\n',
    ],
    ['the expected answer', 'cp -p bench/expected.txt bench/keep; : > bench/expected.txt\n'],
    [
      'a folder that holds it, and is there again at once',
      'mv bench bench2; mkdir bench; echo "rm -r bench; mv bench2 bench" > bench/check.sh',
    ],
    [
      'a folder that holds it',
      'mv bench bench2; mkdir bench; printf "exit 0" > bench/check.sh; (sleep 0.1; rm -r bench; mv bench2 bench) &\n',
    ],
  ])('is changed while the candidate runs: %s', async (_, trick) => {
    const project = isolatedProject()
    await project.data('init')
    const run = await judge(project, `{ ${trick.trim()}; } 2>/dev/null\necho 0\n`)
    expect(run.status).not.toBe('kept')
    expect(await judge(project, "printf '%089d\\n' 7\n")).toMatchObject({ status: 'kept', value: 90 })
  })

  /** Another text, and the file as it was before anything else runs. */
  const putBack = (file: string, text: string) =>
    `cp -p ${file} "$TMPDIR/keep"; chmod u+w ${file}; echo '${text}' > ${file}; cp -p "$TMPDIR/keep" ${file}\n`

  test.each([
    ['a scorer that is immutable', 'bench/score.sh', null],
    ['a scorer that no glob names', 'tools/score.sh', 'tools/score.sh'],
    ['data', 'data/cases.txt', 'data/cases.txt'],
    ['a file that no glob names', 'notes.txt', 'notes.txt'],
    ['what setup made', 'lib/made.txt', 'lib/made.txt'],
    ['its artifacts', '"$ASSAY_ARTIFACTS/model"', null],
    ['the artifacts of its parent', '"$ASSAY_PARENT_ARTIFACTS/model"', null],
  ])('is written to and put back by a sample: %s', async (_, file, named) => {
    const scorer = file.endsWith('score.sh') ? file : 'bench/score.sh'
    const score = `echo "METRIC n=$(wc -c < "$ASSAY_STDOUT" | tr -d ' ')"\n`
    const project = isolatedProject({
      measure: { isolation: 'strict', command: 'sh src/main.sh', score: { command: `sh ${scorer}` } },
      worktree: {
        setup: { command: 'mkdir -p lib && date > lib/made.txt' },
        build: { command: 'date > "$ASSAY_ARTIFACTS/model"' },
        data: ['data/**'],
      },
      files: {
        '.gitignore': 'data/\nlib/\n',
        'bench/score.sh': score,
        'tools/score.sh': score,
        'notes.txt': 'x\n',
      },
    })
    project.repo.write({ 'data/cases.txt': '7\n' })
    await project.data('init', '--no-canary')
    // Where it can write, it is told to have done so; where it cannot, nothing has changed and nothing is gained.
    const run = await judge(project, `{ ${putBack(file, 'echo METRIC n=1').trim()}; } 2>/dev/null\n${HONEST}`)
    expect(run).toMatchObject({ status: 'rejected', reason: named === null ? 'tie' : 'out_of_scope' })
    if (named !== null) expect(run.message).toBe(`its own run changed what judges it: ${named}`)
    expect(await judge(project, "printf '%089d\\n' 7\n")).toMatchObject({ status: 'kept', value: 90 })
  })

  test('is changed by the build of a candidate', async () => {
    const project = isolatedProject({
      worktree: { build: { command: 'sh src/build.sh' } },
      files: { 'src/build.sh': 'true\n' },
    })
    await project.data('init')
    const { experiment } = await project.open({
      'src/build.sh': 'echo 0 > bench/expected.txt || true\n',
      'src/main.sh': 'echo 0\n',
    })
    const run = dataOf(await project.cli<RunData>(['run', experiment]))
    expect(run).toMatchObject({ status: 'failed', reason: 'crash' })
  })

  test('the ledger, the candidates of others, or held-out data can be read by a candidate', async () => {
    const project = isolatedProject()
    const secret = join(makeTemp('secret'), 'cases.txt')
    writeFileSync(secret, 'held-out cases')
    await project.data('init', '--holdout', secret)
    const at = join(project.repo.dir, '.assay')
    // This machine may have ledgers of other runs.
    const own = `"checkout":"${project.repo.dir}"`
    expect(readFileSync(join(at, 'runs/run_0001/ledger.jsonl'), 'utf8')).toContain(own)
    const run = await judge(
      project,
      `{ find / -xdev -name ledger.jsonl -newer assay.yaml -exec grep -l '${own}' {} +; cat '${secret}' '${at}/runs/run_0001/ledger.jsonl'; ls '${at}'; } 2>/dev/null | grep -q . && echo 7 || printf '%099d\\n' 7\n`,
    )
    expect(run).toMatchObject({ status: 'rejected', reason: 'tie' })
  })

  test('a measured process commands Assay', async () => {
    const project = isolatedProject()
    await project.data('init')
    const cli = join(process.cwd(), 'bin/assay.cjs')
    const run = await judge(
      project,
      `'${process.execPath}' '${cli}' config set budget.experiments 9999 >/dev/null 2>&1; ${HONEST}`,
    )
    expect(run).toMatchObject({ status: 'rejected', reason: 'tie' })
    const ledger = readFileSync(join(project.repo.dir, '.assay/runs/run_0001/ledger.jsonl'), 'utf8')
    expect(ledger).not.toContain('"type":"configured"')
  })
})

isolated('what measure.before leaves running', () => {
  test.each(['strict', 'none'])(
    'is removed before the sample, and init does not say so (%s)',
    async (isolation) => {
      const server = "require('net').createServer().listen(Number(process.env.ASSAY_PORT))"
      const asks =
        "require('net').connect(Number(process.env.ASSAY_PORT)).on('error', () => process.exit(1)).on('connect', () => { console.log('METRIC n=1'); process.exit() })"
      const project = isolatedProject({
        measure: {
          isolation,
          before: 'node bench/server.cjs >/dev/null 2>&1 &',
          command: 'node bench/asks.cjs',
        },
        files: { 'bench/server.cjs': server, 'bench/asks.cjs': asks },
      })
      expect(await project.problem('init', '--no-canary')).toMatchObject({
        code: 'baseline_failed',
        message: expect.stringContaining(
          'Assay ended the processes that measure.before started, before the sample began: start them in measure.command',
        ),
      })
    },
  )
})

isolated('the machine', () => {
  test('runs a program that a candidate names, when something crashes, or is set up by it', async () => {
    const project = isolatedProject()
    await project.data('init')
    // The value that is there already: a candidate that could write it could name a program, which runs outside.
    const setting = '/proc/sys/kernel/core_pattern'
    const run = await judge(
      project,
      `if cat ${setting} > ${setting}; then printf '%049d\\n' 7; else printf '%099d\\n' 7; fi 2>/dev/null\n`,
    )
    expect(run).toMatchObject({ status: 'rejected', reason: 'tie' })
  })

  test('has disks that a job can read, or lacks the devices that programs need', async () => {
    const project = isolatedProject({
      files: {
        'bench/run.sh': `for one in /dev/*; do [ ! -b "$one" ] || [ ! -r "$one" ] || exit 1; done
head -c 1 /dev/urandom > /dev/null && : < /dev/zero && test -c /dev/full && ls /dev/fd/ /dev/pts > /dev/null || exit 1
echo "METRIC n=$(wc -c < src/main.sh)"
`,
      },
      measure: { isolation: 'strict' },
    })
    expect((await project.data<InitData>('init')).baseline.value).toBe(HONEST.length)
  })
})

isolated('both sides of a pair', () => {
  test('can be told apart by path, environment, names, or git', async () => {
    const project = isolatedProject({ noise: { mode: 'paired', calibrate: 2 } })
    await project.data('init')
    const look =
      'pwd -P; env | grep -v -e PORT -e TOKEN | sort; cat .git; git rev-parse --git-dir; ls /tmp; ls -A ..'
    // The same tree on both sides but for a comment, so all that differs is what each side sees.
    const first = await judge(project, `{ ${look}; } > "$ASSAY_TRACES/seen.txt"\n${HONEST}`)
    const folder = join(project.repo.dir, '.assay/runs/run_0001/exp/0001/attempts/1/samples')
    expect(first.reason).not.toBe('improved')
    const kept = await judge(project, `{ ${look}; } > "$ASSAY_TRACES/seen.txt"\nprintf '%089d\\n' 7\n`)
    expect(kept.status).toBe('kept')
    const child = await project.open(
      { 'src/main.sh': `# one more\n{ ${look}; } > "$ASSAY_TRACES/seen.txt"\nprintf '%079d\\n' 7\n` },
      'exp_0002',
    )
    expect(await project.data<RunData>('run', child.experiment)).toMatchObject({ status: 'kept' })
    const seen = (side: string) => {
      const at = folder.replace('/0001/', '/0003/')
      const name = readdirSync(at).find((one) => one.startsWith('judge-1-') && one.endsWith(side))
      return readFileSync(join(at, String(name), 'seen.txt'), 'utf8')
    }
    expect(seen('a.traces')).toBe(seen('b.traces'))
  })

  test('can be read or written to by each other', async () => {
    const project = isolatedProject({
      measure: { isolation: 'strict' },
      noise: { mode: 'paired', calibrate: 2 },
    })
    await project.data('init')
    const slot = join(project.repo.dir, '.assay/m/0')
    const found = `for at in ../[ab] '${slot}'/[ab] '${slot}' '${join(project.repo.dir, '.assay/m')}'/*; do [ ! -e "$at" ] || exit 1; done\n`
    const write = `for at in a b; do echo '# more' >> "${slot}/$at/bench/run.sh"; done 2>/dev/null\n`
    expect(await judge(project, `${found}${write}${HONEST}`)).toMatchObject({
      status: 'rejected',
      value: 100,
    })
    const texts = ['a', 'b'].map((side) => readFileSync(join(slot, side, 'bench/run.sh'), 'utf8'))
    expect(texts.filter((text) => text.includes('# more'))).toEqual([])
  })

  test('share what a build writes to a fixed path of the machine', async () => {
    const project = isolatedProject({
      measure: { command: 'cat /tmp/built-by-assay-test' },
      worktree: { build: { command: 'sed "s/^/METRIC n=/" src/number > /tmp/built-by-assay-test' } },
      noise: { mode: 'paired', calibrate: 2 },
      files: { 'src/number': '100\n' },
    })
    await project.data('init')
    const { experiment } = await project.open({ 'src/number': '50\n' })
    const run = await project.data<RunData>('run', experiment)
    expect(run.status).toBe('kept')
    expect(run.value).toBeCloseTo(50, 3)
    expect(existsSync('/tmp/built-by-assay-test')).toBe(false)
  })
})

isolated('processes of a sample', () => {
  test('a daemon outlives its sample that left its group, its environment, its folder and its output', async () => {
    const project = isolatedProject()
    await project.data('init')
    const run = await judge(
      project,
      `(setsid env -i sh -c 'cd /; exec sleep 98765' > /dev/null 2>&1 < /dev/null &) ; ${HONEST}`,
    )
    expect(run.reason).toBe('tie')
    expect(processesLike('98765')).toEqual([])
  })

  test('a daemon of setup, build or a gate still runs during the samples', async () => {
    const daemon = "(setsid env -i sh -c 'cd /; exec sleep 87654' > /dev/null 2>&1 < /dev/null &)"
    const project = isolatedProject({
      // In the worktree of an agent, setup runs with the rights of the agent.
      worktree: {
        setup: { command: `case $PWD in */.assay/w/*) ;; *) ${daemon} ;; esac` },
        build: { command: daemon },
      },
      gates: [
        { name: 'first', command: daemon, phase: 'before' },
        { name: 'last', command: daemon, phase: 'after' },
      ],
      files: {
        'bench/run.sh':
          'cat /proc/[0-9]*/cmdline | grep -q "8765[4]" && exit 1\ntest -s src/main.sh && echo "METRIC n=$(sh src/main.sh | wc -c)"\n',
      },
    })
    await project.data('init')
    expect(processesLike('87654')).toEqual([])
    const run = await judge(project, "printf '%089d\\n' 7\n")
    expect(run).toMatchObject({ status: 'kept', gates: [{ passed: true }, { passed: true }] })
    expect(processesLike('87654')).toEqual([])
  })
})

isolated('what a benchmark may still do', () => {
  test('git describe and git log do not work in a checkout', async () => {
    const project = isolatedProject({
      files: {
        'bench/run.sh': 'git log --format=%s | grep -q first && echo "METRIC n=$(wc -c < src/main.sh)"\n',
      },
    })
    expect((await project.data<InitData>('init')).baseline.value).toBe(HONEST.length)
  })

  test('a benchmark that needs the network is refused, or continues without a message', async () => {
    const server = createServer((_, response) => response.end('METRIC n=3\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const get = `require('http').get('http://127.0.0.1:${port}', (r) => r.pipe(process.stdout))`
    const project = isolatedProject({
      files: { 'bench/run.sh': `test -s src/main.sh && node -e "${get}"\n` },
    })
    const answer = await project.data<InitData>('init')
    expect(answer.baseline.value).toBe(3)
    expect(answer.warnings.join('\n')).toContain('measure: { network: true }')

    const strict = isolatedProject({
      measure: { isolation: 'strict' },
      files: { 'bench/run.sh': `test -s src/main.sh && node -e "${get}"\n` },
    })
    const problem = problemOf(await strict.cli(['init']))
    expect(problem).toMatchObject({ code: 'isolation_refused' })
    expect(problem.hint).toContain('network: true')
    expect(existsSync(join(strict.repo.dir, '.assay/runs/run_0001'))).toBe(false)

    const allowed = isolatedProject({
      measure: { isolation: 'strict', network: true },
      files: { 'bench/run.sh': `test -s src/main.sh && node -e "${get}"\n` },
    })
    expect((await allowed.data<InitData>('init')).warnings.join('\n')).not.toContain('network')
  })

  test('a benchmark that writes to the home folder does not work, or init does not name the path to allow', async () => {
    const project = isolatedProject({
      files: {
        'bench/run.sh':
          'mkdir -p "$HOME/.tool" && : > "$HOME/.tool/log" && wc -c < src/main.sh | sed "s/ *//;s/^/METRIC n=/"\n',
      },
    })
    const home = String(project.repo.env.HOME)
    mkdirSync(join(home, '.tool'), { recursive: true })
    const answer = await project.data<InitData>('init')
    expect(answer.warnings.join('\n')).toContain(`allow: [${home}/.tool]`)
  })

  test.each([
    ['of the home folder', ['~/.cache']],
    ['of one tool', ['~/.cache/tool']],
  ])('a benchmark cannot write to caches %s that the spec allows', async (_, allow) => {
    const project = isolatedProject({
      measure: { isolation: 'strict', allow },
      files: {
        'bench/run.sh':
          'date > "$HOME/.cache/tool/log" && wc -c < src/main.sh | sed "s/ *//;s/^/METRIC n=/"\n',
      },
    })
    const home = makeTemp('home')
    mkdirSync(join(home, '.cache', 'tool'), { recursive: true })
    const env = { HOME: home, XDG_CACHE_HOME: undefined }
    dataOf(await project.cli<InitData>(['init'], { env }))
    expect(existsSync(join(home, '.cache', 'tool', 'log'))).toBe(true)
  })

  test('a user without a cache folder cannot build', async () => {
    const project = isolatedProject({
      measure: { isolation: 'strict' },
      worktree: { build: { command: 'mkdir -p ~/.cache/tool && cp src/main.sh ~/.cache/tool/made' } },
      files: { 'bench/run.sh': 'echo "METRIC n=$(wc -c < ~/.cache/tool/made)"\n' },
    })
    const home = makeTemp('home')
    const env = { HOME: home, XDG_CACHE_HOME: undefined }
    const answer = dataOf(await project.cli<InitData>(['init'], { env }))
    expect(answer.baseline.value).toBe(HONEST.length)
    expect(readdirSync(join(home, '.cache'))).toEqual([])
  })

  test.each([
    ['is not there yet', []],
    ['lacks a package', ['.npm/other']],
  ])('setup fetches a package, and the store of the user %s', async (_, there) => {
    const project = isolatedProject({
      measure: { isolation: 'strict' },
      worktree: {
        setup: {
          command:
            '[ -e ~/.npm/wanted ] || { mkdir -p ~/.npm && cp bench/expected.txt ~/.npm/wanted; } || { echo "cannot write to $HOME/.npm/wanted"; exit 1; }',
        },
      },
      files: { 'bench/run.sh': 'test -s src/main.sh && echo "METRIC n=$(cat ~/.npm/wanted)"\n' },
    })
    const home = makeTemp('home')
    for (const path of there) mkdirSync(join(home, path), { recursive: true })
    const answer = dataOf(await project.cli<InitData>(['init'], { env: { HOME: home } }))
    expect(answer.baseline.value).toBe(7)
    expect(existsSync(join(home, '.npm', 'wanted'))).toBe(false)
  })

  test('a rule is dropped because of a cache that the attempt without isolation filled', async () => {
    const project = isolatedProject({
      files: {
        'bench/run.sh':
          '[ -e ~/filled ] || : > ~/filled || exit 1\ntest -s src/main.sh && echo "METRIC n=3"\n',
      },
    })
    const home = makeTemp('home')
    const answer = dataOf(await project.cli<InitData>(['init'], { env: { HOME: home } }))
    expect(answer.baseline.value).toBe(3)
    expect(answer.warnings.join('\n')).not.toContain('so Assay allows it in this run')
  })

  test('a benchmark writes to an immutable file, and measure.write does not allow it, or init does not name it', async () => {
    const files = {
      'bench/log.txt': 'none\n',
      'bench/run.sh': 'echo "$ASSAY_SEED" > bench/log.txt && echo "METRIC n=$(wc -c < src/main.sh)"\n',
    }
    const refused = problemOf(await isolatedProject({ files }).cli(['init']))
    expect(refused).toMatchObject({ code: 'baseline_failed' })
    expect(refused.hint).toContain('measure.write')

    const project = isolatedProject({ files, measure: { isolation: 'strict', write: ['bench/log.txt'] } })
    await project.data('init')
    expect(await judge(project, '# \n')).toMatchObject({ status: 'kept', value: 3 })
  })

  test('a build that leaves folders in /tmp which it cannot read stops the CLI', async () => {
    const project = isolatedProject({
      measure: { isolation: 'strict' },
      worktree: {
        build: {
          command: 'mkdir -p /tmp/left/a && date > /tmp/left/a/b && chmod 0 /tmp/left/a/b /tmp/left/a',
        },
      },
    })
    const answer = dataOf(await project.cli<InitData>(['init'], unprivileged(project.repo.dir)))
    expect(answer.baseline.value).toBe(100)
  })

  test("a benchmark reads the user's live checkout, and init does not say so", async () => {
    const project = isolatedProject({
      files: {
        'bench/run.sh': `cat "$(dirname "$PWD")"/*/live.txt 2>/dev/null | head -1 | sed 's/^/METRIC n=/'; test -s src/main.sh\n`,
      },
    })
    writeFileSync(join(project.repo.dir, 'live.txt'), '5\n')
    const problem = problemOf(await project.cli(['init']))
    expect(problem.code).toBe('baseline_failed')
  })
})

describe('a machine without bubblewrap', () => {
  const withoutBubblewrap = () => {
    const programs = makeTemp('programs')
    const names = [
      'sh',
      'git',
      'node',
      'cat',
      'grep',
      'wc',
      'tr',
      'env',
      'sed',
      'cp',
      'rm',
      'mkdir',
      'ps',
      'id',
    ]
    for (const name of names) {
      const found = (process.env.PATH ?? '')
        .split(':')
        .map((folder) => join(folder, name))
        .find((path) => existsSync(path))
      if (found) symlinkSync(name === 'node' ? process.execPath : found, join(programs, name))
    }
    return { PATH: programs }
  }

  test('is measured without isolation, and nothing says so or how to get it', async () => {
    const project = isolatedProject()
    const answer = dataOf(await project.cli<InitData>(['init'], { env: withoutBubblewrap() }))
    expect(answer.warnings.join('\n')).toContain('apt-get install bubblewrap')
  })

  test('is measured without isolation although the spec asks for it', async () => {
    const project = isolatedProject({ measure: { isolation: 'strict' } })
    const problem = problemOf(await project.cli(['init'], { env: withoutBubblewrap() }))
    expect(problem).toMatchObject({ code: 'isolation_missing' })
    expect(existsSync(join(project.repo.dir, '.assay/runs'))).toBe(false)
  })
})

isolated('a command that is killed while bubblewrap starts', () => {
  test('leaves a process in a namespace of its own, which waits for ever', async () => {
    const project = isolatedProject()
    await project.data('init')
    const owner = Buffer.from(JSON.stringify({ ...identify(), started: '1@00000000' })).toString('base64url')
    const token = `00:${owner}${stateMark(join(project.repo.dir, '.assay'))}`
    const apart = ['--unshare-pid', '--as-pid-1', '--bind', '/', '/', '--proc', '/proc']
    const bubblewrap = spawn('bwrap', [...apart, 'sleep', '300.25'], {
      env: { PATH: process.env.PATH, ASSAY_TOKEN: token },
      stdio: 'ignore',
    })
    const first = () =>
      processesLike('sleep\u0000300.25')
        .map(Number)
        .filter((pid) => pid !== bubblewrap.pid)
    onTestFinished(() => {
      for (const pid of first()) process.kill(pid, 'SIGKILL')
    })
    await until(() => processesLike('sleep\u0000300.25').some((pid) => isSleep(pid)), {
      what: 'its first process',
    })
    bubblewrap.kill('SIGKILL')
    await once(bubblewrap, 'exit')
    expect(first()).toHaveLength(1)
    await judge(project, 'true\n')
    expect(first()).toEqual([])
  })
})

const isSleep = (pid: string): boolean => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep')
