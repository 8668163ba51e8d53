/** How one sample is taken. */
import { POINTER } from '../../evaluate/json.ts'
import { PRESET_NAMES } from '../../evaluate/presets/registry.ts'
import { boolean, choice, either, keys, list, map, may, need, needUnless, or, text, whole } from '../kind.ts'
import { capture, commandText, durationText, glob, machinePath, path, size, step } from './text.ts'

const VARIABLE = '^[A-Za-z_][A-Za-z0-9_]*$'
const variable = text({
  noun: 'the name of a variable',
  pattern: VARIABLE,
  hint: 'letters, digits and _; no digit first',
})

const environment = keys({
  inherit: or(
    list(
      text({
        noun: 'the name of a variable',
        pattern: '^[A-Za-z_][A-Za-z0-9_]*\\*?$',
        hint: 'letters, digits and _; a * at the end stands for any rest',
      }),
    ),
    [],
    'Variables (`NAME`, or `NAME_*`) passed on in addition to PATH, HOME, USER, SHELL, LANG, LC_*, TZ and those of the usual toolchains.',
  ),
  set: or(
    map(text({ empty: true }), VARIABLE, 'letters, digits and _; no digit first'),
    {},
    'Variables with a fixed value.',
  ),
  file: may(text(), 'A file of `NAME=value` lines in your own checkout, read at each run and never stored.'),
  keys: may(list(variable), 'Which names of that file are passed on. Absent: all.'),
})

const from = choice(['stdout', 'stderr'])

const places = ['regex', 'json', 'preset'] as const

/** A place that is more than a word. */
const place = keys(
  {
    regex: may(
      capture,
      'A pattern that is tried on each line of `from`. Its one group holds the primary metric, with all digits of the number.',
    ),
    json: may(
      text({
        noun: 'a JSON pointer or path',
        pattern: POINTER,
        hint: 'begin with a slash, as in /results/0/mean, or write results[0].mean',
      }),
      'The place of the primary metric in JSON: `/results/0/mean` or `results[0].mean`; in `file`, or else in the result file and in the JSON on `from`.',
    ),
    metrics: may(
      text({
        noun: 'a JSON pointer or path',
        pattern: POINTER,
        hint: 'begin with a slash, as in /metrics, or write results.metrics',
      }),
      'With `json`: the place of an object of further metrics, numbers and booleans by their names.',
    ),
    preset: may(choice(PRESET_NAMES), 'The tool that wrote `file`.'),
    from: may(from, 'The stream that `regex` or `json` reads: `stdout`, unless you say `stderr`.'),
    file: may(
      path,
      'A file that the benchmark writes in each sample, for `json` or `preset`, relative to `measure.directory`.',
    ),
  },
  {
    check: (value, report) => {
      const said = places.filter((name) => value[name] !== null)
      if (said.length === 0)
        report([], 'the place of the metric is not given', 'add `regex`, `json` or `preset`')
      for (const name of said.slice(1))
        report([name], `\`${said[0]}\` and \`${name}\` both name the place of the metric`, 'keep one of them')
      if (value.regex !== null && value.file !== null)
        report(
          ['file'],
          '`regex` reads a stream, no file',
          'print the file to standard output: `…; cat FILE`',
        )
      if (value.metrics !== null && value.json === null)
        report(['metrics'], '`metrics` needs `json`', 'add `json`: the place of the primary metric')
      if (value.preset !== null && value.from !== null)
        report(['from'], 'a preset knows the streams of its tool', 'remove `from`')
    },
    also: {
      oneOf: [
        { required: ['regex'], not: { anyOf: [{ required: ['file'] }, { required: ['metrics'] }] } },
        { required: ['json'] },
        { required: ['preset'], not: { anyOf: [{ required: ['from'] }, { required: ['metrics'] }] } },
      ],
    },
  },
)

