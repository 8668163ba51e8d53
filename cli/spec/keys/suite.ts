/** Tasks that are run again and again, and the texts that they start from. */
import { PARTS, WEIGHTS } from '../../suite/loss.ts'
import { boolean, either, keys, list, map, may, need, number, or, text, whole } from '../kind.ts'
import { commandText, path } from './text.ts'

export const artifactName = text({
  noun: 'the name of an artifact',
  pattern: '^[A-Za-z][A-Za-z0-9_-]*$',
  hint: 'begin with a letter; then letters, digits, _ and -',
})

const share = number({ min: 0 })
const DOCS = {
  eval: 'Of 1 minus the score of the evaluation.',
  critique: 'Of 1 minus the score of the critique.',
  gate_rejections: 'Of the rejections by a gate, as a share of `max_rejections`.',
  budget: 'Of the share of the budget that was used.',
  status: 'Of the status: complete 0, partial 0.5, failed and aborted 1.',
} as const

const weights = keys({
  eval: or(share, WEIGHTS.eval, DOCS.eval),
  critique: or(share, WEIGHTS.critique, DOCS.critique),
  gate_rejections: or(share, WEIGHTS.gate_rejections, DOCS.gate_rejections),
  budget: or(share, WEIGHTS.budget, DOCS.budget),
  status: or(share, WEIGHTS.status, DOCS.status),
})

/** Of one task, in the place of those of the suite. */
export const taskWeights = keys({
  eval: may(share, DOCS.eval),
  critique: may(share, DOCS.critique),
  gate_rejections: may(share, DOCS.gate_rejections),
  budget: may(share, DOCS.budget),
  status: may(share, DOCS.status),
})

const limit = whole({ min: 1 })

export const taskBudget = keys({
  max_loops: may(limit, 'Turns of the program.'),
  max_total_workers: may(limit, 'Workers that it starts.'),
  max_total_tokens: may(limit, 'Tokens that it uses.'),
  max_tool_calls: may(limit, 'Calls of tools.'),
  max_depth: may(limit, 'Workers below workers.'),
  max_wall_time: may(
    whole({ min: 1, max: 356_400 }),
    'Seconds. Assay ends the task after them; the program itself keeps the other limits.',
  ),
})

export const taskExtra = map(
  either(text({ empty: true }), number(), boolean),
  '^\\S+$',
  'a name without spaces',
)

/** More would not fit into the record of a sample. */
const MOST_TASKS = 50

export const suite = keys(
  {
    name: need(text(), 'What the suite is called.'),
    artifacts: need(
      list(
        keys({
          name: need(artifactName, 'What the text is called; must be unique.'),
          file: need(path, 'The file with the text, which must match `scope.mutable`.'),
          max_chars: or(whole({ min: 1, max: 100_000 }), 20_000, 'Most characters that it may have.'),
        }),
        { least: 1, unique: 'name' },
      ),
      'The texts that are learnt. An experiment changes exactly one of them, and nothing else.',
    ),
    run: need(
      commandText,
      'Runs once for each task. `$ASSAY_TASK` holds the task as JSON; what became of it is written to `$ASSAY_RESULT`, as JSON or as a folder with `run_completion.json` and `metrics.jsonl`.',
    ),
    concurrency: or(whole({ min: 1, max: 64 }), 1, 'Tasks that run at once.'),
    loss: or(weights, {}, 'How much each part of the loss of a task counts. Only their proportions matter.'),
    tasks: need(
      list(
        keys({
          name: need(text(), 'Named in reports; must be unique.'),
          task: need(text(), 'What the program has to do.'),
          workflow: may(text(), 'Passed on to the program.'),
          model: may(text(), 'Passed on to the program.'),
          worker_model: may(text(), 'Passed on to the program.'),
          budget: or(taskBudget, {}, 'What one run of the task may use. An absent limit is not set.'),
          loss: or(taskWeights, {}, 'Weights of this task, in the place of those of `suite.loss`.'),
          extra: or(taskExtra, {}, 'Further values that are passed on to the program.'),
        }),
        { least: 1, unique: 'name' },
      ),
      'Each is run once for each sample; the metric is the mean of their losses.',
    ),
  },
  {
    check: ({ artifacts, loss, tasks }, report) => {
      const files = artifacts.map(({ file }) => file)
      for (const [index, file] of files.entries())
        if (files.indexOf(file) < index)
          report(
            ['artifacts', index, 'file'],
            `${file} is the file of two artifacts`,
            'give each its own file',
          )
      if (tasks.length > MOST_TASKS)
        report(
          ['tasks'],
          `a suite has at most ${MOST_TASKS} tasks, and this one has ${tasks.length}`,
          'split it',
        )
      for (const [index, task] of tasks.entries())
        if (PARTS.every((part) => (task.loss[part] ?? loss[part]) === 0))
          report(
            ['tasks', index],
            'all weights of this task are 0',
            'give at least one part a weight above 0',
          )
    },
  },
)

export const gradient = keys({
  learning_rate: or(
    number({ above: 0, max: 1 }),
    0.5,
    'How much of a text may change at once: 1 is all of it. The loop halves it when a text is not kept.',
  ),
  candidates: or(list(artifactName), [], 'Names of the artifacts that are asked for. Empty: all of them.'),
})
