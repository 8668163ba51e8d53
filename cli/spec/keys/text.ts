/** The kinds of text that several sections of a spec share. */
import type { MinImprovement } from '../../evaluate/compare.ts'
import { either, type Kind, keys, list, need, number, or, text } from '../kind.ts'
import { DURATION, durationMs, fraction, PERCENT, SIZE, sizeBytes } from '../units.ts'

export const durationText: Kind<number> = text({
  noun: 'a duration',
  pattern: DURATION,
  hint: 'write a number with its unit: 500ms, 90s, 10m or 2h (at most 99h)',
  parse: durationMs,
})

export const size: Kind<number> = text({
  noun: 'a size',
  pattern: SIZE,
  hint: 'write a whole number with its unit: 512KiB, 64MiB or 1GiB (at most 9GiB)',
  parse: sizeBytes,
})

/** `{relative: 0.01}` from "1%", `{absolute: 0.5}` from 0.5. */
export const threshold: Kind<MinImprovement> = either(
  number({ min: 0, parse: (absolute): MinImprovement => ({ absolute }) }),
  text({
    noun: 'a threshold',
    pattern: PERCENT,
    hint: 'write a percentage of the value (1%), or a number in the unit of the metric (0.5)',
    parse: (written): MinImprovement => ({ relative: fraction(written) }),
  }),
)

/** Text goes to `/bin/sh -c`; a list is program and arguments, without a shell. */
export const commandText: Kind<string | string[]> = either(text(), list(text({ empty: true }), { least: 1 }))

interface Limited {
  command: string | string[]
  timeout: number
}
const limited: Kind<Limited> = keys({
  command: need(
    commandText,
    'Text runs under `/bin/sh -c`; a list is program and arguments without a shell.',
  ),
  timeout: or(durationText, '10m', 'The longest that it may take.'),
})

/** A command by itself, or with a limit of its own. */
export const step: Kind<string | string[] | Limited> = either(
  text(),
  list(text({ empty: true }), { least: 1 }),
  limited,
)

/** Inside the spec's folder: no leading slash, no `..`. */
const INSIDE = '(?!/)(?!(.*/)?\\.\\.(/|$))'

export const glob = text({
  noun: 'a glob',
  pattern: `^(?!!)${INSIDE}`,
  hint: 'write it relative to the folder of the spec, for example src/**',
})

export const path = text({
  noun: 'a path',
  pattern: `^${INSIDE}`,
  hint: 'write it relative to the folder of the spec, without ..',
})

/** Anywhere on the machine: absolute, from the home folder, or relative to the user's checkout. */
export const machinePath = text({
  noun: 'a path',
  pattern: '^[^\\0]+$',
  hint: 'write it absolute, from your home folder (~/.cache/models), or relative to the checkout',
})

/** What a benchmark may call a metric, and a `METRIC name=value` line can carry. */
export const metricName = text({
  noun: 'a metric name',
  pattern: '^[A-Za-z_][A-Za-z0-9_.:/-]*$',
  hint: 'begin with a letter; then letters, digits and _ . : / -',
  check: (name, report) => {
    // Answers of benchmarks are objects: a name that each object has would be found in all of them.
    if (name in Object.prototype)
      report(
        [],
        `a metric cannot be called ${name}, as a property of every JavaScript object is`,
        'choose another name',
      )
  },
})

/** A regular expression (JavaScript) whose one group holds the number. */
export const capture = text({
  noun: 'a regular expression',
  check: (pattern, report) => {
    const groups = groupsOf(pattern)
    if (typeof groups === 'string') {
      report([], `the regular expression does not compile: ${groups}`, 'see JavaScript regular expressions')
    } else if (groups !== 1) {
      report(
        [],
        `the regular expression has ${groups === 0 ? 'no group' : `${groups} groups`}, and needs exactly one`,
        'put ( ) around the number, and (?: ) around anything else',
      )
    }
  },
})

/** How many capture groups a pattern has, or why it does not compile. */
function groupsOf(pattern: string): number | string {
  try {
    new RegExp(pattern)
    // An empty alternative always matches, so the answer has one entry for each group.
    return (new RegExp(`${pattern}|`).exec('')?.length ?? 1) - 1
  } catch (error) {
    return (error as Error).message.replace(/^Invalid regular expression: .*: /s, '')
  }
}
