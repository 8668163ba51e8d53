/** Who proposes candidates when Assay itself drives the loop. */
import { programNames } from '../../hosts/registry.ts'
import { boolean, choice, type Kind, keys, list, map, may, need, number, or, text, whole } from '../kind.ts'
import { capture, commandText, durationText, path } from './text.ts'

const parameter = keys(
  {
    name: may(text(), 'The name that is shown. Absent: the place of the number.'),
    file: need(path, 'The file that holds the number.'),
    pointer: may(
      text({
        noun: 'a JSON pointer',
        pattern: '^(/([^~/]|~[01])*)+$',
        hint: 'begin each step with a slash: /limits/size',
      }),
      'The place of the number in a JSON file (RFC 6901).',
    ),
    pattern: may(capture, 'A regular expression whose one group holds the number.'),
    min: need(number(), 'The least value.'),
    max: need(number(), 'The greatest value.'),
    scale: or(
      choice(['linear', 'log', 'integer']),
      'linear',
      'How the host moves the number: in equal steps, in equal ratios, or in whole numbers.',
    ),
  },
  {
    check: (value, report) => {
      if (value.pointer !== null && value.pattern !== null) {
        report(['pattern'], '`pointer` and `pattern` both name the place of the number', 'keep one of them')
      } else if (value.pointer === null && value.pattern === null) {
        report([], 'the place of the number is not given', 'add `pointer` (JSON) or `pattern` (any text)')
      }
      if (value.min >= value.max) {
        report(
          ['max'],
          `\`max\` is ${value.max}, not above \`min\`, which is ${value.min}`,
          'write the smaller one as min',
        )
      }
      if (value.scale === 'log' && value.min <= 0) {
        report(
          ['min'],
          `a log scale needs \`min\` above 0, not ${value.min}`,
          'raise min, or use scale: linear',
        )
      }
      if (value.scale === 'integer' && Math.floor(value.max) < Math.ceil(value.min)) {
        report(
          ['max'],
          'there is no whole number from `min` to `max`',
          'widen the range, or use scale: linear',
        )
      }
    },
    also: { oneOf: [{ required: ['pointer'] }, { required: ['pattern'] }] },
  },
)

const model: Kind<string> = text()
const effort: Kind<string> = text()

export const agent = keys(
  {
    host: need(
      choice(['tune', 'command', ...programNames]),
      '`tune` moves declared numbers without a model; `command` is any program that reads a prompt on standard input and answers on standard output; the others are agent programs, which must be installed and logged in.',
    ),
    command: may(commandText, 'The program of `host: command`.'),
    timeout: or(durationText, '30m', 'The longest that one agent call may take.'),
    silence: or(durationText, '15m', 'Assay ends an agent program that prints nothing for this long.'),
    concurrency: or(whole({ min: 1, max: 64 }), 2, 'How many agents may work at the same time.'),
    model: may(model, 'The model that the program is asked to use; absent = its own default.'),
    effort: may(
      effort,
      'The reasoning effort of the model, as the agent program calls its levels; `gemini` and `qwen` have none.',
    ),
    roles: or(
      map(
        keys({
          model: may(model, 'The model of this role.'),
          effort: may(effort, 'The effort of this role.'),
          timeout: may(durationText, 'The longest that one call of this role may take.'),
        }),
        '^[a-z][a-z0-9-]*$',
        'small letters, digits and -',
      ),
      {},
      'Other settings for some roles, for example `verify`; those of `hard` are for agents that implement or revise a brief marked as hard.',
    ),
    tune: or(
      keys({ parameters: or(list(parameter), [], 'The numbers that `tune` moves.') }),
      {},
      'Settings of `host: tune`.',
    ),
    permissions: or(
      choice(['safe', 'unsafe']),
      'safe',
      'What agent programs may do: with `safe`, agents that edit may write below their worktree and all others may only read, as far as the program can enforce it (edits of `pi` and `qwen` may leave the worktree); with `unsafe`, they may do whatever you could.',
    ),
    sandbox: or(
      boolean,
      false,
      'Agents write only below their own worktree and cannot read held-out data or write to `.assay` and your checkout (Linux, with bubblewrap). The network, and the rest of the machine, stay as they are.',
    ),
    fallback: or(
      list(choice(programNames)),
      [],
      'Agent programs that are asked, in this order and each with its own default model, when `host` does not answer a call. After three such calls in a row, the next program replaces it.',
    ),
  },
  {
    check: (value, report) => {
      if (value.host === 'command' && value.command === null) {
        report(['host'], '`host: command` has no command', 'add `command: …` to `agent`')
      }
      if (value.host === 'tune' && value.tune.parameters.length === 0) {
        report(
          ['host'],
          '`host: tune` has no parameters',
          'add `tune: {parameters: [{file, pointer, min, max}]}` to `agent`',
        )
      }
    },
    also: {
      oneOf: [
        { properties: { host: { enum: ['command'] } }, required: ['command'] },
        {
          properties: {
            host: { enum: ['tune'] },
            tune: { required: ['parameters'], properties: { parameters: { minItems: 1 } } },
          },
          required: ['tune'],
        },
        { properties: { host: { enum: programNames } } },
      ],
    },
  },
)
