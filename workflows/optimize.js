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

// The script is control only. `assay round next` says which agents must do what (its tasks), and does by itself all that
// needs none: it creates experiments, seals, checks, measures and closes rounds. Each agent reads its task from the CLI and
// hands its answer in there, so that no prompt, schema or score is here.

const settings = typeof args === 'string' ? JSON.parse(args || '{}') : (args ?? {})
const onRun = settings.run ? ` --run ${settings.run}` : ''
/** The loop of Assay itself says which launch it is; there the number of agents has no cap, and a clerk costs nothing. */
const isCapped = settings.launch === undefined
/** A host's cap on the agents of one launch: left in time, and launched again. */
const mostAgents = Number.isInteger(settings.agents) ? settings.agents : isCapped ? 1000 : Infinity
/** Of these, for the end: what says that an agent gave no answer, in each lane, and two questions, each asked twice. */
const [LAST_CALLS, LAST_WORDS] = [20, 4]
/** No command may take longer than the shell tool of a host allows, which is two minutes. */
const WAIT = '90s'
/** `answered`: whether any agent did; null = none was asked. One that never does is a broken host, not an agent without ideas. */
let [agentCalls, roundCount, answered] = [0, 0, null]

// ------------------------------------------------------------------ why this launch ends

/** Thrown by every further call: the ledger has what was done, and the next launch continues from there. */
let ending = null
/** Who drives instead: nothing is broken, and nothing is left to do here. */
let driven = null
/** Not even what says that an agent gave no answer may be asked. */
let isDenied = false
const OUT_OF_CALLS = new Error('the agents of this launch are used up')
/** To wait for its end would cost a call of a clerk every two minutes. */
const PAUSED = new Error('a person paused the loop')
/** Ends that also say why no agent was asked, or needed. */
const OVER = ['budget', 'user', 'target']
/** The same words as `assay install claude-code` has. */
const ALLOW =
  'in ~/.claude/settings.json, or .claude/settings.json of a folder that you trust: "permissions": { "allow": ["Bash(assay *)", "Edit(.assay/w/**)", "Workflow"] }'

const end = (error) => (ending ??= error)

// ------------------------------------------------------------------ the CLI

/** One agent. `reserve`: how many calls of the launch must be left for what comes after it. */
async function ask(prompt, options, reserve) {
  if (agentCalls >= mostAgents - reserve) throw end(OUT_OF_CALLS)
  agentCalls++
  return agent(prompt, options)
}

/**
 * One command of the CLI, by a clerk: `{ok, data | problem}`. Its answer may be lost on the way, so it is asked for once
 * more: every command here may be repeated.
 */
async function assay(command, reserve) {
  const prompt = '```sh\n' + `assay ${command}${onRun} --json` + '\n```'
  const options = { agentType: 'assay:clerk', label: `assay ${command}` }
  const answer =
    lineIn(await ask(prompt, options, reserve)) ??
    lineIn(await ask(prompt, options, reserve)) ?? { ok: false, problem: { message: `no answer to: assay ${command}` } }
  const { code, message, hint } = answer.problem ?? {}
  if (code === 'denied') {
    // Nothing works without it, and each further call would ask a person the same.
    isDenied = true
    throw end(new Error(`the host does not let its agents run assay: ${message}\n${ALLOW}`))
  }
  // Every lane of every round would be told the same.
  if (['disk_full', 'objects_damaged'].includes(code)) throw end(new Error([message, hint].filter(Boolean).join('; ')))
  if (code !== 'driven') return answer
  driven = `${message}; ${hint}`
  throw end(new Error(message))
}

/** What the last line of a text that is an answer of the CLI says; null without one. */
function lineIn(text) {
  const line = `${text ?? ''}`.split('\n').findLast((candidate) => candidate.trim().startsWith('{"ok":'))
  try {
    return line === undefined ? null : JSON.parse(line)
  } catch {
    return null
  }
}

const told = new Set()
const once = (key, said) => told.has(key) || (told.add(key), log(said))

/** What agents must do now, of the round or of one lane: `{round, over, tasks, measuring, lanes}`. Waits until there is something. */
async function next(flags) {
  if (ending !== null) throw ending
  const { ok, data, problem } = await assay(`round next${flags} --wait ${WAIT}`, LAST_CALLS)
  if (!ok) throw end(new Error(problem.message))
  if (data.line) once(data.round, data.line)
  if (data.paused) {
    once(data.paused.since, `paused: ${data.paused.why}; to continue: assay loop resume`)
    if (isCapped) throw end(PAUSED)
  }
  for (const alert of data.alerts) once(alert, `warning: ${alert}`)
  steer(data.tasks.filter(({ role }) => role === 'meta'))
  return { ...data, tasks: data.tasks.filter(({ role }) => role !== 'meta') }
}

// ------------------------------------------------------------------ one task

/** Of roles that only read: the agents that come with Assay. */
const READERS = {
  scan: 'assay:scanner',
  ideate: 'assay:ideator',
  verify: 'assay:verifier',
  audit: 'assay:verifier',
  meta: 'assay:meta',
}

