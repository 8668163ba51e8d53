/** A scripted model that plays every role of the loop, one tool call and one answer a role. */
import { readTaskCard, type TaskCard } from '../../../cli/hosts/task-card.ts'
import type { Ask, Reply } from '../../rig/model-dialects.ts'
import type { Wiring } from './wiring.ts'

export interface Player {
  reply: (ask: Ask) => Reply
  /** Role and model of each request that had a task card, in order, without repetitions of a conversation. */
  asked: () => { role: string; model: string }[]
  /** What the auditor's command printed; null = it never came that far. */
  context: () => string | null
}

/**
 * Round 1: its implementation is held up once, gains 10, is found wanting, and gains 10 more. Round 2 loses 5. The
 * verifier, who should only read, tries to write; whoever implements tries to write outside as well; the auditor reads what
 * Assay knows.
 */
export function player(wiring: Wiring, outside: string): Player {
  const asked: { role: string; model: string }[] = []
  let wasBusy = false
  let verified = 0
  let context: string | null = null
  const reply = (ask: Ask): Reply => {
    const at = ask.turns.findLastIndex(({ from, text }) => from === 'user' && readTaskCard(text) !== null)
    const card = readTaskCard(ask.turns[at]?.text ?? '')
    if (card === null || ask.tools.length === 0) return { text: 'A title' }
    const step = ask.turns.slice(at).filter(({ from }) => from === 'model').length
    if (step === 0) asked.push({ role: card.role, model: ask.model })
    if (card.role === 'implement' && !wasBusy) {
      wasBusy = true
      return {
        status: 400,
        message: `This model is held elsewhere.${wiring.patient ? '' : ' Please try again in 1 s.'}`,
      }
    }
    const acts = actsOf(card, wiring, outside)
    const act = acts[step]
    if (act !== undefined) return act
    if (step > acts.length) return { text: 'Done.' }
    if (card.role === 'audit') context = ask.turns.findLast(({ from }) => from === 'tool')?.text ?? null
    if (card.role === 'verify') verified += 1
    return inForm(ask, answerOf(card, verified))
  }
  return { reply, asked: () => asked, context: () => context }
}

function actsOf(card: TaskCard, { write, shell }: Wiring, outside: string) {
  const { role, round, worktree, experiment } = card
  const inside = (name: string, text: string) => write(`${worktree}/src/${name}.txt`, text)
  switch (role) {
    case 'implement':
      return [write(outside, '1'), inside(`${experiment}`, round === 1 ? '10' : '-5')]
    case 'revise':
      return [inside(`${experiment}-revised`, '10')]
    case 'verify':
      return [inside('verifier', '50')]
    case 'audit':
      return shell === null ? [] : [shell(`assay context ${experiment}`)]
    default:
      return []
  }
}

function answerOf({ role, brief }: TaskCard, verified: number): Record<string, unknown> {
  switch (role) {
    case 'brief': {
      const parents = (brief as { parents?: { experiment: string }[] }).parents ?? []
      return {
        briefs: [
          {
            parent: parents[0]?.experiment,
            objective: `A gain on top of ${parents[0]?.experiment}`,
            hard: true,
          },
        ],
      }
    }
    case 'implement':
    case 'revise':
      return { hypothesis: `a number by ${role}`, summary: 'one file more' }
    case 'verify':
      return verified === 1
        ? { passed: false, findings: [{ message: 'it gains too little' }] }
        : { passed: true, findings: [] }
    case 'collect':
      return { learnings: ['numbers add up'], suggestions: [] }
    case 'ideate':
      return { ideas: [] }
    default:
      return { findings: [] }
  }
}

/** By the tool that a program offers for it, with the nulls that a strict schema asks for, or as text. */
function inForm(ask: Ask, answer: Record<string, unknown>): Reply {
  const tool = ask.tools.find((name) => /^structured_?output$/i.test(name))
  if (tool !== undefined) return { tool, input: answer }
  const format = (ask.body.text as { format?: { schema?: object } } | undefined)?.format
  const properties = Object.keys((format?.schema as { properties?: object } | undefined)?.properties ?? {})
  const nulls = Object.fromEntries(properties.map((name) => [name, null]))
  return { text: JSON.stringify({ ...nulls, ...answer }) }
}
