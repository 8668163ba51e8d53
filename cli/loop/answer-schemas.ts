/** What each role must answer, as JSON Schema; which fields are read, and how much of an answer the ledger keeps. Pure. */
import { PRIORITIES } from '../ledger/events.ts'
import type { Role } from './agenda.ts'

export const FINDING_KINDS = ['shared_cause', 'wall', 'compound_failure', 'axis_or_plumbing'] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const object = (properties: Record<string, object>, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})
const list = (items: object) => ({ type: 'array', items })

const FINDING = object({ code: text, message: text, path: text }, ['message'])
const EDITED = object(
  { hypothesis: text, summary: text, predicted: text, learnings: texts, suggestions: texts, objection: text },
  [],
)

export const ANSWERS_OF: Readonly<Record<Role, { properties: Record<string, object>; required: string[] }>> =
  {
    step: object({ findings: texts }),
    scan: object({
      findings: list(
        object({
          kind: { type: 'string', enum: [...FINDING_KINDS] },
          message: text,
          evidence: list(object({ experiment: text, quote: text })),
        }),
      ),
    }),
    ideate: object({
      ideas: list(
        object(
          {
            hypothesis: text,
            parent: text,
            kind: text,
            priority: { type: 'string', enum: [...PRIORITIES] },
            dependencies: texts,
            uplift: { type: 'number' },
            confidence: { type: 'number' },
            sources: texts,
          },
          ['hypothesis'],
        ),
      ),
    }),
    brief: object({
      briefs: list(
        object(
          {
            parent: text,
            kind: text,
            objective: text,
            boundaries: texts,
            pointers: texts,
            hard: { type: 'boolean' },
            repair: text,
            from_artifact: text,
            combine: text,
            idea: text,
          },
          ['objective'],
        ),
      ),
    }),
    implement: EDITED,
    revise: EDITED,
    verify: object({ passed: { type: 'boolean' }, findings: list(FINDING), objection: text }, ['passed']),
    audit: object({ findings: list(FINDING), objection: text }, ['findings']),
    collect: object({ learnings: texts, suggestions: texts }),
    // `artifact: null`: no text would help.
    gradient: object(
      {
        artifact: { type: ['string', 'null'] },
        content: { type: ['string', 'null'] },
        rationale: { type: ['string', 'null'] },
        expected_loss_reduction: { type: ['number', 'null'] },
        confidence: { type: ['number', 'null'] },
      },
      ['artifact'],
    ),
    meta: object(
      {
        edits: list(
          object(
            {
              kind: text,
              knob: text,
              value: { type: 'integer' },
              phase: text,
              on: { type: 'boolean' },
              prompt: text,
              mode: text,
              seam: text,
              text,
              rounds: { type: 'integer' },
              edit: text,
              rationale: text,
              evidence: text,
            },
            ['kind', 'rationale', 'evidence'],
          ),
        ),
        alerts: texts,
        stops: list(
          object({ experiment: text, failure_class: text, reason: text, fix: text, evidence: text }, [
            'experiment',
            'reason',
            'evidence',
          ]),
        ),
      },
      [],
    ),
  }

/** The known fields of an answer, and the names of the others. */
export function knownFields(
  role: Role,
  answer: object,
): { known: Record<string, unknown>; ignored: string[] } {
  const fields = Object.keys(ANSWERS_OF[role].properties)
  const entries = Object.entries(answer)
  return {
    known: Object.fromEntries(entries.filter(([name]) => fields.includes(name))),
    ignored: entries
      .map(([name]) => name)
      .filter((name) => !fields.includes(name))
      .slice(0, 20),
  }
}

/** With no text longer than `characters`, no list longer than `items`, and nothing below the sixth level. */
export function bounded(value: unknown, characters: number, items: number, depth = 6): unknown {
  if (typeof value === 'string') return value.slice(0, characters)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value))
    return value.slice(0, items).map((one) => bounded(one, characters, items, depth - 1))
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 20)
      .map(([name, one]) => [name.slice(0, 100), bounded(one, characters, items, depth - 1)]),
  )
}
