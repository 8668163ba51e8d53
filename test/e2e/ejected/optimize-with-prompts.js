export const meta = {
  name: 'optimize',
  description: 'Search for a better version of a repository: rounds of briefs, lanes and verdicts that Assay measures.',
  whenToUse: 'A run was started with assay init and its baseline is measured.',
  phases: [
    { title: 'Orient', detail: 'where the run stands, and the parents of this round' },
    { title: 'Scan', detail: 'what the last verdicts have in common' },
    { title: 'Ideate', detail: 'three kinds of ideas after a stall or many keeps' },
    { title: 'Brief', detail: 'one written assignment a lane' },
    { title: 'Lanes', detail: 'implement, verify, run, audit; deeper after a keep' },
    { title: 'Collect', detail: 'what was learnt' },
  ],
}

// The script is control only: it calls agents, and asks the CLI through the clerk. It never decides a score, and it
// branches on ids, statuses and `stop` alone.

const settings = typeof args === 'string' ? JSON.parse(args || '{}') : (args ?? {})
const onRun = settings.run ? ` --run ${settings.run}` : ''
/** The loop of Assay itself says which launch it is; there, neither the agents nor the length of a command is capped. */
const capped = settings.launch === undefined
/** A host's cap on the agents of one launch: left in time, and launched again. */
const agentLimit = Number.isInteger(settings.agents) ? settings.agents : capped ? 1000 : Infinity
/** Of these, for what finishes: a seal or an audit in each lane, what it has learnt, and the result. */
const LAST_CALLS = 20
/** Of those, for the result: two questions, each asked twice. */
const LAST_WORDS = 4
/** In characters: a host's shell tool asks a person about a command that is longer than it can look through. */
const longestInput = capped ? 9000 : Infinity
const WAIT = '90s'
/** Of one experiment. What was measured before its process died is not measured again, so most of these are short. */
const TRIES = 10
let agentCalls = 0
/** Whether any agent has answered: one that never does is a broken host, not an agent without ideas. */
let answered = false

// ------------------------------------------------------------------ the CLI

/**
 * One command of the CLI: `{ok, data | problem}`, as its one line of JSON says. Whoever runs it may lose the answer, so
 * it is asked for once more: every verb that is called here may be called again.
 */
async function assay(command, input) {
  const first = await assayOnce(command, input)
  const lost = !first.ok && (first.problem.code === 'no_answer' || first.problem.code === 'bad_answer')
  return lost ? assayOnce(command, input) : first
}

async function assayOnce(command, input) {
  const body = input === undefined ? '' : ` --input '${inQuotes(input)}'`
  const text = await ask('```sh\n' + `assay ${command}${onRun} --json${body}` + '\n```', {
    agentType: 'assay:clerk',
    label: `assay ${command}`,
  }, /^(seal|audit|note) /.test(command))
  const line = String(text ?? '')
    .split('\n')
    .findLast((candidate) => candidate.trim().startsWith('{"ok":'))
  if (line === undefined)
    return { ok: false, problem: { code: 'no_answer', message: `no answer to: assay ${command}` } }
  let answer
  try {
    answer = JSON.parse(line)
  } catch {
    return {
      ok: false,
      problem: { code: 'bad_answer', message: `the answer to assay ${command} is not JSON` },
    }
  }
  if (answer.problem?.code === 'denied') {
    // Nothing works without it, and each further call would ask a person the same.
    denied = true
    ending = new Error(`the host does not let its agents run assay: ${answer.problem.message}\n${ALLOW}`)
    throw ending
  }
  if (answer.problem?.code === 'disk_full') {
    // Every lane of every round would be told the same.
    ending ??= new Error([answer.problem.message, answer.problem.hint].filter(Boolean).join('; '))
    throw ending
  }
  return answer
}

/** The same words as `assay install claude-code` has: the one host with a workflow tool of its own. */
const ALLOW =
  'in ~/.claude/settings.json, or .claude/settings.json of a folder that you trust: "permissions": { "allow": ["Bash(assay *)", "Edit(.assay/w/**)", "Workflow"] }'

/** Thrown by every further call: the rounds end here, and what was begun stays in the ledger. */
let ending = null
let denied = false

/**
 * What a host's check of shell commands takes for a trick, also between quotes, or changes by itself: apostrophes,
 * backslashes, what some shells expand, spaces that are no spaces.
 */
const SUSPICIOUS = /['`$~=<>\\\x7f\p{Zl}\p{Zp}\u200b\ufeff]|(?! )\p{Zs}/gu

/** What encodeURIComponent leaves as it is. */
const PLAIN = { "'": '%27', '~': '%7E' }

/** JSON to stand between single quotes of a shell: with its texts, then its lists, cut as far as they must be. */
function inQuotes(input) {
  const encoded = (value) =>
    JSON.stringify(value)
      .replaceAll('%', '%25')
      .replace(SUSPICIOUS, (char) => PLAIN[char] ?? encodeURIComponent(char))
  let texts = 4000
  let items = 100
  let fit = encoded(input)
  while (fit.length > longestInput && items > 1) {
    fit = encoded(cut(input, texts, items))
    if (texts > 100) texts = Math.floor(texts * 0.7)
    else items = Math.floor(items * 0.7)
  }
  return fit
}

/** The same with no text and no list longer than that. */
function cut(value, texts, items) {
  if (typeof value === 'string') return value.slice(0, texts)
  if (Array.isArray(value)) return value.slice(0, items).map((one) => cut(one, texts, items))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cut(one, texts, items)]))
}

