/** Contamination: no text of the evaluation may be in the training data, nor in a file that a candidate may change. */
import { readFileSync } from 'node:fs'
import { linesOf } from '../train/model.mjs'

const read = (file) => readFileSync(file, 'utf8')
const learnt = new Set(linesOf(read('data/train.jsonl')).map(({ text }) => text))
const recipe = read('recipe.json')
const leaked = linesOf(read('data/dev.jsonl')).filter(({ text }) => learnt.has(text) || recipe.includes(text))
for (const { text } of leaked) console.error(`in the evaluation and in what is learnt: ${text}`)
process.exitCode = leaked.length === 0 ? 0 : 1
