/** Evaluates the checkpoints and trains nothing. Fixed data, no chance: the same checkpoints give the same numbers. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { linesOf, predict } from '../train/model.mjs'

const { ASSAY_ARTIFACTS, ASSAY_RESULT, ASSAY_HOLDOUT } = process.env
const data = linesOf(readFileSync(ASSAY_HOLDOUT ?? 'data/dev.jsonl', 'utf8'))
const folder = join(ASSAY_ARTIFACTS, 'model')
const models = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
const losses = models.map(({ weights }) => mean(data.map(({ text, label }) => lossOf(weights, text, label))))

const loss = mean(losses)
const spread = Math.sqrt(losses.reduce((sum, one) => sum + (one - loss) ** 2, 0) / (losses.length - 1))
const tokens = Math.max(...models.map((model) => model.tokens))
const metrics = { loss, seed_spread: spread, tokens }
writeFileSync(ASSAY_RESULT, JSON.stringify({ metrics, artifacts: { model: 'model' } }))

function lossOf(weights, text, label) {
  const sea = predict(weights, text)
  return -Math.log(label === 'sea' ? sea : 1 - sea)
}

function mean(values) {
  return values.reduce((sum, one) => sum + one, 0) / values.length
}
