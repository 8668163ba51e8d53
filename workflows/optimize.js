export const meta = {
  name: 'optimize',
  description: 'Search for a better version of a repository: rounds of briefs, lanes and verdicts that Assay measures.',
  whenToUse: 'A run was started with assay init and its baseline is measured.',
  phases: [
    { title: 'Orient', detail: 'where the run stands, and the parents of this round' },
    { title: 'Scan', detail: 'what the last verdicts have in common' },
    { title: 'Ideate', detail: 'new directions after a stall or many keeps' },
    { title: 'Brief', detail: 'one written assignment a lane' },
    { title: 'Lanes', detail: 'implement, verify, run, audit; deeper after a keep' },
    { title: 'Collect', detail: 'what was learnt' },
  ],
}

// The script is control only: it calls agents, and asks the CLI through the clerk. It never decides a score, and it
// branches on ids, statuses and `stop` alone.

const settings = typeof args === 'string' ? JSON.parse(args || '{}') : (args ?? {})
const onRun = settings.run ? ` --run ${settings.run}` : ''
/** A host that caps the agents of one launch is left in time, and launched again. */
const agentLimit = Number.isInteger(settings.agents) ? settings.agents : Infinity
const WAIT = '90s'
let agentCalls = 0
/** Whether any agent has answered: one that never does is a broken host, not an agent without ideas. */
let answered = false

// ------------------------------------------------------------------ the CLI

/** One command of the CLI: `{ok, data | problem}`, as its one line of JSON says. */
async function assay(command, input) {
  const head = `assay ${command}${onRun} --json`
  const body = input === undefined ? head : `${head} <<'ASSAY'\n${JSON.stringify(input)}\nASSAY`
  const text = await ask('```sh\n' + body + '\n```', {
    agentType: 'assay:clerk',
    label: `assay ${command}`,
  })
  const line = String(text ?? '')
    .split('\n')
    .findLast((candidate) => candidate.trim().startsWith('{"ok":'))
  if (line === undefined)
    return { ok: false, problem: { code: 'no_answer', message: `no answer to: assay ${command}` } }
  try {
    return JSON.parse(line)
  } catch {
    return {
      ok: false,
      problem: { code: 'bad_answer', message: `the answer to assay ${command} is not JSON` },
    }
  }
}

/** A word for the clerk's shell block: single quotes, on one line. */
const word = (text) => `'${String(text).replace(/\s+/g, ' ').replaceAll("'", '’').slice(0, 500)}'`

