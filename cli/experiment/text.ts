/** An experiment whose candidate is a text of a suite that the CLI was given: no agent edits its worktree. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readBlob } from '../git/trees.ts'
import { bestOf } from '../ledger/best.ts'
import type { MadeText } from '../ledger/events.ts'
import { BASELINE, lastAttempt, lastJudged } from '../ledger/state.ts'
import { versionsOf } from '../ledger/texts.ts'
import type { RunAnswer } from '../measure/run-answer.ts'
import { pathOfText, seal, snapshot } from '../measure/seal.ts'
import { baseOf, judgedCommit } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { isExperimentId } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import type { SuiteText } from '../suite/config.ts'
import { createExperiment } from './create.ts'
import { submit } from './submit.ts'

/** A text as an experiment was judged with it. Problem `text_gone`. */
export async function suiteTextContent(
  run: OpenRun,
  experiment: string,
  { name, file }: Pick<SuiteText, 'name' | 'file'>,
): Promise<Result<string>> {
  const { commit } = judgedCommit(run, experiment) ?? baseOf(run, experiment)
  const blob = await readBlob(run.site, commit, pathOfText(run, file))
  if (!blob.ok) return blob
  if (blob.value !== null) return ok(blob.value.toString('utf8'))
  return fail({
    kind: 'failed',
    code: 'text_gone',
    message: `${experiment} has no file ${file}, the text of ${name}`,
    hint: 'add the file to the repository, then start a new run',
  })
}

export interface TextRequest {
  parent: string
  artifact: string
  content: string
  hypothesis: string
  /** Of the loop; null = by hand. */
  round: number | null
  key: string | null
  text: MadeText
}

/** Opens it and seals its candidate; answers its id. The same key gives the same experiment, continued where it ended. */
export async function makeTextExperiment(run: OpenRun, request: TextRequest): Promise<Result<string>> {
  const { parent, hypothesis, key, text, round } = request
  const place = round === null ? null : { round, lane: null, depth: null }
  const made = await createExperiment(run, { parent, hypothesis, key, place, text })
  if (!made.ok) return made
  const node = nodeFor(run, made.value.experiment)
  if (!node.ok) return node
  if (lastAttempt(node.value)) return ok(node.value.id)
  const file = run.spec.measure.suite?.artifacts.find(({ name }) => name === request.artifact)?.file
  if (file === undefined) throw new Error(`the suite has no text ${request.artifact}`)
  writeFileSync(join(made.value.worktree, pathOfText(run, file)), request.content)
  const taken = await snapshot(run, node.value)
  if (!taken.ok) return taken
  const sealed = await seal(run, node.value, taken.value, null)
  return sealed.ok || lastAttempt(node.value) ? ok(node.value.id) : sealed
}

/**
 * An experiment with a text that was measured before, measured like any other. `wanted`: a version, or the experiment that had the
 * text. Problems: no suite, no such text, version or experiment, or it is the text that is active.
 */
export async function restoreText(
  run: OpenRun,
  { name, wanted, key }: { name: string; wanted: string; key: string | null },
): Promise<Result<RunAnswer>> {
  const { state } = run.ledger
  const artifact = suiteTextNamed(run, name)
  if (!artifact.ok) return artifact
  const from = sourceOf(run, name, wanted)
  if (!from.ok) return from
  const { experiment, version } = from.value
  const content = await suiteTextContent(run, experiment, artifact.value)
  if (!content.ok) return content
  const parent = bestOf(state)?.id ?? BASELINE
  const active = await suiteTextContent(run, parent, artifact.value)
  if (!active.ok) return active
  const told = version === null ? `the text of ${name} in ${experiment}` : `version ${version} of ${name}`
  if (active.value === content.value && !run.ledger.answeredBefore(['created'], key))
    return fail({
      kind: 'refused',
      code: 'is_active',
      message: `${told} is the text that is active`,
      hint: next`name a different one: ${call('artifact', name)}`,
    })
  const made = await makeTextExperiment(run, {
    parent,
    artifact: name,
    content: content.value,
    hypothesis: `${told} again`,
    round: null,
    key,
    text: { by: 'restore', artifact: name, version },
  })
  return made.ok ? submit(run, made.value, { asSealed: true }) : made
}

/** Which experiment had the text. Problems `unknown_version`, `no_verdict`, or those of an unknown experiment. */
function sourceOf(
  run: OpenRun,
  name: string,
  wanted: string,
): Result<{ experiment: string; version: number | null }> {
  const versions = versionsOf(run.ledger.state, name)
  const known = versions.find((one) => String(one.version) === wanted || one.experiment === wanted)
  if (known) return ok(known)
  if (isExperimentId(wanted)) {
    const node = nodeFor(run, wanted)
    if (!node.ok) return node
    if (lastJudged(node.value)) return ok({ experiment: node.value.id, version: null })
    return fail({
      kind: 'refused',
      code: 'no_verdict',
      message: `${wanted} has no verdict, so its text of ${name} was never measured`,
      hint: next`measure it: ${call('run', wanted)}`,
    })
  }
  return fail({
    kind: 'usage',
    code: 'unknown_version',
    message: `${name} has no version ${wanted}`,
    hint: next`its versions, and the experiments that were not kept: ${call('artifact', name)}`,
  })
}

export const noSuite = ({ run }: OpenRun): Problem => ({
  kind: 'refused',
  code: 'no_suite',
  message: `the spec of ${run} has no suite, so no text is learnt`,
  hint: next`declare one: ${call('guide', 'spec', 'suite')}`,
})

/** Problems `no_suite`, `unknown_artifact`. */
export function suiteTextNamed(run: OpenRun, name: string): Result<SuiteText> {
  const { suite } = run.spec.measure
  if (!suite) return fail(noSuite(run))
  const found = suite.artifacts.find((one) => one.name === name)
  if (found) return ok(found)
  return fail({
    kind: 'usage',
    code: 'unknown_artifact',
    message: `the suite ${suite.name} has no text ${name}`,
    hint: `its texts are: ${suite.artifacts.map((one) => one.name).join(', ')}`,
  })
}

/** A version of a text of the newest of these runs that has it in a suite of that name. Problem `unknown_version`. */
export async function textOfVersion(
  runs: readonly OpenRun[],
  { suite, artifact, version }: { suite: string; artifact: string; version: number },
): Promise<Result<string>> {
  for (const run of [...runs].reverse()) {
    if (run.spec.measure.suite?.name !== suite) continue
    const known = run.spec.measure.suite.artifacts.find(({ name }) => name === artifact)
    const found = versionsOf(run.ledger.state, artifact)[version]
    if (known && found) return suiteTextContent(run, found.experiment, known)
  }
  return fail({
    kind: 'refused',
    code: 'unknown_version',
    message: `no run of the suite ${suite} in this repository has a version ${version} of ${artifact}`,
    hint: `write the text into its file, and 0 in the place of ${version}`,
  })
}
