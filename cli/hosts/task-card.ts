import { isRecord, parseJson } from '../json.ts'

/** The card of a task: what the loop tells an agent as data, in the last fenced block of the prompt. Asking and `tune` read it. */
export interface TaskCard {
  /** Version of the card. */
  assay: 1
  role: string
  run: string | null
  round: number | null
  lane: number | null
  /** Of the lane's chain, from 1. */
  depth: number | null
  experiment: string | null
  /** Absolute path of the experiment's worktree, when there is one. */
  worktree: string | null
  /** Absolute path of the folder that its expensive outputs go to. */
  artifacts: string | null
  /** What the lane is asked to do; its shape belongs to the role. */
  brief: unknown
  /** What the agent should know: `skills`, `learnings`, `rules` and what its role needs. */
  capsule: Record<string, unknown>
  /** JSON Schema of the answer, null for text. */
  answer: object | null
}

/**
 * The card of a prompt: its last ```json block that is an object with `"assay": 1`. Null when there is none. Fields
 * that are absent or of another type read as null, so a card of a newer minor version stays readable.
 */
export function readTaskCard(prompt: string): TaskCard | null {
  let card: Record<string, unknown> | null = null
  for (const match of prompt.matchAll(/^```json[ \t]*\r?\n([\s\S]*?)^```[ \t]*$/gm)) {
    const value = parseJson(match[1] ?? '')
    if (isRecord(value) && value.assay === 1) card = value
  }
  if (card === null || typeof card.role !== 'string') return null
  return {
    assay: 1,
    role: card.role,
    run: text(card.run),
    round: number(card.round),
    lane: number(card.lane),
    depth: number(card.depth),
    experiment: text(card.experiment),
    worktree: text(card.worktree),
    artifacts: text(card.artifacts),
    brief: card.brief ?? null,
    capsule: isRecord(card.capsule) ? card.capsule : {},
    answer: isRecord(card.answer) ? card.answer : null,
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value : null)
const number = (value: unknown) => (typeof value === 'number' ? value : null)
