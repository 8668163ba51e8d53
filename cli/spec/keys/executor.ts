/** Where attempts are measured, when that is not this process on this machine. */
import { refusedOption } from '../../executor/config.ts'
import { boolean, choice, keys, list, may, need, or, text, whole } from '../kind.ts'
import { durationText, machinePath } from './text.ts'

const argv = list(text(), { least: 1 })
const COMMANDS = ['submit', 'status', 'cancel'] as const
const OF_SLURM = ['partition', 'constraint'] as const

export const executor = keys(
  {
    kind: need(
      choice(['local', 'slurm', 'command']),
      'slurm: jobs of a Slurm cluster. command: any other engine, by `submit`, `status` and `cancel`. local: jobs on this machine, to try out how a job works.',
    ),
    partition: may(text(), 'The partition of Slurm; absent = the default one.'),
    exclusive: may(choice(['node']), 'A job has a node for itself. This is so unless there is `cores`.'),
    cores: may(
      whole({ min: 1, max: 4096 }),
      'Processors of a job, in the place of a whole node: others may then disturb its timings.',
    ),
    limit: or(
      durationText,
      '1h',
      'When the engine ends a job; longer than setup, build and all pairs of an attempt. The limits of the spec act first.',
    ),
    constraint: may(
      text(),
      'A feature that nodes must have. Needed if nodes differ: an attempt on another class of machine is told as such.',
    ),
    options: or(
      list(text()),
      [],
      'More options of `sbatch`, each with its value: `--account=perf`. Those that Assay sets itself are refused.',
    ),
    jobs: or(
      whole({ min: 1, max: 256 }),
      1,
      'Jobs that are queued or run at once. A round of the loop has at least as many lanes.',
    ),
    count_queue: or(boolean, false, 'Whether the time in the queue counts against `budget.hours`.'),
    folder: may(
      machinePath,
      'Where the folders of jobs are made: each node must see it at this path. Absent = in the folder of the run.',
    ),
    submit: may(
      argv,
      'With `kind: command`: program and arguments that start `{script}` and print the id of the job last. Also `{folder}`, `{key}`, `{cores}`, `{seconds}`.',
    ),
    status: may(
      argv,
      'With `kind: command`: what prints a word on the state of `{job}` (queued, running, done, failed, and those of the usual engines); exit 0 and no word = there is no such job.',
    ),
    cancel: may(argv, 'With `kind: command`: what ends `{job}`.'),
  },
  {
    check: (value, report) => {
      if (value.exclusive !== null && value.cores !== null)
        report(['cores'], '`exclusive` and `cores` both say what a job gets', 'keep one')
      for (const name of COMMANDS) {
        if (value.kind === 'command' && value[name] === null)
          report([], `\`kind: command\` needs \`${name}\``, 'assay guide executors has recipes')
        if (value.kind !== 'command' && value[name] !== null)
          report([name], `\`${name}\` is for \`kind: command\``, 'remove it')
      }
      if (value.submit !== null && !value.submit.some((one) => one.includes('{script}')))
        report(['submit'], '`submit` does not name the script', 'write {script} where the engine takes it')
      for (const name of ['status', 'cancel'] as const) {
        const words = value[name]
        if (words !== null && !words.some((one) => one.includes('{job}')))
          report([name], `\`${name}\` does not name the job`, 'write {job} where the engine takes its id')
      }
      for (const name of OF_SLURM)
        if (value.kind !== 'slurm' && value[name] !== null)
          report([name], `\`${name}\` is for \`kind: slurm\``, 'remove it, or write it into `submit`')
      if (value.kind !== 'slurm' && value.options.length > 0)
        report(['options'], '`options` is for `kind: slurm`', 'remove it, or write it into `submit`')
      for (const [index, option] of value.options.entries()) {
        const why = refusedOption(option)
        if (why !== null) report(['options', index], `\`${option}\` is refused: ${why}`, 'remove it')
      }
    },
  },
)
