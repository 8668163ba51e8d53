/** `show`: all that is known of one experiment. */
import { counted, duration, gainText, shown } from '../evaluate/figure.ts'
import { type Experiment, lastJudged, undermined } from '../ledger/state.ts'
import { type Undeclared, undeclaredFiles } from '../measure/artifacts.ts'
import { recompute } from '../measure/recompute.ts'
import { call, next, type Said } from '../next.ts'
import { ok, type Result } from '../result.ts'
import { otherThanBaseline } from '../run/machine.ts'
import type { OpenRun } from '../run/open.ts'
import type { VerbAnswer } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { type AttributionView, attributionView, partLines } from '../view/attribution.ts'
import { explainVerdict } from '../view/explain.ts'
import { itemsLines } from '../view/judging.ts'
import { showData } from '../view/node.ts'
import { onExperiment } from './verb.ts'

export const run = onExperiment(async (opened, node, args) => {
  if (args.on('recompute')) return recomputed(opened, node)
  const undeclared = await undeclaredFiles(opened, node)
  const data = { ...showData(opened, node), undeclared }
  const judged = lastJudged(node)
  const { spec, ledger } = opened
  const explained = judged ? explainVerdict(judged, data.comparisons, spec.metric, spec.noise.pairs.max) : []
  const attribution = attributionView(ledger.state, node.id)
  const moved = otherThanBaseline(ledger.state, node)
  const shown = {
    ...data,
    explained,
    ...(moved && { other_machine: moved }),
    ...(attribution && { attribution }),
  }
  return ok({
    data: shown,
    text: () => describe(shown, { now: ledger.state.epoch, fallen: undermined(ledger.state, node)?.message }),
    wrap: true,
  })
})

/** Exit 4 when the ledger's verdict does not follow from the record. */
async function recomputed(run: OpenRun, node: Experiment): Promise<Result<VerbAnswer>> {
  const found = await recompute(run, node)
  if (!found.ok) return found
  const { attempt, record, differences, tests = [] } = found.value
  const changed = tests.filter(({ same }) => !same)
  const tested =
    tests.length === 0
      ? []
      : changed.length === 0
        ? [`  the records of ${counted(tests.length, 'test')} of its parts give the same answers`]
        : changed.map(
            (one) =>
              `  test ${one.test} of attribution ${one.attribution}: ${one.record === 'changed' ? 'its record was changed' : `${one.differences.map(({ field }) => field).join(', ')} differ`}`,
          )
  const { same } = found.value
  const lines =
    same || (differences.length === 0 && record === 'intact')
      ? [
          `${node.id}, attempt ${attempt}: the record gives the same verdict: ${plain(found.value.message, 500)}`,
        ]
      : [
          `${node.id}, attempt ${attempt}: the record does not give the verdict of the ledger`,
          ...(record === 'changed' ? ['  the record was changed after the verdict: its hash differs'] : []),
          ...differences.map(
            ({ field, recorded, recomputed }) =>
              `  ${field}: ${plain(JSON.stringify(recorded), 200)} in the ledger, ${plain(JSON.stringify(recomputed), 200)} from the record`,
          ),
        ]
  const text = () => [...lines, ...tested]
  return ok({ data: { experiment: node.id, ...found.value }, text, exit: same ? 0 : 4 })
}