/** What a benchmark or another agent said, inside a prompt: cut, and in a fence longer than any in it. */
function quoted(said) {
  const cut = String(said).slice(0, 4000)
  const longest = Math.max(2, ...(cut.match(/`+/g) ?? []).map((ticks) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${cut}\n${fence}`
}

async function ask(prompt, options) {
  agentCalls++
  return agent(prompt, options)
}

/** An agent whose failure costs its lane, never the run. */
async function askRole(role, text, place, answer, phaseTitle) {
  const card = { assay: 1, role, run: settings.run ?? null, ...place, answer }
  const about = place.experiment ? ` ${place.experiment}` : ''
  const prompt = `Read this first, it is short: assay context${about}${onRun}\n\n${text}\n\n\`\`\`json\n${JSON.stringify(card)}\n\`\`\``
  const label = [role, place.lane ? `lane ${place.lane}` : '', place.experiment ?? '']
    .filter(Boolean)
    .join(' ')
  try {
    const reply = await ask(prompt, { label, phase: phaseTitle, schema: answer })
    answered ||= reply !== null
    return reply
  } catch (error) {
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
  findings: { type: 'array', items: object({ kind: text, message: text, evidence: text }, ['message']) },
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

async function scan(turn, place) {
  phase('Scan')
  const found = await parallel(
    turn.scan.batches.map(
      (batch, index) => () =>
        askRole(
          'scan',
          `Read what Assay recorded of ${batch.join(', ')} (assay show ID, assay diff ID). Say what they have in common: a shared cause, a wall, a failure that several share. Quote the output that shows it, word for word. No finding is a good answer.`,
          { ...place, batch: index + 1, brief: { experiments: batch }, capsule: capsule(turn) },
          SCANNED,
          'Scan',
        ),
    ),
  )
  return found.flatMap((answer) => answer?.findings ?? [])
}

async function ideate(turn, place, findings) {
  if (!turn.ideate) return
  phase('Ideate')
  const answer = await askRole(
    'ideate',
    `Propose new directions for: ${turn.goal}\nWhy now: ${turn.ideate.why}. Each idea is one testable sentence that differs in mechanism from what was tried (assay tree, assay show ID). No idea is better than a weak one.`,
    { ...place, brief: { why: turn.ideate.why, findings }, capsule: capsule(turn) },
    IDEAS,
    'Ideate',
  )
  if (answer?.ideas.length) await assay('propose', { ideas: answer.ideas })
}

async function writeBriefs(turn, place, findings) {
  if (turn.width === 0) return []
  phase('Brief')
  const prompt = `Write at most ${turn.width} briefs for: ${turn.goal}
The metric is ${turn.metric.name} (${turn.metric.direction}). Parents of this round: ${turn.parents.map(({ experiment, why }) => `${experiment} (${why})`).join('; ')}.
A brief says where the gain hides and what must not change; it does not dictate the edit. Several may share a parent. Do not pad: fewer good ones are better. Mark a brief as hard when it needs a stronger model.${told(turn)}`
  const open = { parents: turn.parents, width: turn.width }
  const fields = {
    ...place,
    brief: { ...open, findings, patterns: turn.patterns, proposals: turn.proposals },
    capsule: { ...capsule(turn), open },
  }
  const answer =
    (await askRole('brief', prompt, fields, BRIEFS, 'Brief')) ??
    (await askRole('brief', prompt, { ...fields, again: 1 }, BRIEFS, 'Brief'))
  return (answer?.briefs ?? []).map((brief, index) => ({
    parent: turn.parents[index % turn.parents.length].experiment,
    kind: 'edit',
    boundaries: [],
    pointers: [],
    hard: false,
    ...brief,
  }))
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

async function runLane(round, lane) {
  // The baseline arm makes one try, and knows nothing of the search.
  const turn = lane.arm ? { ...round, depth: 1, best: null, learnings: [], notes: [], steering: [] } : round
  const report = { lane: lane.lane, learnings: [], suggestions: [] }
  let parent = lane.parent
  for (let depth = 1; depth <= turn.depth; depth++) {
    const at = `--round ${turn.round} --lane ${lane.lane} --depth ${depth}`
    const key = `r${turn.round}/l${lane.lane}/d${depth}/new`
    const made = await assay(`new --parent ${parent} ${at} --key ${key} -m ${word(lane.brief.objective)}`)
    if (!made.ok) {
      log(`lane ${lane.lane} ends: ${made.problem.message}`)
      break
    }
    const { experiment, worktree, artifacts } = made.data
    const place = {
      round: turn.round,
      lane: lane.lane,
      depth,
      experiment,
      worktree,
      artifacts,
      brief: { ...lane.brief, parent },
    }
    if (!(await prepare(turn, place, report))) break
    const verdict = await judge(turn, place)
    if (verdict?.status !== 'kept') break
    if (!(await survivesAudit(turn, place))) break
    parent = experiment
  }
  return report
}

/** Implement, then verify and revise until a seal passes. False when the lane gives up. */
async function prepare(turn, place, report) {
  const { experiment } = place
  const fields = { ...place, capsule: capsule(turn) }
  let answer = await askRole('implement', implementPrompt(turn, place), fields, IMPLEMENTED, 'Lanes')
  for (let revision = 0; answer !== null; revision++) {
    report.learnings.push(...(answer.learnings ?? []))
    report.suggestions.push(...(answer.suggestions ?? []))
    const findings = await verify(turn, fields, answer)
    if (findings.length === 0) return true
    if (revision >= turn.knobs.revise) break
    answer = await askRole(
      'revise',
      `Your candidate ${experiment} in ${place.worktree} was not accepted. Mend exactly what the findings name, in that folder only:\n${quoted(findings.map(({ message }) => `- ${message}`).join('\n'))}`,
      { ...fields, revision: revision + 1, findings },
      IMPLEMENTED,
      'Lanes',
    )
  }
  // Without an answer the idea was not tried: an agent that failed, or that the budget no longer pays for.
  const [kind, why] =
    answer === null
      ? ['environment', 'the agent gave no answer']
      : ['hypothesis', 'no candidate passed verification']
  await assay(`discard ${experiment} --failure-class ${kind} --reason ${word(why)}`)
  return false
}

function implementPrompt(turn, place) {
  return `You improve one thing: ${turn.goal}
Metric: ${turn.metric.name} (${turn.metric.direction}). Your experiment is ${place.experiment}, a copy of ${place.brief.parent}.
Edit files only inside ${place.worktree}; an expensive output (a checkpoint, an index) belongs in ${place.artifacts}. Do not commit, and do not run the benchmark for a score: Assay measures.
Objective:
${quoted(place.brief.objective)}
Make one concrete change, leave the folder in a state that builds, and say in one sentence what you changed and what you expect.`
}

/** What stands against the candidate: the CLI's own checks first, then an agent's reading. An agent that fails is no finding. */
async function verify(turn, fields, answer) {
  const sealed = await assay(
    `seal ${fields.experiment}${answer.hypothesis ? ` -m ${word(answer.hypothesis)}` : ''}`,
  )
  if (!sealed.ok)
    return [{ message: [sealed.problem.message, sealed.problem.hint].filter(Boolean).join(': ') }]
  const checked = await assay(`check ${fields.experiment}`)
  if (checked.ok && !checked.data.passed) return checked.data.findings
  const read = await askRole(
    'verify',
    `Read the candidate ${fields.experiment} (assay diff ${fields.experiment}) before it is measured. Does it leak expected answers, special-case the input, narrow the evaluation, cache across runs, or claim something that it does not do? Unsure = not passed. Do not change any file.`,
    { ...fields, claim: answer },
    VERIFIED,
    'Lanes',
  )
  if (!read || read.passed) return []
  return read.findings?.length ? read.findings : [{ message: 'the verifier did not pass it' }]
}

/** Runs the seal and waits for its verdict; no call blocks longer than a host's shell tool allows. */
async function judge(turn, place) {
  let mended = false
  for (let tries = 0; tries < 4; tries++) {
    const begun = await assay(`run ${place.experiment} --detach`)
    if (!begun.ok && begun.problem.code === 'unsealed_changes') {
      // Something wrote into the worktree after the seal, a test cache for example: what is there now is sealed.
      await assay(`seal ${place.experiment}`)
      continue
    }
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
    if (again === null || (await verify(turn, { ...place, capsule: capsule(turn) }, again)).length > 0)
      return verdict
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
  if (!read?.findings.length) return true
  const audited = await assay(`audit ${place.experiment}`, {
    findings: read.findings.map((finding) => ({ code: 'opinion', ...finding })),
  })
  return audited.ok && audited.data.status === 'kept' && !audited.data.flagged
}

// ------------------------------------------------------------------ the loop

async function collect(turn, place, reports) {
  phase('Collect')
  const answer = await askRole(
    'collect',
    `Round ${turn.round} is over. Read its verdicts, the rejected ones too (assay tree, assay show ID). What should the next round know that the numbers do not say? A learning is one sentence with its evidence.`,
    { ...place, brief: { lanes: reports }, capsule: capsule(turn) },
    COLLECTED,
    'Collect',
  )
  const lanes = answer ? [...reports, { lane: 0, ...answer }] : reports
  return assay(`round close --token ${turn.token}`, { lanes })
}

async function rounds() {
  let count = 0
  for (;;) {
    phase('Orient')
    const opened = await assay('round open')
    if (!opened.ok) throw new Error(opened.problem.message)
    const turn = opened.data
    if (turn.stop !== null) return { rounds: count, stop: turn.stop }
    if (Number.isInteger(settings.rounds) && count >= settings.rounds) return { rounds: count, stop: null }
    // The dearest turn: every lane at full depth, with all its revisions.
    const dearest = 20 + turn.scan.batches.length + turn.width * turn.depth * (8 + 4 * turn.knobs.revise)
    if (agentCalls + dearest > agentLimit) return { rounds: count, stop: null, continue: true }
    const place = { round: turn.round, lane: null, depth: null, experiment: null, worktree: null }
    const findings = await scan(turn, place)
    await ideate(turn, place, findings)
    const briefs = await writeBriefs(turn, place, findings)
    const laid = await assay(`round briefs --token ${turn.token}`, { briefs })
    if (!laid.ok) {
      if (laid.problem.code === 'stale_round') continue
      throw new Error(laid.problem.message)
    }
    for (const { message } of laid.data.refused) log(`brief refused: ${message}`)
    phase('Lanes')
    const reports = await parallel(laid.data.lanes.map((lane) => () => runLane(turn, lane)))
    const closed = await collect(turn, place, reports.filter(Boolean))
    if (!closed.ok && closed.problem.code !== 'stale_round') throw new Error(closed.problem.message)
    if (!answered) throw new Error('no agent answered: check agent.host and its command in the spec')
    count++
    if (closed.ok)
      log(
        `round ${turn.round}: ${closed.data.improved ? `new best ${closed.data.best.experiment} ${closed.data.best.value}` : `no new best, stall ${closed.data.stall}`}`,
      )
  }
}

/** Steers while the rounds run. It has nothing to do yet. */
async function metaThread() {
  return { edits: [], alerts: [], stops: [] }
}

const [ended, steered] = await Promise.all([rounds(), metaThread()])
const status = await assay('status')
const facts = status.ok ? status.data : {}
return {
  ...ended,
  best: facts.best ?? null,
  baseline: facts.baseline ?? null,
  counts: facts.counts ?? null,
  knobs: facts.knobs ?? null,
  ...steered,
  usage: { agents: agentCalls, output_tokens: budget.spent() },
}
