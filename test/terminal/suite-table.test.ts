import { expect, test } from 'vitest'
import { asText } from '../../cli/terminal/lines.ts'
import { suiteLines } from '../../cli/terminal/suite-table.ts'
import type { SuiteView } from '../../cli/view/page-model.ts'

const epoch = (
  number: number,
  outcome: SuiteView['epochs'][number]['outcome'],
  tasks: Record<string, number>,
): SuiteView['epochs'][number] => ({
  epoch: number,
  experiment: `exp_000${number - 1}`,
  loss: Object.values(tasks).reduce((sum, one) => sum + one, 0) / Object.keys(tasks).length,
  average: 0.4,
  outcome,
  artifact: null,
  from: null,
  to: null,
  tasks,
  versions: {},
})

const view = (epochs: SuiteView['epochs']): SuiteView => ({
  suite: 'letters',
  learning_rate: 0.5,
  artifacts: [],
  epochs,
  expectations: [],
  variance: [],
})

const linesOf = (epochs: SuiteView['epochs'], width = 80) =>
  suiteLines(view(epochs), width).map((line) => asText(line).trimEnd())

test('the change of a loss counts a pass whose text was not kept, or misses the first because it does not fit', () => {
  const epochs = [
    epoch(1, 'baseline', { a: 0.4, b: 0.5 }),
    epoch(2, 'kept', { a: 0.3, b: 0.55 }),
    epoch(3, 'not_kept', { a: 0.1, b: 0.1 }),
  ]
  for (const width of [80, 40]) {
    const lines = linesOf(epochs, width)
    expect(lines.find((line) => line.startsWith('loss'))).toMatch(/ −0\.025$/)
    expect(lines.find((line) => line.startsWith('task a'))).toMatch(/ −0\.100$/)
    expect(lines.find((line) => line.startsWith('task b'))).toMatch(/ \+0\.050$/)
    expect(lines).toContain('change: from pass 1 to pass 2, the last that was kept')
  }
  expect(linesOf(epochs.slice(0, 1)).join('\n')).not.toContain('change:')
})