/** Has an agent do a task and hand in its answer. What comes next, as the CLI says; null = that is to be asked. */
async function perform({ id, role, label, phase: title, model, effort }) {
  if (ending !== null) throw ending
  answered ??= false
  const prompt = `Run \`assay task ${id}${onRun}\` and follow it. Hand in your answer as it says. Your last words are the line of JSON that this prints, unchanged.`
  const given = { label, phase: title, agentType: READERS[role], model, effort }
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value != null))
  let answer = null
  try {
    answer = lineIn(await ask(prompt, options, LAST_CALLS))
  } catch (error) {
    if (ending !== null) throw ending
    log(`${label}: ${error.message}`)
  }
  if (answer?.ok === true && answer.data?.next) {
    answered = true
    return answer.data.next
  }
  if (isDenied) throw ending
  // An edit that it left is sealed and judged all the same; an answer that it handed in counts.
  const { ok, data } = await assay(`answer ${id} --none`, LAST_WORDS)
  answered ||= ok && (data.repeated === true || data.attempt > 0)
  return ok ? data.next : null
}

// ------------------------------------------------------------------ the rounds

/** What the agents of one phase do side by side, and what follows from it in the same phase. */
async function inPhase(title, seen, flags) {
  for (;;) {
    const tasks = seen.tasks.filter((task) => task.phase === title)
    if (tasks.length === 0) return seen
    phase(title)
    const [only, ...others] = await parallel(tasks.map((task) => () => perform(task)))
    if (ending !== null) throw ending
    seen = only && others.length === 0 ? only : await next(flags)
  }
}

/** One chain of experiments: implement, verify, revise, run, audit, and deeper after a keep. It waits for no other lane. */
async function runLane(lane, first) {
  let seen = first
  while (seen.round === first.round && seen.lanes.includes(lane)) {
    const task = seen.tasks.find((one) => one.lane === lane)
    seen = (task && (await perform(task))) ?? (await next(` --lane ${lane}`))
  }
}

/** Why no further round is opened. */
async function rounds() {
  let [last, round] = [null, null]
  for (;;) {
    phase('Orient')
    // If no agent answers, no further round is begun.
    const opened = await next(round === null || answered !== false ? '' : ` --until ${round}`)
    if (opened.over !== null && (answered !== false || roundCount === 0 || OVER.includes(opened.over))) return opened.over
    if (opened.over !== null) throw new Error('no agent answered: check agent.host and its command in the spec')
    const current = opened.round ?? opened.closed ?? null // null: a person holds the loop
    if (current === null) continue
    round = current
    if (Number.isInteger(settings.rounds)) last ??= round + settings.rounds - 1
    const within = ` --until ${round}`
    let seen = await inPhase('Scan', opened, within)
    seen = await inPhase('Ideate', seen, within)
    seen = await inPhase('Brief', seen, within)
    if (seen.lanes.length > 0) {
      phase('Lanes')
      await parallel(seen.lanes.map((lane) => () => runLane(lane, seen)))
      if (ending !== null) throw ending
      seen = await next(within)
    }
    seen = await inPhase('Collect', seen, within)
    if (seen.round === round) continue
    roundCount++
    // Without a further call: where the calls of the launch are used up, it would be continued for nothing.
    if (round === last && answered !== false) return 'until'
  }
}

// ------------------------------------------------------------------ the meta controller

const looks = []
let wake = () => {}

/** The CLI hands each look to one caller only. */
function steer(tasks) {
  looks.push(...tasks)
  wake()
}

/** Has an agent look while the rounds run, and never waits longer than they do. */
async function steering(over) {
  for (;;) {
    const look = looks.shift()
    const done = look ? perform(look).catch((error) => log(`meta: ${error.message}`)) : null
    const woken = new Promise((resolve) => (wake = resolve))
    if ((await Promise.race([over, done ?? woken])) === 'over') return
  }
}

// Branches of their own, so that what one asks never changes which answers of the other are known after a restart.
let finish
const over = new Promise((resolve) => (finish = () => resolve('over')))
let failure = null
const [stop] = await parallel([
  () =>
    rounds()
      .catch((error) => {
        failure = error
        return null
      })
      .finally(finish),
  () => steering(over),
])
const isCut = failure === OUT_OF_CALLS || failure === PAUSED
if (failure !== null && !isCut && driven === null) throw failure
const [status, steered] = [await assay('status', 2), await assay('meta due', 0)]
const { best = null, baseline = null, counts = null, knobs = null, paused = null } = status.data ?? {}
const { edits = [], alerts = [], stops = [] } = steered.data ?? {}
const left = Number.isInteger(settings.rounds) ? { rounds: settings.rounds - roundCount } : {}
return {
  rounds: roundCount,
  stop: stop === 'until' ? (status.data?.stop ?? null) : stop,
  ...(driven === null ? {} : { driven }),
  ...(isCut ? { continue: { ...settings, ...left } } : {}),
  ...(paused === null ? {} : { paused }),
  ...{ best, baseline, counts, knobs, edits, alerts, stops },
  usage: { agents: agentCalls, output_tokens: budget.spent() },
}
