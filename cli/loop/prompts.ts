/** What an agent reads before it does its task: the whole prompt, from typed inputs. Pure. */
import {
  type Brief,
  type Idea,
  type Knobs,
  META_KNOBS,
  META_PHASES,
  META_PROMPTS,
  type Pick,
  SEAMS,
} from '../ledger/events.ts'
import type { Directions } from '../ledger/meta.ts'
import type { Conflict } from '../search/unmerged.ts'
import type { Ideator, Role } from './agenda.ts'
import { ANSWERS_OF } from './answer-schemas.ts'

/** What a prompt says of the round. */
export interface PromptRound {
  run: string
  round: number
  goal: string
  metric: { name: string; direction: string }
  parents: readonly Pick[]
  width: number
  ideate: { why: string } | null
  direction: { why: string } | null
  steering: readonly string[]
  prompts: Directions['prompts']
  /** What every agent should know, bounded. */
  capsule: Record<string, unknown>
  skills: readonly string[]
  /** By role: the user's own words around its prompt. */
  own?: Readonly<Record<string, OwnWords>>
}

/** What the user has the prompt of a role begin and end with. */
export interface OwnWords {
  before: string | null
  after: string | null
}

export interface PromptLane {
  lane: number
  depth: number
  experiment: string
  parent: string
  worktree: string
  artifacts: string
  parentArtifacts: string | null
  /** The artifact that it starts from. */
  seed?: string
  /** The experiment whose files it starts from, and what stood against that. */
  repair?: { experiment: string; why: string }
  /** The experiment whose change it takes over, beside its parent's. */
  combine?: string
  brief: Brief
  /** A lane of the baseline arm must not know what the search knows. */
  arm?: 'baseline'
}

export interface Against {
  message: string
  code?: string
  path?: string | null
}

export interface PromptTask {
  id: string
  /** The meta controller (below) and a text gradient (`suite/prompt.ts`) have prompts of their own. */
  role: Exclude<Role, 'meta' | 'gradient'>
  round: PromptRound
  lane?: PromptLane
  answer: object
  /** `scan`: the experiments to read. */
  batch?: readonly string[]
  /** `ideate`: which of the authors. */
  author?: Ideator
  /** `brief`: why none of the last briefs was taken. */
  refused?: readonly string[]
  /** `brief`, `ideate`: what the scanners proved. */
  findings?: readonly { message: string }[]
  proposals?: readonly (Idea & { id: string })[]
  repairable?: readonly string[]
  retests?: readonly string[]
  /** `brief`: pairs that git cannot merge. */
  combine?: readonly Conflict[]
  patterns?: readonly unknown[]
  /** `revise`: what stands against the candidate. */
  against?: readonly Against[]
  /** `revise`: the build failed; the candidate was not turned down. */
  build?: boolean
  /** `verify`: what its author says of it. */
  claim?: Record<string, unknown>
  /** `step`: the controller's own words, and where in the round it stands. */
  text?: string
  seam?: string
  /** `collect`: what each lane came to. */
  lost?: readonly string[]
  lanes?: readonly unknown[]
}

/** What a role reads before its task: a page of `assay guide`. */
export const GUIDES: Partial<Record<Role, string>> = {
  scan: 'scanner',
  ideate: 'ideator',
  implement: 'subagent',
  revise: 'subagent',
  verify: 'verifier',
  audit: 'verifier',
  meta: 'meta-agent',
}

export function promptOf(task: PromptTask): string {
  const { id, role, round, lane, answer } = task
  const context = lane
    ? `assay context ${lane.experiment} --run ${round.run}`
    : `assay context --run ${round.run}`
  const card = {
    ...cardHead(id, role, round, lane),
    artifacts: lane?.artifacts ?? null,
    ...(lane?.parentArtifacts ? { parent_artifacts: lane.parentArtifacts } : {}),
    ...(lane?.seed ? { seed_artifact: lane.seed } : {}),
    ...(lane?.repair ? { repair: lane.repair } : {}),
    ...(lane?.combine ? { combine: lane.combine } : {}),
    ...(lane?.arm ? { arm: lane.arm } : {}),
    brief: briefOf(task),
    capsule: role === 'brief' ? { ...round.capsule, open: openIn(round) } : round.capsule,
    ...(task.seam ? { seam: task.seam } : {}),
    ...(task.claim ? { claim: task.claim } : {}),
    ...(task.against ? { findings: task.against } : {}),
    answer,
  }
  return `${reading(role, context)}\n\n${framed(directed(task), round.own?.[role], card)}`
}

