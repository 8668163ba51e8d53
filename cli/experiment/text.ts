/** An experiment whose candidate is a text of a suite that the CLI was given: no agent edits its worktree. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readBlob } from '../git/trees.ts'
import type { MadeText } from '../ledger/events.ts'
import { lastAttempt } from '../ledger/state.ts'
import { nodeFor, pathOfText, seal, snapshot } from '../measure/seal.ts'
import { baseOf, judgedCommit } from '../measure/worktree.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import type { TextArtifact } from '../suite/config.ts'
import { createExperiment } from './create.ts'

/** A text as an experiment was judged with it. Problem `text_gone`. */
export async function artifactText(
  run: OpenRun,
  experiment: string,
  { name, file }: Pick<TextArtifact, 'name' | 'file'>,
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
  if (file === undefined) throw new Error(`the suite has no artifact ${request.artifact}`)
  writeFileSync(join(made.value.worktree, pathOfText(run, file)), request.content)
  const taken = await snapshot(run, node.value)
  if (!taken.ok) return taken
  const sealed = await seal(run, node.value, taken.value, null)
  return sealed.ok || lastAttempt(node.value) ? ok(node.value.id) : sealed
}