function describe(
  data: ReturnType<typeof showData> & {
    undeclared: Undeclared
    explained: string[]
    attribution?: AttributionView
    other_machine?: string
  },
  /** `fallen`: why it does not count, whatever its own verdict says. */
  { now, fallen }: { now: number; fallen?: string | undefined },
): Said[] {
  const lines: Said[] = [
    `${data.experiment}  ${data.status}${data.reason ? ` (${data.reason})` : ''}${data.flagged ? ', in doubt' : ''}${now === data.epoch ? '' : `, of epoch ${data.epoch} (now ${now})`}`,
    `  ${plain(data.hypothesis, 500)}`,
    `  ${data.parent ? `child of ${(data.parents ?? [data.parent]).join(' and ')}, ` : ''}${counted(data.children.length, 'child', 'children')}`,
  ]
  if (data.value !== null) {
    const against =
      data.parent_value === null
        ? ''
        : `, its parent ${shown(data.parent_value)}: ${gainText(data.improvement)}`
    lines.push(`  value ${shown(data.value)}${against}`)
  }
  if (data.message) lines.push(`  ${plain(data.message, 500)}`)
  for (const said of data.explained) lines.push(`  ${plain(said, 600)}`)
  for (const said of data.judged_items ? itemsLines(data.judged_items.items) : []) lines.push(`  ${said}`)
  if (fallen) lines.push(`  does not count: ${plain(fallen, 500)}`)
  if (data.doubt) lines.push(`  in doubt: ${plain(data.doubt, 500)}`)
  if (data.lost_to)
    lines.push(
      next`  not the best: pairs with ${data.lost_to} did not show it to be better; to look again: ${call('confirm', data.experiment, '--against', data.lost_to)}`,
    )
  if (data.pinned !== undefined)
    lines.push(next`  pinned: ${plain(data.pinned, 500)}; undo: ${call('unpin', data.experiment)}`)
  if (data.why) lines.push(`  why: ${plain(data.why, 500)}`)
  if (data.fix) lines.push(`  fix: ${plain(data.fix, 500)}`)
  for (const { name, phase, from } of data.binding_gates)
    if (from !== 'spec') lines.push(`  gate ${plain(name, 80)} (${phase}) binds it, from ${from}`)
  for (const { task, tag, text } of data.annotations) {
    const about = [
      task === null ? [] : `task ${plain(task, 80)}`,
      tag === null ? [] : `#${plain(tag, 40)}`,
    ].flat()
    lines.push(`  remark${about.length === 0 ? '' : ` (${about.join(', ')})`}: ${plain(text, 300)}`)
  }
  for (const attempt of data.attempts) {
    const { files, added, removed } = attempt.diffstat
    lines.push(
      `  attempt ${attempt.attempt}: ${attempt.status ?? 'sealed'}${attempt.reason ? ` (${attempt.reason})` : ''}, ${counted(files, 'file')} +${added} −${removed}`,
    )
    for (const gate of attempt.gates)
      lines.push(`    gate ${plain(gate.name, 80)}: ${gate.passed ? 'passed' : 'did not pass'}`)
    for (const { passed, against, message } of attempt.confirmations)
      lines.push(
        `    ${passed ? 'confirmed' : 'not confirmed'} against ${against}${message ? `: ${plain(message, 300)}` : ''}`,
      )
    lines.push(...pairLines(attempt.measurements))
  }
  if (data.other_machine)
    lines.push(`  judged on a different machine than the baseline: ${plain(data.other_machine, 300)}`)
  if (data.merge) lines.push('  Assay merged the files of its parents; no agent made it')
  if (data.reduces) lines.push(`  what an attribution left of ${data.reduces.experiment}; no agent made it`)
  if (data.attribution) {
    lines.push(`  parts: ${data.attribution.summary}`)
    for (const part of partLines(data.attribution)) lines.push(`    ${part}`)
  }
  const { from_artifact: from } = data
  if (data.repair) lines.push(`  starts from the files of ${data.repair}, which it repairs`)
  if (from) lines.push(`  starts from the artifact ${from.experiment}:${plain(from.label, 200)}`)
  for (const [label, { path, sha256, bytes }] of Object.entries(data.artifacts))
    lines.push(`  artifact ${plain(label, 80)}: ${plain(path, 200)}, ${bytes} bytes, ${sha256.slice(0, 10)}`)
  for (const { path, bytes } of data.undeclared.files)
    lines.push(`  in its artifacts, not declared: ${plain(path, 200)}, ${bytes} bytes`)
  if (data.undeclared.more > 0) lines.push(`  … ${data.undeclared.more} more`)
  if (data.candidate) lines.push(`  candidate ${data.candidate.commit.slice(0, 10)} at ${data.candidate.ref}`)
  return lines
}

type Measurement = ReturnType<typeof showData>['attempts'][number]['measurements'][number]

/** One line for each pair, its sides in the order in which they were measured. Counted from 1, as while they are taken. */
function pairLines(measurements: readonly Measurement[]): string[] {
  const pairs: Measurement[][] = []
  for (const one of measurements) {
    const [first] = pairs.at(-1) ?? []
    if (first?.stage === one.stage && first.pair === one.pair) pairs.at(-1)?.push(one)
    else pairs.push([one])
  }
  return pairs.map((pair) => {
    const [first] = pair
    const sides = pair.map((one) => `${pair.length > 1 ? `${one.side} ` : ''}${sampleText(one)}`)
    return `    ${first?.stage} ${(first?.pair ?? 0) + 1}: ${sides.join(', ')}`
  })
}

function sampleText({ value, fault, wall_ms }: Measurement): string {
  const what = value === null ? `no value: ${plain(fault?.message ?? '', 200)}` : shown(value)
  return `${what} in ${duration(wall_ms)}`
}
