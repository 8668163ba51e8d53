// Scores a guide by rules, without a model. Prints {"score", "metrics"}; `assay guide spec` says how they are read.
import { readFileSync } from 'node:fs'
import { readGuide, runsOf, sentencesOf, wordsOf } from './text.mjs'

const [, , guideFile, rubricFile] = process.argv
const text = readFileSync(guideFile, 'utf8')
const guide = readGuide(text)
const rubric = readFileSync(rubricFile, 'utf8')

/** What one sentence has to say for a point of the rubric: all of its patterns, beside a verb that tells what to do. */
const POINTS = [
  [/subject|first line|title/, /\b\d+\b/, /character|letter|column/],
  [/subject|first line|title/, /imperative|command form|present tense/],
  [/body|paragraph|below/, /\bwhy\b|reason|motivation|cause/],
  [/body|paragraph|lines?\b/, /\bwrap|break/, /\b\d+\b/],
  [/\bone\b|single|separate|split/, /commit/, /change|purpose|topic|concern/],
  [/example|for instance|looks like|such as this/],
  [/issue|ticket|bug/, /number|name|refer|close|link/],
  [/diff|staged changes/, /\bread|look|inspect|run/],
]
const TELLS =
  /^(?:\W*(?:then|first|next|when [^,]+,|if [^,]+,|before [^,]+,|after [^,]+,)\s+)?(?:do not|never|always)?\s*(?:add|ask|begin|break|check|close|commit|explain|give|inspect|keep|leave|limit|look|make|mention|name|put|read|refer|run|say|separate|show|split|start|state|tell|use|wrap|write)\b/i
const VAGUE =
  /\b(?:various|appropriate(?:ly)?|and so on|etc|some way|good|proper(?:ly)?|things?|stuff|as needed|readable|nice|relevant|irrelevant)\b/gi
const SECTIONS = ['When to use', 'Steps', 'Rules', 'Done when']

const covered = POINTS.map((patterns) =>
  guide.sentences.some(
    (sentence) =>
      TELLS.test(sentence) &&
      !isList(sentence) &&
      patterns.every((pattern) => pattern.test(sentence.toLowerCase())),
  ),
)
// An example is shown, not only announced.
covered[5] = guide.blocks.some((block) => wordsOf(block).length >= 6)

const rules = [
  guide.sentences.length > 0 && guide.sentences.every((sentence) => !/\b(?:I|we|our)\b/.test(sentence)),
  /^1\. /m.test(text),
  text.split('\n').every((line) => line.length <= 160),
  /## Done when\n+\s*\S+/.test(text),
]

const clear = guide.sentences.filter(
  (sentence) => wordsOf(sentence).length <= 20 && sentence.match(VAGUE) === null,
)

const violations = [...stuffed(), ...repeated(), ...copied(), ...padded()]
const share = (hits, all) => (all === 0 ? 0 : hits / all)
const coverage = share(covered.filter(Boolean).length, POINTS.length)
const clarity = share(clear.length, guide.sentences.length)
const constraint_obedience = share(rules.filter(Boolean).length, rules.length)
const rounded = (value) => Number(value.toFixed(4))

for (const violation of violations) console.error(violation)
console.log(
  JSON.stringify({
    score: rounded((2 * coverage + clarity + constraint_obedience) / 4),
    metrics: {
      clarity: rounded(clarity),
      coverage: rounded(coverage),
      constraint_obedience: rounded(constraint_obedience),
      violation_count: violations.length,
      // About four characters a token.
      length_tokens: Math.ceil(text.length / 4),
      required_sections_present: SECTIONS.every((title) => guide.sections.includes(title)),
    },
  }),
)

/** Words one after the other, with hardly anything between the commas. */
function isList(sentence) {
  const parts = sentence.split(/[,;/|]/)
  return parts.length >= 5 && parts.filter((part) => wordsOf(part).length <= 2).length / parts.length > 0.7
}

function stuffed() {
  const found = guide.sentences
    .filter(isList)
    .map((sentence) => `a list of keywords: ${sentence.slice(0, 60)}`)
  const counts = new Map()
  for (const word of guide.words.filter((one) => one.length > 4))
    counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const [word, count] of counts)
    if (count > 8 && count / guide.words.length > 0.06) found.push(`the word "${word}" ${count} times`)
  return found
}

function repeated() {
  const seen = new Set()
  return guide.sentences.flatMap((sentence) => {
    const key = wordsOf(sentence).join(' ')
    if (seen.has(key)) return [`a repeated sentence: ${sentence.slice(0, 60)}`]
    seen.add(key)
    return []
  })
}

/** Six words in a row that stand in the rubric are no words of the author. */
function copied() {
  const known = new Set(sentencesOf(rubric).flatMap((sentence) => runsOf(wordsOf(sentence), 6)))
  return guide.sentences
    .filter((sentence) => runsOf(wordsOf(sentence), 6).some((run) => known.has(run)))
    .map((sentence) => `copied from the rubric: ${sentence.slice(0, 60)}`)
}

/** Sentences that are nearly equal: three quarters of their words are the same. */
function padded() {
  const sets = guide.sentences.map((sentence) => new Set(wordsOf(sentence)))
  const found = []
  for (let later = 1; later < sets.length; later++)
    for (let earlier = 0; earlier < later; earlier++) {
      const [one, two] = [sets[earlier], sets[later]]
      const both = [...two].filter((word) => one.has(word)).length
      const share = both / Math.max(one.size, two.size)
      if (two.size >= 5 && share >= 0.75 && share < 1)
        found.push(`a sentence that was said already: ${guide.sentences[later].slice(0, 60)}`)
    }
  return found
}
