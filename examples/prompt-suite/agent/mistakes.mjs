/**
 * The mistakes that the agent makes, unless a text tells it not to. `text`: the text that must say it; `needs`: words that the
 * text must have, in one line.
 */
export const MISTAKES = [
  {
    task: 'summary',
    part: 'eval',
    text: 'pitfalls',
    needs: ['repeat'],
    defect: 'the draft says one thing three times',
  },
  {
    task: 'plan',
    part: 'eval',
    text: 'preamble',
    needs: ['whole', 'task'],
    defect: 'the plan leaves out the end of the task',
  },
  {
    task: 'summary',
    part: 'eval',
    text: 'pitfalls',
    needs: ['word', 'limit'],
    defect: 'the draft has 412 words, and the reader has time for 200',
  },
  {
    task: 'summary',
    part: 'eval',
    text: 'pitfalls',
    needs: ['source'],
    defect: 'two claims of the draft name no source',
  },
  {
    task: 'summary',
    part: 'critique',
    text: 'rubric',
    needs: ['claim', 'checked'],
    defect: 'the review passed a claim that is not in the report',
  },
  {
    task: 'extract',
    part: 'eval',
    text: 'pitfalls',
    needs: ['unit'],
    defect: 'three values of the draft have no unit',
  },
  {
    task: 'extract',
    part: 'eval',
    text: 'preamble',
    needs: ['missing', 'unknown'],
    defect: 'a value that is missing in the report was invented',
  },
  {
    task: 'extract',
    part: 'critique',
    text: 'rubric',
    needs: ['claim', 'checked'],
    defect: 'the review passed a claim that is not in the report',
  },
  {
    task: 'plan',
    part: 'eval',
    text: 'preamble',
    needs: ['order', 'depend'],
    defect: 'a step of the plan comes before the step that it depends on',
  },
  {
    task: 'plan',
    part: 'eval',
    text: 'preamble',
    needs: ['missing', 'unknown'],
    defect: 'a value that is missing in the report was invented',
  },
  {
    task: 'plan',
    part: 'critique',
    text: 'rubric',
    needs: ['step', 'owner'],
    defect: 'the review passed a step that nobody owns',
  },
]
