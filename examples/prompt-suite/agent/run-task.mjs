/**
 * Works like an agent that starts from three texts, without a model: which mistakes it makes depends on what they say, and its
 * scores vary by a few percent with `ASSAY_SEED`.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { MISTAKES } from './mistakes.mjs'

const task = JSON.parse(process.env.ASSAY_TASK)
const texts = Object.fromEntries(
  ['pitfalls', 'preamble', 'rubric'].map((name) => [
    name,
    readFileSync(`prompts/${name}.md`, 'utf8').toLowerCase(),
  ]),
)

const says = ({ text, needs }) =>
  texts[text].split('\n').some((line) => needs.every((word) => line.includes(word)))

const made = MISTAKES.filter((mistake) => mistake.task === task.name && !says(mistake))
const score = (part) => 0.95 - 0.22 * made.filter((mistake) => mistake.part === part).length + noise(part)

/** From -0.03 to 0.03. */
function noise(part) {
  const digest = createHash('sha256').update(`${process.env.ASSAY_SEED} ${task.name} ${part}`).digest()
  return (digest.readUInt32BE(0) / 2 ** 32 - 0.5) * 0.06
}

const characters = Object.values(texts).join('').length
writeFileSync(
  process.env.ASSAY_RESULT,
  JSON.stringify({
    eval: score('eval'),
    critique: score('critique'),
    gate_rejections: made.length > 1 ? 1 : 0,
    max_rejections: 2,
    // Long texts use up what an agent can read.
    budget_remaining_pct: Math.max(0, 90 - characters / 50),
    status: made.length > 2 ? 'partial' : 'complete',
    defects: made.map(({ defect }) => defect),
  }),
)
