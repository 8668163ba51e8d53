/** The same tree as nodes and links, as far as a person can follow it; the way to the best stands out. */
import { hierarchy, tree } from 'd3-hierarchy'
import { linkHorizontal } from 'd3-shape'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { PageHead, PageRow } from '../cli/view/page-model.ts'
import { head, rows, rowsVersion } from './data.ts'
import { MarkIcon, wordOf } from './marks.tsx'
import { useWidth } from './parts.tsx'
import { go, selected } from './route.ts'

const MOST = 1000
const ROW = 18
/** Left of the first node and right of the last, with its label. */
const LABEL = 72

interface Branch {
  row: PageRow
  children: Branch[]
}

/** All when there is room, else what stood and what stands above it; the best path in any case. */
function chosen(data: PageHead): { root: Branch | null; left: number } {
  const all = [...rows.values()]
  const wanted = new Set<string>()
  const add = (id: string | null) => {
    for (let row = rows.get(id ?? ''); row && !wanted.has(row.experiment); row = rows.get(row.parent ?? ''))
      wanted.add(row.experiment)
  }
  for (const { experiment } of data.path) add(experiment)
  const isFirst = ({ status }: PageRow) => status === 'kept' || status === 'running'
  for (const row of [...all.filter(isFirst), ...all.filter((one) => !isFirst(one))]) {
    if (wanted.size >= MOST) break
    add(row.experiment)
  }
  const branches = new Map<string, Branch>()
  let root: Branch | null = null
  for (const row of all) {
    if (!wanted.has(row.experiment)) continue
    const branch = { row, children: [] }
    branches.set(row.experiment, branch)
    const above = row.parent === null ? undefined : branches.get(row.parent)
    if (above) above.children.push(branch)
    else root ??= branch
  }
  return { root, left: all.length - branches.size }
}

export function Graph() {
  const [box, width] = useWidth()
  const data = head.value
  const version = rowsVersion.value
  const made = useMemo(() => {
    if (!data) return null
    const { root, left } = chosen(data)
    if (!root) return null
    const top = hierarchy(root, ({ children }) => children)
    // The last label needs room, too.
    const column = Math.max(56, Math.min(150, (width - LABEL) / Math.max(1, top.height)))
    const placed = tree<Branch>().nodeSize([ROW, column])(top)
    let [low, high] = [0, 0]
    placed.each(({ x }) => {
      low = Math.min(low, x)
      high = Math.max(high, x)
    })
    const spots = new Map(placed.descendants().map((spot) => [spot.data.row.experiment, spot]))
    // A merge hangs below the best of its parents; these are the lines from the others.
    const merged = placed.descendants().flatMap((target) =>
      (target.data.row.parents ?? []).slice(1).flatMap((id) => {
        const source = spots.get(id)
        return source ? [{ source, target }] : []
      }),
    )
    return { placed, merged, left, low, height: high - low + 2 * ROW, wide: top.height * column + LABEL }
  }, [data, version, width])
  const scrolled = useRef<HTMLDivElement>(null)
  const middle = made ? ROW - made.low : 0
  useEffect(() => {
    const element = scrolled.current
    // The baseline is half-way down.
    if (element) element.scrollTop = middle - element.clientHeight / 2
  }, [middle, width > 0])
  const path = new Set(data?.path.map(({ experiment }) => experiment))
  const link = linkHorizontal<unknown, { x: number; y: number }>()
    .x(({ y }) => y)
    .y(({ x }) => x)
  return (
    <div ref={box}>
      {made === null || width === 0 ? null : (
        <>
          <div class="graph" tabIndex={0} role="group" aria-label="The tree as a drawing" ref={scrolled}>
            <svg width={Math.max(width - 2, made.wide)} height={made.height}>
              <g transform={`translate(24 ${ROW - made.low})`}>
                {made.placed.links().map(({ source, target }) => (
                  <path
                    key={target.data.row.experiment}
                    class={path.has(target.data.row.experiment) ? 'link on-path' : 'link'}
                    d={link({ source, target }) ?? ''}
                  />
                ))}
                {made.merged.map(({ source, target }) => (
                  <path
                    key={`${source.data.row.experiment} ${target.data.row.experiment}`}
                    class="link merged"
                    d={link({ source, target }) ?? ''}
                  />
                ))}
                {made.placed.descendants().map(({ x, y, data: { row } }) => (
                  <g
                    key={row.experiment}
                    class={`spot${selected.value === row.experiment ? ' chosen' : ''}`}
                    transform={`translate(${y} ${x})`}
                    onClick={() => go({ node: row.experiment })}
                    role="presentation"
                  >
                    <title>{`${row.experiment}, ${wordOf(row)}: ${row.hypothesis}`}</title>
                    <circle r={9} class="back" />
                    <g transform="translate(-6 -6)">
                      <MarkIcon mark={row.mark} />
                    </g>
                    {path.has(row.experiment) ? (
                      <text x={10} y={-7}>
                        {row.experiment.slice(4)}
                      </text>
                    ) : null}
                  </g>
                ))}
              </g>
            </svg>
          </div>
          <p class="small soft">
            Bold: the path to the best.{made.merged.length > 0 ? ' Dashed: another parent of a merge.' : ''}
          </p>
          {made.left > 0 ? (
            <p class="small soft">
              {made.left.toLocaleString('en')} more are not drawn: at most {MOST.toLocaleString('en')} are,
              what was kept first. The rows above have all.
            </p>
          ) : null}
        </>
      )}
    </div>
  )
}
