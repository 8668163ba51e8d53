/** The suite of an outer loop over agents: tasks, their budgets and weights, and the versions of texts to begin with. */

import { call, next } from '../../next.ts'
import type { Problem } from '../../result.ts'
import { fail, ok, type Result } from '../../result.ts'
import { artifactName, taskBudget, taskExtra, taskWeights } from '../keys/suite.ts'
import { keys, list, map, may, need, or, type TypeOf, text, whole } from '../kind.ts'
import type { ImportFolder, Mapped, Mapping } from './mapping.ts'
import { slugOf } from './task.ts'

export const SUITE = keys({
  name: need(text(), 'The name of the suite.'),
  description: may(text(), 'What it measures.'),
  baseline_artifacts: or(
    map(
      whole({ min: 0 }),
      artifactName.is === 'text' ? (artifactName.pattern ?? '') : '',
      'the name of a text',
    ),
    {},
    'The version of each text to begin with; 0 is the text that is there.',
  ),
  tasks: need(
    list(
      keys({
        name: need(text(), 'The name of the task.'),
        task: need(text(), 'What the program has to do.'),
        workflow: may(text(), 'Passed on to the program.'),
        model: may(text(), 'Passed on to the program.'),
        worker_model: may(text(), 'Passed on to the program.'),
        budget: or(taskBudget, {}, 'What one run may use.'),
        weights: or(taskWeights, {}, 'Weights of the parts of its loss.'),
        extra: or(taskExtra, {}, 'Passed on to the program.'),
      }),
      { least: 1, unique: 'name' },
    ),
    'Each is run once in each pass.',
  ),
})

/** A file with these keys, and without a goal, is such a suite. */
export const SUITE_MARKS = ['name', 'tasks'] as const

/** Texts that a suite may leave unnamed. */
const USUAL = [
  'worker_pitfalls',
  'manager_planning_preamble',
  'experiment_context_hint_template',
  'pattern_library',
  'tool_description_templates',
  'critique_rubric',
]
/** Where the file of a text is looked for, from the root of the repository. */
const places = (name: string) =>
  ['prompts', '.'].flatMap((folder) =>
    ['.md', '.txt'].map((end) => (folder === '.' ? `${name}${end}` : `${folder}/${name}${end}`)),
  )

/** Problems: no runner was named, or the file of a text is not found. */
export function fromSuite(
  suite: TypeOf<typeof SUITE>,
  beside: ImportFolder,
  runner: string | null,
): Result<Mapped> {
  const { name, description, baseline_artifacts: baseline, tasks } = suite
  if (runner === null)
    return fail(
      usage(
        'no_runner',
        'a suite does not say what runs its tasks',
        next`name the program, which gets each task in $ASSAY_TASK: ${call('init', '--from', beside.file, '--run', 'node bench/run-task.mjs')}`,
      ),
    )
  const named = Object.keys(baseline)
  const found = (named.length > 0 ? named : USUAL).map((one) => ({
    name: one,
    file: places(one).find(beside.has),
  }))
  const missing = found.find(({ file }) => file === undefined)
  if (named.length > 0 && missing)
    return fail(
      usage(
        'text_missing',
        `there is no file for the text ${missing.name}`,
        `write its text into ${places(missing.name)[0]}`,
      ),
    )
  const artifacts = found.flatMap(({ name: one, file }) => (file === undefined ? [] : [{ name: one, file }]))
  if (artifacts.length === 0)
    return fail(
      usage(
        'text_missing',
        'there is no text to learn',
        `write the texts into prompts/NAME.md, with one of these names: ${USUAL.join(', ')}`,
      ),
    )
  const lines: Mapping[] = []
  const became = (from: string, to: string, why: string | null = null) => lines.push({ from, to, why })
  became('name', 'suite.name')
  if (description !== null) became('description', 'goal')
  for (const one of artifacts) {
    const version = baseline[one.name]
    became(
      version === undefined ? one.file : `baseline_artifacts.${one.name}`,
      'suite.artifacts',
      version
        ? `version ${version} is written to ${one.file}, and is version 0 of this run`
        : `${one.file} is version 0`,
    )
  }
  became('tasks', 'suite.tasks')
  if (tasks.some(({ weights }) => Object.values(weights).some((weight) => weight !== null)))
    became('tasks[].weights', 'suite.tasks[].loss', 'they are normalised')
  became('--run', 'suite.run')
  const written = <T extends object>(of: T) =>
    Object.fromEntries(Object.entries(of).map(([key, value]) => [key, value ?? undefined]))
  return ok({
    lines,
    pins: artifacts.flatMap(({ name: artifact, file }) => {
      const version = baseline[artifact] ?? 0
      return version === 0 ? [] : [{ artifact, file, version }]
    }),
    suite: name,
    spec: {
      version: 1,
      name: slugOf(name),
      goal: description ?? `Lower the loss of the suite ${name}.`,
      scope: { mutable: artifacts.map(({ file }) => file), immutable: [beside.file] },
      suite: {
        name,
        artifacts,
        run: runner,
        tasks: tasks.map(({ weights, budget, ...task }) => ({
          ...written(task),
          budget: written(budget),
          loss: written(weights),
        })),
      },
    },
  })
}

const usage = (code: string, message: string, hint: NonNullable<Problem['hint']>): Problem => ({
  kind: 'usage',
  code,
  message,
  hint,
})
