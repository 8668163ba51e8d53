/** `doctor`: what is broken on this machine and in this repository; with `--parallel`, whether several slots would disturb each other. */
import { type Examined, examine, lookAround } from '../doctor/check.ts'
import { type Readiness, readiness } from '../doctor/parallel/readiness.ts'
import { CHECKS } from '../doctor/registry.ts'
import { counted } from '../evaluate/figure.ts'
import { call, next, type Said } from '../next.ts'
import type { Accelerator } from '../process.ts'
import { ok, type Result } from '../result.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { plain } from '../text.ts'

type Finding = Examined['findings'][number]

/** The most findings in an answer; `truncated` counts the others. `--fix` repairs those as well. */
const MOST = 200
const MOST_IN_TEXT = 30
const LONGEST = 600
/** Of a file that was read. */
const LONGEST_LINE = 120

/** Works in any folder. Exit 0 whatever it finds: read `healthy`. */
export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const scene = await lookAround(context, args.on('hosts'))
  const { healthy, findings } = await examine(scene, CHECKS, { fix: args.on('fix') })
  const ordered = [...findings].sort((a, b) => weight(a) - weight(b))
  const parallel = args.on('parallel') ? await readiness(scene, args.run) : null
  const counts = countsOf(findings)
  const data = {
    healthy,
    root: scene.site?.root ?? scene.top,
    counts,
    findings: ordered.slice(0, MOST),
    truncated: Math.max(0, ordered.length - MOST),
    ...(parallel ? { parallel } : {}),
  }
  return ok({
    data,
    text: () => [
      ...describe(ordered, counts, args.on('fix')),
      ...(parallel ? ['', ...describeReadiness(parallel)] : []),
    ],
    wrap: true,
  })
}

const weight = ({ level }: Finding): number => ({ problem: 0, warning: 1, ok: 2 })[level]

function countsOf(findings: readonly Finding[]) {
  const counts = { problem: 0, warning: 0, ok: 0, fixed: 0 }
  for (const { level, fixed } of findings) counts[fixed === undefined ? level : 'fixed']++
  return counts
}

function describe(findings: readonly Finding[], counts: ReturnType<typeof countsOf>, fix: boolean): Said[] {
  const bad = findings.filter(({ level }) => level !== 'ok')
  const lines: Said[] = bad.slice(0, MOST_IN_TEXT).flatMap(describeOne)
  if (bad.length > MOST_IN_TEXT)
    lines.push(next`… and ${bad.length - MOST_IN_TEXT} more: ${call('doctor', '--json')}`)
  const good = findings.filter(({ level }) => level === 'ok').slice(0, MOST_IN_TEXT)
  lines.push(...good.map(({ what }) => `ok       ${plain(what, LONGEST)}`))
  const fixable = bad.filter((one) => one.fixable && one.fixed === undefined).length
  const total = `${counted(counts.problem, 'problem')}, ${counted(counts.warning, 'warning')}${counts.fixed > 0 ? `, ${counts.fixed} fixed` : ''}`
  lines.push(
    fixable > 0 && !fix
      ? next`${total}; Assay can repair ${fixable} of them: ${call('doctor', '--fix')}`
      : total,
  )
  return lines
}

function describeOne({ level, code, what, cause, repair, at, fixed, fix_failed }: Finding): string[] {
  const rows: [string, string | null | undefined][] = [
    ['at', at],
    ['cause', cause],
    ['fixed', fixed],
    ['not fixed', fix_failed],
    ['→', fixed === undefined ? repair : null],
  ]
  return [
    `${(fixed === undefined ? level : 'fixed').padEnd(8)} ${code}: ${plain(what, LONGEST)}`,
    ...rows.flatMap(([name, text]) =>
      text ? [`         ${name === '→' ? '→' : `${name}:`} ${plain(text, LONGEST)}`] : [],
    ),
  ]
}

// ---------------------------------------------------------------- `--parallel`

function describeReadiness({ spec, files, blockers, accelerators, slots, truncated }: Readiness): Said[] {
  if (spec === null)
    return [
      'parallel: no spec was found, so there is nothing to look at',
      next`  → write one: ${call('init', '--template')}`,
    ]
  const lines: Said[] = [
    `parallel: ${counted(files, 'file')} of the benchmark, gates and setup ${files === 1 ? 'was' : 'were'} read`,
  ]
  for (const { path, line, kind, blocks, text, advice } of blockers.slice(0, MOST_IN_TEXT)) {
    lines.push(
      `${blocks ? 'blocker ' : 'note    '} ${plain(path)}:${line} ${kind}: ${plain(text, LONGEST_LINE)}`,
      `         → ${advice}`,
    )
  }
  const more = Math.max(0, blockers.length - MOST_IN_TEXT) + truncated
  if (more > 0) lines.push(next`… and ${more} more: ${call('doctor', '--parallel', '--json')}`)
  lines.push(
    `accelerators of this machine: ${accelerators.map(acceleratorText).join('; ') || 'none was found'}`,
  )
  lines.push(`measure.slots: ${slots.proposed} (now ${slots.current}): ${slots.reason}`)
  return lines
}

const acceleratorText = ({ name, mib, used_mib: used }: Accelerator): string =>
  `${plain(name, 80)}${mib === null ? '' : `, ${mib} MiB`}${used === null ? '' : `, ${used} MiB in use`}`
