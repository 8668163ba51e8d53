/**
 * A Slurm cluster of two virtual nodes on this machine: no munge, no cgroups, no accounting database; everything below a
 * temporary folder, on the loopback only. Each node has its own folder for temporary files, as on a real cluster.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll } from 'vitest'
import { missingProgram } from './needs.ts'
import { makeTemp } from './temp.ts'
import { until } from './until.ts'

export interface Cluster {
  folder: string
  /** What a command needs to find it. */
  env: { SLURM_CONF: string; PATH: string }
  /** Temporary files of a node. */
  temporary: (node: 'n1' | 'n2') => string
  run: (program: string, args?: string[]) => Promise<string>
  jobs: () => Promise<{ id: string; state: string; node: string; name: string }[]>
  stopController: () => Promise<void>
  startController: () => Promise<void>
  /** As if the machine lost its power: the programs of Slurm are gone, what jobs started lives on. */
  killNode: (node: 'n1' | 'n2') => Promise<void>
  startNode: (node: 'n1' | 'n2') => Promise<void>
  /** Puts a program of this name before the real one, for the commands that get `env`. `$REAL` is the real one. */
  plant: (program: string, script: string) => void
}

/** Why there can be no cluster here; null when there can. */
export const noSlurm = (): string | null => missingProgram('slurm-wlm', ['slurmctld', '-V'])

const clusters = new Set<string>()

afterAll(() => {
  for (const folder of clusters) for (const pid of processesOf(folder)) killOne(pid)
})

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

export async function startCluster(): Promise<Cluster> {
  const folder = makeTemp('slurm')
  clusters.add(folder)
  const bin = join(folder, 'bin')
  for (const name of ['bin', 'state', 'spool-n1', 'spool-n2', 'tmp-n1', 'tmp-n2'])
    mkdirSync(join(folder, name))
  const conf = join(folder, 'slurm.conf')
  const ports = await freePorts(3)
  writeFileSync(
    join(folder, 'prolog.sh'),
    `#!/bin/sh\necho "export TMPDIR=${folder}/tmp-$SLURMD_NODENAME"\n`,
    {
      mode: 0o755,
    },
  )
  writeFileSync(conf, configuration(folder, ports))
  const env = { SLURM_CONF: conf, PATH: `${bin}:${process.env.PATH}:/usr/sbin:/sbin` }
  const running = new Map<string, ChildProcess>()
  const start = (name: string, program: string, args: string[]) => {
    const child = spawn(program, args, { env: { ...env, HOME: folder }, stdio: 'ignore', detached: true })
    running.set(name, child)
  }
  const stop = async (name: string) => {
    const child = running.get(name)
    if (!child?.pid) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    killGroup(child.pid)
    await ended
  }
  const run = async (program: string, args: string[] = []) =>
    (await execa(program, args, { env, extendEnv: false, reject: false, all: true })).all
  const startController = async () => {
    start('controller', 'slurmctld', ['-D', '-f', conf])
    await until(async () => /UP/.test(await run('scontrol', ['ping'])), { what: 'the controller of Slurm' })
  }
  const startNode = async (node: 'n1' | 'n2') => {
    start(node, 'slurmd', ['-D', '-N', node, '-f', conf])
    await until(
      async () => /^(?:idle|allocated|mixed)$/m.test(await run('sinfo', ['-h', '-n', node, '-o', '%T'])),
      {
        what: `node ${node}`,
      },
    )
  }
  await startController()
  await Promise.all([startNode('n1'), startNode('n2')])
  return {
    folder,
    env,
    temporary: (node) => join(folder, `tmp-${node}`),
    run,
    async jobs() {
      const told = await run('squeue', ['-h', '-t', 'all', '-o', '%i|%T|%N|%j'])
      return told
        .split('\n')
        .filter(Boolean)
        .map((line) => {
          const [id = '', state = '', node = '', name = ''] = line.split('|')
          return { id, state, node, name }
        })
    },
    stopController: () => stop('controller'),
    startController,
    async killNode(node) {
      await stop(node)
      for (const pid of processesOf(folder)) {
        const isStep = /^slurmstepd/.test(textOf(`/proc/${pid}/comm`))
        if (isStep && textOf(`/proc/${pid}/environ`).includes(folder)) killOne(pid)
      }
    },
    startNode,
    plant(program, script) {
      const real = `/usr/bin/${program}`
      const file = join(bin, program)
      writeFileSync(file, `#!/bin/sh\nREAL=${real}\n${script}\n`)
      chmodSync(file, 0o755)
    },
  }
}

/** Processes whose environment names a file of the cluster: its programs, and what its jobs left. */
function processesOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => textOf(`/proc/${pid}/environ`).includes(`=${folder}/`))
    .map(Number)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

function configuration(folder: string, [controller, first, second]: number[]): string {
  const host = hostname().split('.')[0]
  const node = (name: string, port: number | undefined) =>
    `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${port} CPUs=2 State=UNKNOWN`
  return [
    'ClusterName=rig',
    `SlurmctldHost=${host}(127.0.0.1)`,
    `SlurmctldPort=${controller}`,
    'AuthType=auth/none',
    'CredType=cred/none',
    `SlurmUser=${userInfo().username}`,
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/affinity',
    'SelectType=select/cons_tres',
    'SelectTypeParameters=CR_Core',
    'AccountingStorageType=accounting_storage/none',
    'JobCompType=jobcomp/none',
    'MpiDefault=none',
    'SwitchType=switch/none',
    'ReturnToService=2',
    'KillWait=5',
    'SlurmdTimeout=4',
    'MessageTimeout=3',
    'TCPTimeout=1',
    'SchedulerParameters=sched_interval=2,batch_sched_delay=1',
    `StateSaveLocation=${folder}/state`,
    `SlurmdSpoolDir=${folder}/spool-%n`,
    `SlurmctldPidFile=${folder}/controller.pid`,
    `SlurmdPidFile=${folder}/%n.pid`,
    `SlurmctldLogFile=${folder}/controller.log`,
    `SlurmdLogFile=${folder}/%n.log`,
    `TaskProlog=${folder}/prolog.sh`,
    node('n1', first),
    node('n2', second),
    'PartitionName=bench Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO',
    '',
  ].join('\n')
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address ? address.port : 0
  })
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
