/** Where attempts are measured, as a run keeps it. */

export interface ExecutorConfig {
  kind: 'local' | 'slurm' | 'command'
  /** null = the cluster's default. */
  partition: string | null
  /** A whole node, or so many processors of one. */
  cores: number | 'node'
  limitMs: number
  constraint: string | null
  /** More arguments of `sbatch`. */
  options: string[]
  /** Jobs that may be queued or run at once. */
  jobs: number
  /** Whether the time in the queue counts against `budget.hours`. */
  countQueue: boolean
  /** Where the folders of jobs are made; null = in the run's own folder. */
  folder: string | null
  /** The commands of `kind: command`; null for the others. */
  commands: { submit: string[]; status: string[]; cancel: string[] } | null
}

/** What a job is: the script of one attempt. */
export interface NodeJob {
  /** Of one attempt; the same key never becomes two jobs. */
  key: string
  /** Absolute; holds `job.sh`. Every node sees it at this path. */
  folder: string
  cores: number | 'node'
  /** The fence: the limits of the spec act first. */
  seconds: number
}

/** Options of `sbatch` that Assay sets itself, or that would make one attempt two measurements, with what to write instead. */
const REFUSED: readonly { names: readonly string[]; why: string }[] = [
  { names: ['--requeue'], why: 'a job that starts again is a measurement that is paid for twice' },
  { names: ['--array', '-a'], why: 'one job measures one attempt: use executor.jobs' },
  { names: ['--wrap'], why: 'Assay writes the script of a job' },
  {
    names: ['--output', '-o', '--error', '-e', '--input', '-i', '--open-mode'],
    why: 'Assay keeps what a job prints',
  },
  { names: ['--export', '--export-file', '--get-user-env'], why: 'use measure.environment' },
  { names: ['--job-name', '-J', '--comment'], why: 'Assay finds its jobs by them' },
  { names: ['--signal'], why: 'the limits of the spec act before that of the job' },
  { names: ['--time', '-t', '--time-min'], why: 'use executor.limit' },
  { names: ['--partition', '-p'], why: 'use executor.partition' },
  {
    names: ['--exclusive', '--cpus-per-task', '-c', '--ntasks', '-n', '--nodes', '-N'],
    why: 'use executor.exclusive or executor.cores',
  },
  {
    names: ['--chdir', '-D', '--parsable', '--wait', '-W', '--no-requeue', '--clusters', '-M', '--test-only'],
    why: 'Assay sets it, or could not follow the job',
  },
]

/** Why an option may not be passed on, as a clause; null when it may. */
export function refusedOption(option: string): string | null {
  if (!option.startsWith('-') || option === '-' || option === '--')
    return 'it is no option: write an option and its value as one text, such as --account=perf'
  const name = option.startsWith('--') ? (option.split('=')[0] ?? '') : option.slice(0, 2)
  // As sbatch reads it: a long name may be shortened.
  const isMeant = (one: string) =>
    one === name || (name.length > 3 && name.startsWith('--') && one.startsWith(name))
  return REFUSED.find(({ names }) => names.some(isMeant))?.why ?? null
}