/** How each task card begins (`hosts/task-card.ts` reads it). */
export function cardHead(
  task: string,
  role: Role,
  { run, round }: { run: string; round: number | null },
  lane?: PromptLane,
) {
  return {
    ...{ assay: 1, task, role, ...(GUIDES[role] ? { guide: guideOf(role) } : {}), run, round },
    ...{ lane: lane?.lane ?? null, depth: lane?.depth ?? null },
    ...{ experiment: lane?.experiment ?? null, worktree: lane?.worktree ?? null },
  }
}

const guideOf = (role: Role): string => `assay guide ${GUIDES[role]}`

export const reading = (role: Role, context: string): string =>
  `Read this first, it is short: ${GUIDES[role] ? `${guideOf(role)}, then ` : ''}${context}`

/** The text between the user's own words, and the card. */
export function framed(text: string, own: OwnWords | undefined, card: object): string {
  const parts = [own?.before, text, own?.after].filter((part) => part !== null && part !== undefined)
  return `${parts.join('\n\n')}\n\n\`\`\`json\n${JSON.stringify(card)}\n\`\`\``
}

const openIn = ({ parents, width }: PromptRound) => ({ parents, width })

function briefOf(task: PromptTask): unknown {
  const { role, round, lane, findings, proposals, repairable, retests, patterns, combine } = task
  if (lane) return { ...lane.brief, parent: lane.parent }
  if (role === 'scan') return { experiments: task.batch ?? [] }
  if (role === 'ideate') return { kind: task.author, why: round.ideate?.why ?? '', findings }
  if (role === 'collect') return { lanes: task.lanes ?? [] }
  if (role !== 'brief') return null
  const ideas = { proposals, repairable, retests, combine }
  return { ...openIn(round), direction: round.direction, findings, patterns, ...ideas }
}

// ---------------------------------------------------------------- the text of each role

const AUTHORS: Readonly<Record<Ideator, string>> = {
  exploit: 'Look at the best experiment and at what made it so: what would take the same mechanism further?',
  explore:
    'Look for a direction that no experiment has taken: a different mechanism, a different part of the code, what is known elsewhere. Name your sources.',
  failures:
    'Look at what was rejected or failed (assay tree, assay discards): which idea was right and only carried out badly, and what do the failures rule out?',
}

function textOf(task: PromptTask): string {
  const { role, round, lane } = task
  const { goal, metric } = round
  const id = lane?.experiment ?? ''
  const against = (task.against ?? []).map(({ message }) => message)
  switch (role) {
    case 'step':
      return `${task.text ?? ''}\n\nYou may read everything (assay tree, assay show ID, assay diff ID), and change nothing. Answer with findings, one sentence each, with what shows it; none is a good answer.`
    case 'scan':
      return `Read what Assay recorded of ${(task.batch ?? []).join(', ')} (assay show ID, assay diff ID, assay traces ID). Say what they have in common:
- shared_cause: several fail or stop for one reason; quote it from at least two of them
- wall: what they all run into, whatever they change
- compound_failure: failures that come together, where repairing one alone would show nothing
- axis_or_plumbing: the changes vary what does not matter, or never reach what is measured
Each finding quotes the output that shows it, word for word, with its experiment; a quote that Assay does not find there is dropped. No finding is a good answer.`
    case 'ideate':
      return `Propose at most five new directions for: ${goal}
Why now: ${round.ideate?.why ?? ''}. ${AUTHORS[task.author ?? 'explore']}
Each idea is one testable sentence that differs in mechanism from what was tried (assay tree, assay show ID), with the uplift of the metric that you expect (0.05 is 5 %) and how sure you are (0 to 1). No idea is better than a weak one.`
    case 'brief':
      return briefText(task)
    case 'implement':
      return `You improve one thing: ${goal}
Metric: ${metric.name} (${metric.direction}). Your experiment is ${id}, a copy of ${lane?.parent ?? ''}.
Edit files only inside ${lane?.worktree ?? ''}; an expensive output (a checkpoint, an index) belongs in ${lane?.artifacts ?? ''}. Do not commit, and do not run the benchmark for a score: Assay measures.${startText(lane)}
Objective:
${quotedText(lane?.brief.objective ?? '')}
Make one concrete change, leave the folder in a state that builds, and say in one sentence what you changed and what you expect.`
    case 'revise':
      return task.build
        ? `${id} did not build:\n${quotedText(against.join('\n'))}\nRepair the build in ${lane?.worktree ?? ''}.`
        : `Your candidate ${id} in ${lane?.worktree ?? ''} was not accepted. Repair exactly what the findings name, in that folder only:\n${quotedText(against.map((message) => `- ${message}`).join('\n'))}`
    case 'verify':
      return `Read the candidate ${id} (assay diff ${id}) before it is measured. Does it leak expected answers, special-case the input, narrow the evaluation, cache across runs, or claim something that it does not do? Unsure = not passed. Do not change any file.`
    case 'audit':
      return `${id} was kept. Read its diff and what was measured (assay show ${id}, assay diff ${id}). Is the gain what it claims? Report only what you can point at; code is hash, task_set or path where the CLI can check it, else opinion.`
    case 'collect':
      return `Round ${round.round} is over. What should the next round know that the numbers do not say? A learning is one sentence with its evidence.${task.lost?.length ? `\nRead again what was not kept, one by one (assay show ID, assay diff ID): ${task.lost.join(', ')}. What was right about it, and what exactly refused it?` : ''}`
  }
}

