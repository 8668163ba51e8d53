/**
 * Trains one model for each seed of $TRAIN_SEEDS, and leaves the checkpoints in $ASSAY_ARTIFACTS/model. It starts from the
 * checkpoint of the same seed in $ASSAY_SEED_ARTIFACT (`assay new --from-artifact`), else in the model of the parent, else
 * from nothing.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { linesOf, predict } from './model.mjs'

const { ASSAY_ARTIFACTS, ASSAY_SEED_ARTIFACT, ASSAY_PARENT_ARTIFACTS, TRAIN_SEEDS } = process.env
if (!ASSAY_ARTIFACTS || !TRAIN_SEEDS) throw new Error('ASSAY_ARTIFACTS and TRAIN_SEEDS are needed')

const start = ASSAY_SEED_ARTIFACT ?? (ASSAY_PARENT_ARTIFACTS && join(ASSAY_PARENT_ARTIFACTS, 'model'))
// Without its parent's model a child would be trained from nothing, and nobody would notice.
if (start && !existsSync(start)) throw new Error(`there is no model to start from: ${start}`)

const recipe = JSON.parse(readFileSync('recipe.json', 'utf8'))
const data = linesOf(readFileSync('data/train.jsonl', 'utf8'))
const model = join(ASSAY_ARTIFACTS, 'model')
rmSync(model, { recursive: true, force: true })
mkdirSync(model, { recursive: true })
for (const seed of TRAIN_SEEDS.split(' ')) {
  const file = `${seed}.json`
  const before = start ? JSON.parse(readFileSync(join(start, file), 'utf8')) : { weights: {}, tokens: 0 }
  writeFileSync(join(model, file), JSON.stringify(trained(before, random(Number(seed) + before.tokens))))
}

function trained({ weights: old, tokens: spent }, next) {
  const weights = { ...old }
  let tokens = spent
  for (let pass = 0; pass < recipe.passes; pass++) {
    for (const { text, label, source } of shuffled(data, next)) {
      if (next() >= recipe.share[source]) continue
      const words = text.split(' ')
      const step = recipe.rate * ((label === 'sea' ? 1 : 0) - predict(weights, text))
      for (const word of words) weights[word] = (weights[word] ?? 0) * (1 - recipe.decay) + step
      tokens += words.length
    }
  }
  return { weights, tokens }
}

function shuffled(list, next) {
  const left = [...list]
  return list.map(() => left.splice(Math.floor(next() * left.length), 1)[0])
}

/** Numbers from 0 to 1 that follow from the seed alone. */
function random(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
