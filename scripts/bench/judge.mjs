/**
 * `npm run bench:judge [-- --markdown]`: how often a judged candidate is kept, by the share of items that it wins, and how often one
 * that changes nothing is kept by a judge with a bias. It runs the very code that decides. Ends with 1 when a bar does not hold.
 */
import { fileURLToPath } from 'node:url'
import { bundled } from './bundled.mjs'
import { aligned, markdown } from './table.mjs'

const POWER_SESSIONS = 1200
const BIAS_SESSIONS = 20_000
/** How far a figure may be from the design's: of the items relatively, of the share kept in percentage points. */
const WITHIN = 0.1
/** Items by which a small figure may be off: the design's are rounded, and a few long sessions move them. */
const SLACK = 2.5
const POINTS = 10
/** Of a candidate that changes nothing. */
const FALSE_KEEPS = 5e-4

report(await bundled(fileURLToPath(new URL('judge/worker.mjs', import.meta.url))))

function report({ POWER, power, JUDGES, falseKeeps }) {
  const print = process.argv.includes('--markdown') ? markdown : aligned
  const wrong = []
  const shares = Object.keys(POWER[0].want)
  const rows = POWER.map((row) => [
    String(row.batch),
    `${100 * row.ties} %`,
    ...shares.map((share) => {
      const { kept, items } = power(row, Number(share), POWER_SESSIONS)
      const [wantKept, wantItems] = row.want[share]
      const where = `${row.batch} items a pair, ${100 * row.ties} % ties, ${100 * share} % won`
      if (Math.abs(100 * kept - wantKept) > POINTS)
        wrong.push(`${where}: ${(100 * kept).toFixed(1)} % kept, not ${wantKept}`)
      if (Math.abs(items - wantItems) > Math.max(SLACK, WITHIN * wantItems))
        wrong.push(`${where}: ${items.toFixed(1)} items, not ${wantItems}`)
      return `${(100 * kept).toFixed(1)} % / ${items.toFixed(0)} (${wantKept} / ${wantItems})`
    }),
  ])
  const judges = JUDGES.map((judge) => {
    const { kept, share, trusted, items } = falseKeeps(judge, BIAS_SESSIONS)
    if (share > FALSE_KEEPS)
      wrong.push(`${judge.name}: ${kept} of ${BIAS_SESSIONS} kept, more than ${FALSE_KEEPS}`)
    return [
      judge.name,
      `${kept} (${share.toExponential(1)})`,
      items.toFixed(0),
      `${(100 * trusted).toFixed(0)} %`,
    ]
  })
  process.stdout.write(
    `${print([['items a pair', 'ties', ...shares.map((share) => `${100 * share} % won`)], ...rows])}\n` +
      `kept / judged items (design); ${POWER_SESSIONS} sessions a cell, at most 25 pairs a stage\n\n` +
      `${print([['judge', `kept of ${BIAS_SESSIONS}`, 'items', 'trusted by init'], ...judges])}\n` +
      `candidates that change nothing for the better; the bar is ${FALSE_KEEPS}\n`,
  )
  for (const line of wrong) process.stdout.write(`MISSED ${line}\n`)
  if (wrong.length === 0) process.stdout.write('every bar holds\n')
  process.exitCode = wrong.length === 0 ? 0 : 1
}
