/**
 * Which of the proposed texts a round with `gradient` tries. Each agent proposes a new text for one text of the suite, and says how
 * much it expects the loss to fall and how sure it is. The proposal with the largest product of both is tried. Pure.
 */
import { type Expectation, expectationScale } from '../../ledger/texts.ts'

/** What an agent answered to the question for one text. */
export interface ProposedText {
  /** The name of the text that it was asked for. */
  asked: string
  /** What it names; null = it proposes nothing. */
  artifact: unknown
  /** null = it gave none. */
  content: string | null
  rationale: string
  expected: unknown
  confidence: unknown
}

/** The text as it is now. */
export interface CurrentText {
  content: string
  maxChars: number
}

export interface Choice {
  artifact: string
  content: string
  rationale: string
  expected: number
  confidence: number
  product: number
}

/**
 * `choices`: the proposals that could be tried, the best first; of equal products the one that came first. `refused`: why each other
 * proposal cannot be tried. `known`: what was expected and measured before; it scales the product of a text.
 */
export function rankProposals(
  proposals: readonly ProposedText[],
  texts: ReadonlyMap<string, CurrentText>,
  known: readonly Expectation[],
): { choices: Choice[]; refused: string[] } {
  const refused: string[] = []
  const choices: Choice[] = []
  for (const proposal of proposals) {
    const read = readProposal(proposal, texts)
    if (typeof read === 'string') refused.push(`${proposal.asked}: ${read}`)
    else
      choices.push({
        ...read,
        product: read.expected * read.confidence * expectationScale(known, read.artifact),
      })
  }
  return { choices: choices.sort((a, b) => b.product - a.product), refused }
}

function readProposal(
  { asked, artifact, content, rationale, expected, confidence }: ProposedText,
  texts: ReadonlyMap<string, CurrentText>,
): Omit<Choice, 'product'> | string {
  if (artifact === null || artifact === undefined) return 'its agent proposes no text'
  if (typeof artifact !== 'string' || !texts.has(artifact))
    return `it names ${String(artifact).slice(0, 100)}, which is no text of the suite`
  if (artifact !== asked) return `it names ${artifact}, and was asked for ${asked}`
  const text = texts.get(artifact)
  if (content === null || !text) return 'it has no content'
  if (content === text.content) return 'its content is the text that is there already'
  const chars = [...content].length
  if (chars > text.maxChars) return `its content has ${chars} characters, max_chars is ${text.maxChars}`
  if (!isNumber(expected) || !isNumber(confidence))
    return 'the expected reduction and the confidence are not finite numbers'
  if (expected <= 0) return `it expects no reduction of the loss (${expected})`
  const clamped = (value: number) => Math.max(0, Math.min(1, value))
  return { artifact, content, rationale, expected: clamped(expected), confidence: clamped(confidence) }
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