function briefText({ round, refused, proposals, repairable, retests, combine }: PromptTask): string {
  const { goal, metric, width, direction, steering } = round
  const list = (lines: readonly string[]) => quotedText(lines.map((line) => `- ${line}`).join('\n'))
  return [
    `Write at most ${width} briefs for: ${goal}`,
    `The metric is ${metric.name} (${metric.direction}). Parents of this round: ${parentsText(round)}.`,
    'A brief says where the gain hides, with what points to it, and what must not change; it does not dictate the edit. Several may share a parent when they point to different places: name these as pointers, as exactly as you can. Do not pad: fewer good ones are better, none is an answer. Mark a brief as hard when it needs a stronger model.',
    proposals?.length
      ? `Ideas that no experiment has tried yet, the most promising first; a brief with "idea": "ID" carries one out:\n${list(proposals.map(({ id, hypothesis }) => `${id}: ${hypothesis}`))}`
      : '',
    repairable?.length
      ? `Rejected or failed for something that can be repaired: ${repairable.join(', ')}. A brief with "repair": "ID" starts from its files.`
      : '',
    retests?.length
      ? `Not measured, so the idea is open: ${retests.join(', ')}. A brief with "repair": "ID" tries one again; one with "from_artifact": "ID:LABEL" starts from what it built.`
      : '',
    combine?.length
      ? `These pairs of kept experiments change the same lines, so git cannot merge them: ${combine.map(conflictText).join('; ')}. To combine a pair, write a brief with its "parent" and "combine" as shown: an agent then makes one candidate of both.`
      : '',
    steering.length ? `The person who runs this search says:\n${quotedText(steering.join('\n'))}` : '',
    direction ? `The direction changes:\n${quotedText(direction.why)}` : '',
    refused?.length ? `None of your last briefs was taken:\n${list(refused)}` : '',
  ]
    .filter(Boolean)
    .join('\n')
}

const conflictText = ({ experiments: [parent, other], files }: Conflict): string =>
  `"parent": "${parent}" with "combine": "${other}" (${files.slice(0, 5).join(', ')})`

function startText(lane: PromptLane | undefined): string {
  if (!lane) return ''
  const { repair, combine, seed, parent, parentArtifacts } = lane
  return [
    parentArtifacts ? `What ${parent} left is in ${parentArtifacts}: read it, do not change it.` : '',
    seed ? `The artifact to start from is ${seed}.` : '',
    combine
      ? `Also take over what ${combine} changed (assay diff ${combine}): git could not merge it with ${parent}, because both change the same lines. Keep what makes each of them better.`
      : '',
    repair
      ? `Your folder starts from the files of ${repair.experiment}. What stood against those, which you should repair:\n${quotedText(repair.why)}`
      : '',
  ]
    .filter(Boolean)
    .map((line) => `\n${line}`)
    .join('')
}

const parentsText = ({ parents }: PromptRound): string =>
  parents.map(({ experiment, why }) => `${experiment} (${why})`).join('; ')

const skillsText = ({ skills }: PromptRound): string =>
  skills.length === 0
    ? ''
    : `\nLoad these skills in full first: ${skills.join(', ')}. One that your program does not have may be a guide of Assay (assay guide NAME).`

