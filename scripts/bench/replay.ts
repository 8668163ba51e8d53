/**
 * A program of its own, bundled by `workflow.mjs`: `write JOURNAL CALLS` makes the journal of a run of that many calls,
 * `resume JOURNAL CALLS CHILD` resumes it and fails when anybody is asked.
 */
import { appendFileSync } from 'node:fs'
import { askForObject, readSchema } from '../../cli/agents/schema.ts'
import { canonical } from '../../cli/json.ts'
import { runWorkflow } from '../../cli/workflow/run.ts'
import { createThreads } from '../../cli/workflow/thread.ts'

const [mode = '', journal = '', count = '', child = ''] = process.argv.slice(2)
const calls = Number(count)

const SCHEMA = {
  type: 'object',
  properties: { status: { type: 'string' }, notes: { type: 'array', items: { type: 'string' } } },
  required: ['status', 'notes'],
}
const ANSWER = { status: 'ok', notes: ['a'.repeat(80), 'b'.repeat(80)] }
const REST = 'x'.repeat(200)
const SOURCE = `export const meta = { name: 'bench', description: 'asks in a row' }
const schema = ${JSON.stringify(SCHEMA)}
let notes = 0
for (let i = 0; i < ${calls}; i += 1) {
  const answer = await agent('call ' + i + ' ${REST}', { label: 'call ' + i, schema })
  notes += answer.notes.length
}
return notes`

if (mode === 'write') {
  const threads = createThreads()
  const none = { model: null, effort: null, isolation: null, agentType: null }
  const options = canonical({ schema: SCHEMA, ...none })
  const lines = Array.from({ length: calls }, (_, i) => {
    const key = threads.key(`call ${i} ${REST}`, options)
    return `${JSON.stringify({ type: 'result', key, label: `call ${i}`, result: ANSWER })}\n`
  })
  appendFileSync(journal, lines.join(''))
} else {
  runWorkflow({
    source: SOURCE,
    file: 'bench.js',
    journal,
    resume: true,
    concurrency: 1,
    maxAgents: Number.POSITIVE_INFINITY,
    tell: () => {},
    signal: new AbortController().signal,
    childEntry: child,
    answers: { readSchema, askForObject },
    call: async () => ({ outcome: 'error', message: 'an answer was asked for again' }),
  }).then(({ result, error }) => {
    if (result === 2 * calls) return
    process.stderr.write(`${error ?? `the result is ${result}`}\n`)
    process.exitCode = 1
  })
}