export const measure = keys({
  command: needUnless(
    'suite',
    commandText,
    null,
    'The benchmark. Text runs under `/bin/sh -c`; a list is program and arguments without a shell. `{worktree}` and `{result}` are filled in, quoted.',
  ),
  directory: or(path, '.', 'The folder in which the benchmark runs, relative to the folder of the spec.'),
  timeout: or(durationText, '10m', 'The longest that one sample may take.'),
  read: or(
    either(choice(['auto', 'result-file', 'lines', 'json', ...PRESET_NAMES]), place),
    'auto',
    'Where the metrics are read from: the file `$ASSAY_RESULT`, lines `METRIC name=value`, JSON objects on standard output, or all of these, which must not contradict each other (`auto`); or the tool whose output is read as it is.',
  ),
  slots: or(
    whole({ min: 1, max: 256 }),
    1,
    'Measurements at once on this machine. More than 1 disturbs timings.',
  ),
  output: or(size, '64MiB', 'The most that one sample may print.'),
  environment: or(environment, {}, 'The environment of every command that the spec names.'),
  before: may(
    step,
    'Runs before each sample, untimed, with the same variables: `docker compose up -d`. Assay ends processes that it leaves running.',
  ),
  after: may(step, 'Runs after each sample, untimed, even if the sample failed.'),
  requires: or(
    list(path),
    [],
    'Files that `setup` and `build` must have made before a sample starts, relative to the folder of the spec.',
  ),
  score: may(
    keys({
      command: need(
        commandText,
        'Runs with the variables of the benchmark. The file `$ASSAY_STDOUT` has the standard output of the benchmark, and `$ASSAY_OUTPUT` what it wrote to `$ASSAY_RESULT`.',
      ),
      timeout: or(durationText, '10m', 'The longest that it may take.'),
    }),
    'A scorer that runs after the benchmark. The metrics are read from it, as `read` says; wall and CPU time stay those of the benchmark.',
  ),
  isolation: or(
    choice(['auto', 'none', 'strict']),
    'auto',
    'Whether setup, build, gates and samples see their own checkout only (Linux, with bubblewrap). auto: as far as the baseline works in isolation; strict: `init` fails if the baseline does not; none: they share the machine.',
  ),
  network: or(
    boolean,
    false,
    'Whether build, gates and samples that are isolated may use the network. Setup always may.',
  ),
  allow: or(
    list(machinePath),
    [],
    'Paths of the machine that stay visible and writable in isolation; `.` is your own checkout.',
  ),
  write: or(
    list(glob),
    [],
    'Immutable files that a sample may write anyway; in isolation the others are read-only.',
  ),
  fresh: or(
    choice(['candidate', 'sample']),
    'candidate',
    'How long build caches (of Go, ccache and others) live in isolation: while the candidate is measured, or for one sample. Everything else that a sample writes outside of its checkout is deleted after it.',
  ),
})

export const gates = list(
  keys({
    name: need(text(), 'Named in verdicts and reports; must be unique.'),
    command: need(commandText, 'Must exit 0.'),
    phase: or(choice(['before', 'after']), 'before', 'Before the measurement, or after a good comparison.'),
    timeout: or(durationText, '10m', 'The longest that it may take.'),
  }),
  { unique: 'name' },
)

export const noise = keys({
  mode: or(
    choice(['auto', 'deterministic', 'paired', 'single']),
    'auto',
    'auto: the samples of the baseline decide; deterministic: equal candidates give equal values; paired: candidate and parent are measured in turns until the evidence is clear; single: one sample each is compared, so noise can decide (for a suite only).',
  ),
  calibrate: or(
    whole({ min: 2, max: 100 }),
    5,
    'How many samples of the baseline are taken to estimate the noise.',
  ),
  pairs: or(
    keys(
      {
        min: or(whole({ min: 2, max: 100 }), 2, 'Pairs before a comparison may end.'),
        max: or(
          whole({ min: 8, max: 100 }),
          25,
          'Pairs after which a comparison ends without an answer; with fewer than 8 nothing could be kept.',
        ),
      },
      {
        check: ({ min, max }, report) => {
          if (min > max) report(['min'], `${min} is more than max, ${max}`, 'write at most the value of max')
        },
      },
    ),
    {},
    'The least and the most pairs of one comparison.',
  ),
})