// ---------------------------------------------------------------- under the directives of the round

/** Whose directives a role hears. Those who verify and audit hear none. */
const HEARS = {
  scan: ['state', 'scan'],
  ideate: ['state', 'ideate'],
  brief: ['state', 'aggregate', 'brief'],
  implement: ['state', 'run', 'implement'],
  revise: ['run'],
  collect: ['state', 'collect'],
} as const satisfies Partial<Record<Role, readonly (keyof Directions['prompts'])[]>>

const hearing = (role: Role): readonly (keyof Directions['prompts'])[] =>
  Object.hasOwn(HEARS, role) ? HEARS[role as keyof typeof HEARS] : []

function directed(task: PromptTask): string {
  // What the controller saw in the search is nothing for a lane that must not know of it.
  const prompts = task.lane?.arm ? {} : task.round.prompts
  const heard = hearing(task.role)
  const own = heard.find((name) => name === task.role)
  const replaced = own === undefined ? null : (prompts[own]?.replace ?? null)
  const added = heard.flatMap((name) => prompts[name]?.append ?? []).map((line) => `- ${line}`)
  const works = task.role === 'implement' || task.role === 'revise'
  // Also when the text itself was replaced: the skills are a setting of a person.
  const body = `${replaced === null ? textOf(task) : filled(replaced, task)}${works ? skillsText(task.round) : ''}`
  return added.length === 0 ? body : [body, 'In this round also:', ...added].join('\n')
}

/** Placeholders → what they stand for. In one pass: what was put in is not looked at again. */
function filled(template: string, task: PromptTask): string {
  const { round, lane } = task
  const known: Record<string, unknown> = {
    goal: round.goal,
    metric: `${round.metric.name} (${round.metric.direction})`,
    round: round.round,
    width: round.width,
    parents: parentsText(round),
    experiment: lane?.experiment,
    worktree: lane?.worktree,
    artifacts: lane?.artifacts,
    parent: lane?.parent,
    objective: lane ? `\n${quotedText(lane.brief.objective)}\n` : '',
    experiments: (task.batch ?? []).join(', '),
    why: round.ideate?.why,
  }
  return template.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(known, name) ? String(known[name] ?? '') : whole,
  )
}

/** What a benchmark or an agent said, inside a prompt: cut, and in a fence longer than any in it. */
export function quotedText(said: string, most = 4000): string {
  const short = said.slice(0, most)
  const longest = Math.max(2, ...(short.match(/`+/g) ?? []).map((ticks) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${short}\n${fence}`
}

// ---------------------------------------------------------------- the meta controller
// What the agent of the meta controller reads, and what it answers.

export interface MetaInputs {
  /** Of the task: `meta/3`. */
  id: string
  run: string
  round: number | null
  goal: string
  facts: readonly { name: string; message: string; experiments: readonly string[] }[]
  knobs: Knobs | null
  phases: Directions['phases']
  edits: readonly unknown[]
  /** The user's own words around it. */
  own?: OwnWords
}

export function metaPrompt({ id, run, round, goal, own, ...brief }: MetaInputs): string {
  const card = { ...cardHead(id, 'meta', { run, round }), brief, capsule: {}, answer: ANSWERS_OF.meta }
  const facts = brief.facts.map(({ name, message }) => `${name}: ${message}`).join('\n')
  const text = `You watch over a search for: ${goal}
What the CLI sees, new since you were last asked:
${quotedText(facts)}
Judge whether it calls for anything. Doing nothing is the usual answer. An edit holds from the next round on, and has a rationale and evidence: the name of a fact above, or an experiment. Kinds:
- {kind: knob, knob, value}: ${META_KNOBS.join(', ')}
- {kind: phase, phase, on}: ${META_PHASES.join(', ')}
- {kind: prompt, prompt, mode, text}: append to one of ${META_PROMPTS.join(', ')}; replace keeps the prompt's placeholders, which its refusal names
- {kind: step, seam, text, rounds}: a task for one more agent at one of ${SEAMS.join(', ')}, for so many rounds
- {kind: undo, edit}: takes an earlier one back, by its id
Verifier, gates, benchmark and verdict are not yours. Do not stop an experiment (stops) unless a fact about that very one shows that it cannot come to a result: name that fact as evidence, and the fix for the next try. An alert is a sentence that a person should read.`
  return `${reading('meta', `assay context --run ${run}`)}\n\n${framed(text, own, card)}`
}