/** What one agent said, for the card of another: a prompt that no model can take would be a way past its reader. */
const inShort = (value) => cut(value, 1000, 20)

/** A word for the clerk's shell block: single quotes, on one line, a space inside of what such a check would not let pass. */
const word = (text, most = 500) =>
  `'${String(text)
    .replace(/[\s\u200b]+/g, ' ')
    .slice(0, most)
    .replaceAll("'", '’')
    .replace(/[\p{Cc}\ufeff]/gu, '')
    .replace(/\\+(?=[ u]|$)/g, '/')
    .replace(/(?<=^|[ ;&|])=(?=\w)|~(?=\[)|<(?=\d*-\d*>)/g, '$& ')}'`

/** What a benchmark or another agent said, inside a prompt: cut, and in a fence longer than any in it. */
function quoted(said) {
  const cut = String(said).slice(0, 4000)
  const longest = Math.max(2, ...(cut.match(/`+/g) ?? []).map((ticks) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${cut}\n${fence}`
}

/** Throws when the launch is over, unless it `finishes` what was paid for: the next one goes on from the ledger. */
async function ask(prompt, options, finishes = false) {
  if (agentCalls >= agentLimit - LAST_CALLS && !roundsOver) ending ??= OUT_OF_CALLS
  if (ending !== null && (denied || !finishes)) throw ending
  agentCalls++
  return agent(prompt, options)
}
const OUT_OF_CALLS = new Error('the agents of this launch are used up')
let roundsOver = false

/** What a role reads before its task: a page of `assay guide`. */
const GUIDES = {
  scan: 'scanner',
  ideate: 'ideator',
  implement: 'subagent',
  revise: 'subagent',
  verify: 'verifier',
  audit: 'verifier',
  meta: 'meta-agent',
}

/**
 * An agent whose failure costs its lane, never the run. Its label is the role, then what tells it from others of the
 * round: `implement lane 2 exp_0007`, `scan batch 1`, `ideate explore`, `brief again`.
 */
async function askRole(role, text, place, answer, phaseTitle, mark = '') {
  const guide = GUIDES[role] ? `assay guide ${GUIDES[role]}` : null
  const card = { assay: 1, role, ...(guide ? { guide } : {}), run: settings.run ?? null, ...place, answer }
  const about = place.experiment ? ` ${place.experiment}` : ''
  const reading = [guide, `assay context${about}${onRun}`].filter(Boolean).join(', then ')
  const prompt = `Read this first, it is short: ${reading}\n\n${directed(role, text, place)}\n\n\`\`\`json\n${JSON.stringify(card)}\n\`\`\``
  const label = [role, mark, place.lane ? `lane ${place.lane}` : '', place.experiment ?? '']
    .filter(Boolean)
    .join(' ')
  try {
    const reply = await ask(prompt, { label, phase: phaseTitle, schema: answer })
    answered ||= reply !== null
    return reply
  } catch (error) {
    if (ending !== null) throw ending
    log(`${label}: ${error.message}`)
    return null
  }
}

// ------------------------------------------------------------------ answers

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const object = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})

const FINDINGS = object({
  findings: { type: 'array', items: object({ code: text, message: text, path: text }, ['message']) },
})
const VERIFIED = object(
  {
    passed: { type: 'boolean' },
    findings: { type: 'array', items: object({ code: text, message: text, path: text }, ['message']) },
  },
  ['passed'],
)
const IMPLEMENTED = object(
  { hypothesis: text, summary: text, predicted: text, learnings: texts, suggestions: texts },
  [],
)
const SCANNED = object({
  findings: {
    type: 'array',
    items: object({
      kind: { type: 'string', enum: ['shared_cause', 'wall', 'compound_failure', 'axis_or_plumbing'] },
      message: text,
      evidence: { type: 'array', items: object({ experiment: text, quote: text }) },
    }),
  },
})
const IDEAS = object({
  ideas: {
    type: 'array',
    items: object(
      {
        hypothesis: text,
        parent: text,
        kind: text,
        uplift: { type: 'number' },
        confidence: { type: 'number' },
        sources: texts,
      },
      ['hypothesis'],
    ),
  },
})
const BRIEFS = object({
  briefs: {
    type: 'array',
    items: object(
      {
        parent: text,
        kind: text,
        objective: text,
        boundaries: texts,
        pointers: texts,
        hard: { type: 'boolean' },
      },
      ['objective'],
    ),
  },
})
const COLLECTED = object({ learnings: texts, suggestions: texts })

// ------------------------------------------------------------------ one turn

/** What the scanners found, as far as the CLI finds their quotes in what was printed. */
async function scan(turn, place) {
  if (turn.scan.batches.length === 0) return []
  phase('Scan')
  const found = await parallel(
    turn.scan.batches.map(
      (batch, index) => () =>
        askRole(
          'scan',
          `Read what Assay recorded of ${batch.join(', ')} (assay show ID, assay diff ID, assay traces ID). Say what they have in common:
- shared_cause: several fail or stop for one reason; quote it from at least two of them
- wall: what they all run into, whatever they change
- compound_failure: failures that come together, where mending one alone would show nothing
- axis_or_plumbing: the changes vary what does not matter, or never reach what is measured
Each finding quotes the output that shows it, word for word, with its experiment; a quote that Assay does not find there is dropped. No finding is a good answer.`,
          { ...place, batch: index + 1, brief: { experiments: batch }, capsule: capsule(turn) },
          SCANNED,
          'Scan',
          `batch ${index + 1}`,
        ),
    ),
  )
  const findings = found.flatMap((answer) => answer?.findings ?? [])
  if (findings.length === 0) return []
  const checked = await assay('round findings', { findings })
  if (!checked.ok) {
    log(`no finding is used: ${checked.problem.message}`)
    return []
  }
  for (const { message } of checked.data.dropped) log(`finding dropped: ${message}`)
  return checked.data.findings
}

const IDEATORS = {
  exploit: 'Look at the best experiment and at what made it so: what would take the same mechanism further?',
  explore:
    'Look for a direction that nobody has taken: another mechanism, another part of the code, what is known elsewhere. Name your sources.',
  failures:
    'Look at what was rejected or failed (assay tree, assay discards): which idea was right and only carried out badly, and what do the failures rule out?',
}

/** Three authors side by side; the CLI reconciles what they say, and the next turns read it from there. */
async function ideate(turn, place, findings) {
  if (!turn.ideate) return
  phase('Ideate')
  const answers = await parallel(
    Object.entries(IDEATORS).map(
      ([kind, where]) =>
        () =>
          askRole(
            'ideate',
            `Propose at most five new directions for: ${turn.goal}
Why now: ${turn.ideate.why}. ${where}
Each idea is one testable sentence that differs in mechanism from what was tried (assay tree, assay show ID), with the uplift of the metric that you expect (0.05 is 5 %) and how sure you are (0 to 1). No idea is better than a weak one.`,
            { ...place, brief: { kind, why: turn.ideate.why, findings }, capsule: capsule(turn) },
            IDEAS,
            'Ideate',
            kind,
          ),
    ),
  )
  const ideas = answers.flatMap((answer) => answer?.ideas ?? [])
  if (ideas.length === 0) return
  const judged = await assay('propose', { ideas })
  if (!judged.ok) {
    log(`no idea is used: ${judged.problem.message}`)
    return
  }
  for (const { message } of judged.data.refused) log(`idea refused: ${message}`)
}

/**
 * The lanes of the turn. Briefs that were not written, or of which the CLI takes none, are asked for once more, with
 * its reasons; all that the author is told comes from the turn, so nothing is lost with a call that fails.
 */
async function layBriefs(turn, place, findings) {
  phase('Brief')
  let refused = []
  let laid
  for (const again of [0, 1]) {
    // Without a lane of the search there is nothing to ask for.
    const answer =
      turn.width === 0 ? { briefs: [] } : await writeBriefs(turn, { ...place, again, refused }, findings)
    if (answer === null && again === 0) continue
    const briefs = (answer?.briefs ?? []).map((brief, index) => ({
      parent: turn.parents[index % turn.parents.length].experiment,
      kind: 'edit',
      boundaries: [],
      pointers: [],
      hard: false,
      ...brief,
    }))
    laid = await assay(`round briefs --token ${turn.token}`, { briefs })
    if (!laid.ok) return laid
    refused = laid.data.refused
    for (const { message } of refused) log(`brief refused: ${message}`)
    if (laid.data.lanes.length > 0 || briefs.length === 0) break
  }
  return laid
}

async function writeBriefs(turn, { again, refused, ...place }, findings) {
  const parents = turn.parents.map(({ experiment, why }) => `${experiment} (${why})`).join('; ')
  const prompt = [
    `Write at most ${turn.width} briefs for: ${turn.goal}
The metric is ${turn.metric.name} (${turn.metric.direction}). Parents of this round: ${parents}.
A brief says where the gain hides, with what points to it, and what must not change; it does not dictate the edit. Several may share a parent. Do not pad: fewer good ones are better, none is an answer. Mark a brief as hard when it needs a stronger model.${told(turn)}`,
    turn.direction ? `The direction changes:\n${quoted(turn.direction.why)}` : '',
    refused.length > 0
      ? `None of your last briefs was taken:\n${quoted(refused.map(({ message }) => `- ${message}`).join('\n'))}`
      : '',
  ]
    .filter(Boolean)
    .join('\n')
  const open = { parents: turn.parents, width: turn.width }
  const { direction, patterns, proposals, repairable, retests } = turn
  return askRole(
    'brief',
    prompt,
    {
      ...place,
      ...(again ? { again } : {}),
      brief: { ...open, direction, findings, patterns, proposals, repairable, retests },
      capsule: { ...capsule(turn), open },
    },
    BRIEFS,
    'Brief',
    again ? 'again' : '',
  )
}

/** What people said to this round. */
const told = (turn) =>
  turn.steering?.length ? `\nThe person who runs this search says:\n${quoted(turn.steering.join('\n'))}` : ''

/** What every agent should know, bounded. */
function capsule(turn) {
  return {
    goal: turn.goal,
    metric: turn.metric,
    best: turn.best,
    skills: turn.skills,
    learnings: turn.learnings,
    rules: turn.rules,
    notes: turn.notes,
    steering: turn.steering,
  }
}

// ------------------------------------------------------------------ one lane

/**
 * One chain of experiments; it waits for no other lane. `report` holds what every depth left, whatever ends the lane.
 */
async function runLane(round, lane, report) {
  // The baseline arm makes one try, and knows nothing of the search.
  const turn = lane.arm ? { ...round, depth: 1, best: null, learnings: [], notes: [], steering: [] } : round
  let parent = lane.parent
  for (let depth = 1; depth <= turn.depth; depth++) {
    const at = `--round ${turn.round} --lane ${lane.lane} --depth ${depth}`
    const key = `r${turn.round}/l${lane.lane}/d${depth}/new`
    const made = await assay(`new --parent ${parent} ${at} --key ${key} -m ${word(lane.brief.objective)}`)
    if (!made.ok) {
      log(`lane ${lane.lane} ends: ${made.problem.message}`)
      break
    }
    const { experiment, worktree, artifacts, repeated } = made.data
    const place = {
      round: turn.round,
      lane: lane.lane,
      depth,
      experiment,
      worktree,
      artifacts,
      brief: { ...lane.brief, parent },
      ...(lane.arm ? { arm: lane.arm } : {}),
    }
    const result = { experiment, status: 'discarded', reason: null }
    report.experiments.push(result)
    // Of an earlier launch: a candidate that is there is not paid again.
    const known = repeated ? made.data.status : 'open'
    if (known === 'open' && !(await prepare(turn, place, report, repeated && made.data.sealed))) break
    const verdict = await judge(turn, place, report)
    Object.assign(result, { status: verdict?.status ?? null, reason: verdict?.reason ?? null })
    if (verdict?.status !== 'kept') break
    // An audit of an earlier launch is not paid again; what it stood against is no parent, as the CLI will say.
    if (!made.data.audited && !(await survivesAudit(turn, place))) break
    parent = experiment
  }
}

/** Implement, unless there is a seal already, then verify and revise until one passes. False when the lane gives up. */
async function prepare(turn, place, report, sealed) {
  const { experiment } = place
  const fields = { ...place, capsule: capsule(turn) }
  let answer = sealed
    ? {}
    : await askRole('implement', implementPrompt(turn, place), fields, IMPLEMENTED, 'Lanes')
  for (let revision = 0; ; revision++) {
    const left = answer === null ? await leftEdit(experiment) : null
    // An agent that left nothing says nothing about the idea.
    if (answer === null && left === null) return giveUp(experiment, 'environment', 'its agent gave no answer')
    keep(report, answer)
    const findings = await verify(turn, fields, answer ?? {}, left)
    if (findings === null) return giveUp(experiment, 'environment', 'what it is built on was revoked')
    if (findings.length === 0) return true
    if (revision >= turn.knobs.revise) break
    answer = await askRole(
      'revise',
      `Your candidate ${experiment} in ${place.worktree} was not accepted. Mend exactly what the findings name, in that folder only:\n${quoted(findings.map(({ message }) => `- ${message}`).join('\n'))}`,
      { ...fields, revision: revision + 1, findings: inShort(findings) },
      IMPLEMENTED,
      'Lanes',
    )
  }
  return giveUp(experiment, 'hypothesis', 'no candidate passed verification')
}

/** By experiment, the number of its last seal: an agent without an answer that left an edit makes a new one. */
const attempts = new Map()

/**
 * The seal of what an agent without an answer left in its worktree: an edit is paid for, whatever came after it. Null
 * when it left nothing new.
 */
async function leftEdit(experiment) {
  const before = attempts.get(experiment) ?? 0
  const sealed = await sealOf(experiment, ' --if-changed')
  // Why it cannot be sealed is a finding.
  if (!sealed.ok) return sealed
  if (sealed.data.changed !== true || sealed.data.attempt <= before) return null
  answered = true
  log(`${experiment}: its agent gave no answer, but left an edit, which is judged`)
  return sealed
}

async function sealOf(experiment, flags) {
  const sealed = await assay(`seal ${experiment}${flags}`)
  if (sealed.ok && sealed.data.attempt != null) attempts.set(experiment, sealed.data.attempt)
  return sealed
}

async function giveUp(experiment, failure, why) {
  await assay(`discard ${experiment} --failure-class ${failure} --reason ${word(why)}`)
  return false
}

/** What an agent of the lane has learnt, for the rounds to come. */
function keep(report, answer) {
  report.learnings.push(...(answer?.learnings ?? []))
  report.suggestions.push(...(answer?.suggestions ?? []))
}

function implementPrompt(turn, place) {
  return `You improve one thing: ${turn.goal}
Metric: ${turn.metric.name} (${turn.metric.direction}). Your experiment is ${place.experiment}, a copy of ${place.brief.parent}.
Edit files only inside ${place.worktree}; an expensive output (a checkpoint, an index) belongs in ${place.artifacts}. Do not commit, and do not run the benchmark for a score: Assay measures.
Objective:
${quoted(place.brief.objective)}
Make one concrete change, leave the folder in a state that builds, and say in one sentence what you changed and what you expect.`
}

/**
 * What stands against the candidate: the CLI's own checks first, then an agent's reading. `left`: a seal that is there
 * already. An agent that fails is no finding; null when no agent can mend it.
 */
async function verify(turn, fields, answer, left = null) {
  const sealed = left ?? (await sealOf(fields.experiment, answer.hypothesis ? ` -m ${word(answer.hypothesis)}` : ''))
  if (!sealed.ok && sealed.problem.code === 'parent_revoked') return null
  if (!sealed.ok)
    return [{ message: [sealed.problem.message, sealed.problem.hint].filter(Boolean).join(': ') }]
  const checked = await assay(`check ${fields.experiment}`)
  if (checked.ok && !checked.data.passed) return checked.data.findings
  const read = await askRole(
    'verify',
    `Read the candidate ${fields.experiment} (assay diff ${fields.experiment}) before it is measured. Does it leak expected answers, special-case the input, narrow the evaluation, cache across runs, or claim something that it does not do? Unsure = not passed. Do not change any file.`,
    { ...fields, claim: inShort(answer) },
    VERIFIED,
    'Lanes',
  )
  if (!read || read.passed) return []
  return read.findings?.length ? read.findings : [{ message: 'the verifier did not pass it' }]
}

/** Runs the seal and waits for its verdict; no call blocks longer than a host's shell tool allows. */
async function judge(turn, place, report) {
  let mended = false
  for (let tries = 0; tries < TRIES; tries++) {
    // What was verified: not what something wrote into the worktree since, a test cache for example.
    const begun = await assay(`run ${place.experiment} --detach --sealed`)
    // It was killed before it could claim the attempt: nothing is begun, and nothing is known of the candidate.
    if (!begun.ok && begun.problem.code === 'worker_died') continue
    if (!begun.ok) {
      log(`${place.experiment} was not run: ${begun.problem.message}`)
      return null
    }
    const verdict = await settled(place.experiment)
    if (verdict === null) continue
    if (verdict.failure_class !== 'build' || mended) return verdict
    mended = true
    const again = await askRole(
      'revise',
      `${place.experiment} did not build:\n${quoted(verdict.message)}\nMend the build in ${place.worktree}.`,
      { ...place, capsule: capsule(turn), findings: [{ message: verdict.message }] },
      IMPLEMENTED,
      'Lanes',
    )
    const left = again === null ? await leftEdit(place.experiment) : null
    if (again === null && left === null) return verdict
    keep(report, again)
    const findings = await verify(turn, { ...place, capsule: capsule(turn) }, again ?? {}, left)
    if (findings === null || findings.length > 0) return verdict
  }
  return null
}

/** The verdict, or null when the process that measured is gone. */
async function settled(experiment) {
  for (;;) {
    const seen = await assay(`wait --for ${experiment} --timeout ${WAIT}`)
    if (!seen.ok) return null
    if (seen.data.event === 'lost') return null
    if (!seen.data.timed_out) return seen.data
  }
}

async function survivesAudit(turn, place) {
  const read = await askRole(
    'audit',
    `${place.experiment} was kept. Read its diff and what was measured (assay show ${place.experiment}, assay diff ${place.experiment}). Is the gain what it claims? Report only what you can point at; code is hash, task_set or path where the CLI can check it, else opinion.`,
    { ...place, capsule: capsule(turn) },
    FINDINGS,
    'Lanes',
  )
  if (!read) return true
  // That it passed as well: whoever goes on with the round need not ask again.
  const audited = await assay(`audit ${place.experiment}`, {
    findings: read.findings.map((finding) => ({ code: 'opinion', ...finding })),
  })
  return read.findings.length === 0 || (audited.ok && audited.data.status === 'kept' && !audited.data.flagged)
}

// ------------------------------------------------------------------ the loop

async function collect(turn, place, reports) {
  phase('Collect')
  const lost = reports
    .flatMap(({ experiments }) => experiments)
    .filter(({ status }) => status !== 'kept')
    .map(({ experiment, status, reason }) => `${experiment} (${reason ?? status ?? 'no verdict'})`)
  const answer = await askRole(
    'collect',
    `Round ${turn.round} is over. What should the next round know that the numbers do not say? A learning is one sentence with its evidence.${lost.length > 0 ? `\nRead again what was not kept, one by one (assay show ID, assay diff ID): ${lost.join(', ')}. What was right about it, and what exactly refused it?` : ''}`,
    { ...place, brief: { lanes: reports.map(inShort) }, capsule: capsule(turn) },
    COLLECTED,
    'Collect',
  )
  const after = await injected(turn, 'after-collect', place)
  // First, so that they are not what a limit cuts off: the next round's brief reads them among the learnings.
  const said = after.map(({ message }) => message)
  const first = said.length > 0 ? [{ lane: 0, learnings: said, suggestions: [] }] : []
  const lanes = [...first, ...reports, ...(answer ? [{ lane: 0, ...answer }] : [])]
  underway.reports = lanes
  return assay(`round close --token ${turn.token}`, { lanes })
}

let roundCount = 0
/** Ends that also tell why nobody was asked, or needed. */
const OVER = ['budget', 'user', 'target']
/** Of a round that has lanes and is not closed: what closing it would record. */
let underway = null

/** Another text, another number: two launches may be left within the same round. */
const digest = (said) => [...said].reduce((sum, char) => (sum * 31 + char.codePointAt(0)) % 1_000_000_007, 7)

/** What the lanes have learnt goes into the ledger, since the launch that closes their round will not have been told. */
async function handOver() {
  for (const { lane, learnings, suggestions } of underway?.reports ?? []) {
    const learnt = [...learnings, ...suggestions].join(' ')
    // An answer that is lost is asked for again.
    if (learnt === '' || agentCalls + 2 > agentLimit - LAST_WORDS) continue
    const { round, token } = underway
    const whose = lane === 0 ? `Round ${round}` : `Lane ${lane} of round ${round}`
    const key = `${token}/l${lane}/${digest(learnt)}`
    const said = word(`${whose}: ${learnt}`, 2000)
    await assay(`note --kind learning --key ${key} ${said}`)
  }
  underway = null
}

/** All that comes before the lanes. */
async function prepareLanes(turn, place) {
  const findings = await injected(turn, 'before-scan', place)
  findings.push(...(await scan(turn, place)))
  findings.push(...(await injected(turn, 'after-scan', place)))
  await ideate(turn, place, findings)
  findings.push(...(await injected(turn, 'before-brief', place)))
  return layBriefs(turn, place, findings)
}

/** Another drives the run: nothing is broken, and nothing is left to do here. Any other problem is one. */
function given({ code, message, hint }) {
  if (code !== 'driven') throw new Error(message)
  log(message)
  return { rounds: roundCount, stop: null, driven: `${message}; ${hint}` }
}

async function rounds() {
  for (;;) {
    phase('Orient')
    const opened = await assay('round open')
    if (!opened.ok) return given(opened.problem)
    const turn = opened.data
    if (turn.stop !== null) return { rounds: roundCount, stop: turn.stop }
    if (Number.isInteger(settings.rounds) && roundCount >= settings.rounds) return { rounds: roundCount, stop: null }
    // The dearest turn: every lane at full depth, with all its revisions.
    const dearest =
      24 +
      turn.scan.batches.length +
      (turn.steps ?? []).length +
      turn.width * turn.depth * (9 + 4 * turn.knobs.revise)
    // The first one of a launch begins in any case, and is left in its midst if it must.
    if (roundCount > 0 && agentCalls + dearest > agentLimit) return { rounds: roundCount, stop: null, continue: true }
    begin(turn, agentLimit - agentCalls - dearest)
    for (const warning of turn.warnings ?? []) log(`warning: ${warning}`)
    if (turn.direction) log(`round ${turn.round} changes direction: ${turn.direction.why}`)
    const place = { round: turn.round, lane: null, depth: null, experiment: null, worktree: null }
    // A round that an earlier launch began has its lanes.
    const laid = turn.lanes ? { ok: true, data: { lanes: turn.lanes } } : await prepareLanes(turn, place)
    if (!laid.ok) {
      if (laid.problem.code === 'stale_round') continue
      return given(laid.problem)
    }
    phase('Lanes')
    const reports = laid.data.lanes.map(({ lane }) => ({
      lane,
      experiments: [],
      learnings: [],
      suggestions: [],
    }))
    underway = { round: turn.round, token: turn.token, reports }
    await parallel(laid.data.lanes.map((lane, index) => () => runLane(turn, lane, reports[index])))
    const closed = await collect(turn, place, reports)
    if (closed.ok) underway = null
    if (!closed.ok && closed.problem.code !== 'stale_round') return given(closed.problem)
    if (!answered && !OVER.includes(closed.data?.stop)) throw new Error('no agent answered: check agent.host and its command in the spec')
    roundCount++
    // `assay loop`, which names its launch, says this from the ledger.
    if (closed.ok && settings.launch === undefined)
      log(
        `round ${turn.round}: ${closed.data.improved ? `new best ${closed.data.best.experiment} ${closed.data.best.value}` : `no new best, stall ${closed.data.stall}`}`,
      )
  }
}

// ------------------------------------------------------------------ the meta controller

const META = object(
  {
    edits: {
      type: 'array',
      items: object(
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
    },
    alerts: texts,
    stops: {
      type: 'array',
      items: object({ experiment: text, failure_class: text, reason: text, fix: text, evidence: text }, [
        'experiment',
        'reason',
        'evidence',
      ]),
    },
  },
  [],
)
const STEP = object({ findings: texts })
const FAILED_TICKS = 3
/** Agents that one look of the controller may ask, the clerk included. */
const TICK_CALLS = 10

/** Rounds by number, for what their agents are told; the first one wakes the controller. */
const turns = new Map()
let spareCalls = 0
let wake = () => {}
const firstTurn = new Promise((resolve) => {
  wake = resolve
})

function begin(turn, spare) {
  turns.set(turn.round, turn)
  spareCalls = spare
  wake(turn)
}

/** Whose directives a role hears. Those who verify and audit hear none. */
const HEARS = {
  scan: ['state', 'scan'],
  ideate: ['state', 'ideate'],
  brief: ['state', 'aggregate', 'brief'],
  implement: ['state', 'run', 'implement'],
  revise: ['run'],
  collect: ['state', 'collect'],
}

/** A prompt under the directives of its round. */
function directed(role, own, place) {
  // What the controller saw in the search is nothing for a lane that must not know of it.
  const turn = place.arm ? undefined : turns.get(place.round)
  const heard = (HEARS[role] ?? []).flatMap((target) => turn?.prompts?.[target] ?? [])
  const replaced = turn?.prompts?.[role]?.replace ?? null
  const added = heard.flatMap(({ append }) => append).map((line) => `- ${line}`)
  const body = HEARS[role] === undefined || replaced === null ? own : filled(replaced, turn, place)
  return added.length === 0 ? body : [body, 'Besides, in this round:', ...added].join('\n')
}

/** Placeholders → what they stand for. In one pass: what was put in is not looked at again. */
function filled(template, turn, place) {
  const brief = place.brief ?? {}
  const known = {
    goal: turn.goal,
    metric: `${turn.metric.name} (${turn.metric.direction})`,
    round: turn.round,
    width: turn.width,
    parents: turn.parents.map(({ experiment, why }) => `${experiment} (${why})`).join('; '),
    experiment: place.experiment,
    worktree: place.worktree,
    artifacts: place.artifacts,
    parent: brief.parent,
    objective: `\n${quoted(brief.objective)}\n`,
    experiments: (brief.experiments ?? []).join(', '),
    why: brief.why,
  }
  return template.replace(/\{(\w+)\}/g, (whole, name) =>
    Object.hasOwn(known, name) ? String(known[name] ?? '') : whole,
  )
}

/** What the steps at a seam say, as findings. */
async function injected(turn, seam, place) {
  const steps = (turn.steps ?? []).filter((step) => step.seam === seam)
  const answers = await parallel(
    steps.map(
      (step) => () =>
        askRole(
          'step',
          `${step.text}\n\nYou may read everything (assay tree, assay show ID, assay diff ID), and change nothing. Answer with findings, one sentence each, with what shows it; none is a good answer.`,
          { ...place, edit: step.edit, seam, capsule: capsule(turn) },
          STEP,
        ),
    ),
  )
  return answers.flatMap((answer) =>
    (answer?.findings ?? []).slice(0, 10).map((message) => ({ kind: seam, message: message.slice(0, 1000) })),
  )
}

/** Looks while the rounds run, an interval apart, and never longer than they do. */
async function metaThread(over) {
  const ended = over.then(() => null)
  const turn = await Promise.race([firstTurn, ended])
  if (!turn?.meta) return
  // No two launches may share the name of a look: the journal would answer for it.
  const launch = settings.launch ?? turn.token
  let failed = 0
  for (let tick = 1; failed < FAILED_TICKS; tick++) {
    if (await isOver(ended, turn.meta.every_ms)) return
    const looked = await Promise.race([look(`${launch}.${tick}`, turn).catch(lookFailed), ended])
    if (looked === null) return
    failed = looked === true ? 0 : failed + 1
  }
  steered.alerts.push(`the meta controller failed ${FAILED_TICKS} times in a row and was switched off`)
  log(steered.alerts.at(-1))
}

const steered = { edits: [], alerts: [], stops: [] }

function lookFailed(error) {
  log(`meta: ${error.message}`)
  return false
}

/** Waits, by the script's own timer: no agent is held meanwhile. True when the rounds ended first. */
function isOver(ended, ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    ended.then(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}

/** One look: an agent is asked only about facts that are new. False when it failed. */
async function look(name, { goal, round }) {
  if (spareCalls < TICK_CALLS) return true
  spareCalls--
  const seen = await assay(`meta due --claim ${name}`)
  if (!seen.ok) return false
  const { due, tick, facts } = seen.data
  if (!due || tick === null || facts.length === 0) return true
  spareCalls--
  const answer = await askRole(
    'meta',
    metaPrompt(goal, facts),
    {
      round: Math.max(round, ...turns.keys()),
      lane: null,
      depth: null,
      experiment: null,
      worktree: null,
      brief: { facts, knobs: seen.data.knobs, phases: seen.data.phases, edits: seen.data.edits },
      capsule: {},
    },
    META,
  )
  if (answer === null) return false
  let worked = true
  for (const stop of (answer.stops ?? []).slice(0, TICK_CALLS - 3)) worked = (await enforce(stop, facts, tick)) && worked
  const alerts = answer.alerts ?? []
  for (const alert of alerts) log(`meta: ${alert}`)
  spareCalls--
  // Also when there is nothing to change: that the facts were answered is what keeps them from being told again.
  const done = await assay(`meta apply --key meta/${tick}/apply`, { tick, edits: answer.edits ?? [], alerts })
  for (const { index, message } of done.data?.refused ?? []) log(`meta: edit ${index + 1} refused: ${message}`)
  return done.ok && worked
}

function metaPrompt(goal, facts) {
  return `You watch over a search for: ${goal}
What the CLI sees, new since you were last asked:
${quoted(facts.map(({ name, message }) => `${name}: ${message}`).join('\n'))}
Judge whether it calls for anything. Doing nothing is the usual answer. An edit holds from the next round on, and has a rationale and evidence: the name of a fact above, or an experiment. Kinds:
- {kind: knob, knob, value}: width, depth, stall, ideate_stall, ideate_keeps, scan_batch, scan_max
- {kind: phase, phase, on}: scan, ideate
- {kind: prompt, prompt, mode, text}: append to state, scan, aggregate, brief, implement, run, ideate or collect; replace keeps the prompt's placeholders, which its refusal names
- {kind: step, seam, text, rounds}: another agent's task at before-scan, after-scan, before-brief or after-collect, for so many rounds
- {kind: undo, edit}: takes an earlier one back, by its id
Verifier, gates, benchmark and verdict are not yours. Do not stop an experiment (stops) unless a fact about that very one shows that it cannot come to a result: name that fact as evidence, and the fix for the next try. An alert is a sentence that a person should read.`
}

const CLASSES = ['build', 'eval', 'hypothesis', 'environment']

/** Stops an experiment when a fact about it is the evidence. What an agent says is quoted, and never in a model's shell. */
async function enforce({ experiment, failure_class, reason, fix, evidence }, facts, tick) {
  const grounds = facts.find(({ name, experiments }) => name === evidence && experiments.includes(experiment))
  if (!/^exp_\d{4,}$/.test(experiment) || grounds === undefined) {
    log(`meta: ${String(experiment).slice(0, 20)} goes on: ${String(evidence).slice(0, 100)} is no fact about it`)
    return true
  }
  spareCalls--
  const about = CLASSES.includes(failure_class) ? failure_class : 'environment'
  const done = await assay(
    `abort ${experiment} --if-running --failure-class ${about} --reason ${word(reason)}${fix ? ` --fix ${word(fix)}` : ''} --key meta/${tick}/${experiment}`,
  )
  if (done.ok) log(`meta: ${experiment} ${done.data.aborted ? 'was stopped' : 'was not running any more'}`)
  return done.ok
}

/** What was steered in this run, earlier launches included, as the ledger has it. */
async function steering() {
  if (![...turns.values()].some(({ meta: on }) => on)) return steered
  const seen = await assay('meta due')
  if (!seen.ok) return steered
  const { edits, alerts, stops } = seen.data
  return { edits, alerts: [...alerts, ...steered.alerts], stops }
}

// Threads of their own, so that what one asks never changes which answers of the other are known after a restart.
let finish = () => {}
const over = new Promise((resolve) => {
  finish = resolve
})
let failure = null
const [ended] = await parallel([
  async () => {
    try {
      return await rounds()
    } catch (error) {
      if (error === OUT_OF_CALLS) return { rounds: roundCount, stop: null, continue: true }
      failure = error
      return null
    } finally {
      await handOver().catch(() => {})
      roundsOver = true
      finish()
    }
  },
  () => metaThread(over),
])
if (failure !== null) throw failure
ending = null
const outcome = await steering()
const status = await assay('status')
const facts = status.ok ? status.data : {}
return {
  ...ended,
  best: facts.best ?? null,
  baseline: facts.baseline ?? null,
  counts: facts.counts ?? null,
  knobs: facts.knobs ?? null,
  ...outcome,
  usage: { agents: agentCalls, output_tokens: budget.spent() },
}
