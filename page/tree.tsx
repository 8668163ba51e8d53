/** The tree of experiments: only the rows in sight are in the document, whatever the size of the run. */
import { computed, signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { MARKS, type Mark } from '../cli/view/page-model.ts'
import { head, pinOf, rows, rowsVersion } from './data.ts'
import { Forest, idOfRow, type Listed, type Order, type TreeRow } from './forest.ts'
import { MarkIcon, PinIcon, SHAPES, wordOf } from './marks.tsx'
import { Gain, printing } from './parts.tsx'
import { go, param, query, selected } from './route.ts'
import { counted, figure } from './words.ts'

const ROW = 30
/** Rows on paper: about 25 pages. */
const PRINTED = 1000
/** Rendered above and below what is in sight. */
const MARGIN = 8

export const forest = computed(() => {
  rowsVersion.value
  return new Forest(rows)
})
const toggled = signal<ReadonlySet<string>>(new Set())
const active = signal<string | null>(null)

const marksWanted = computed<ReadonlySet<Mark> | null>(() => {
  selected.value
  const names = (param('marks') ?? '').split(',')
  const found = MARKS.filter((mark) => names.includes(mark))
  return found.length === 0 ? null : new Set(found)
})
const order = computed<Order>(() => {
  selected.value
  return (['value', 'gain'] as const).find((name) => name === param('sort')) ?? 'time'
})
const pathIds = computed(
  () => new Set(['exp_0000', ...(head.value?.path.map(({ experiment }) => experiment) ?? [])]),
)

const listed = computed(() =>
  forest.value.list({
    query: query.value,
    marks: marksWanted.value,
    order: order.value,
    direction: head.value?.metric.direction ?? 'minimize',
    toggled: toggled.value,
    path: pathIds.value,
  }),
)

function toggle(id: string): void {
  const next = new Set(toggled.value)
  if (!next.delete(id)) next.add(id)
  toggled.value = next
}

const countsByMark = computed(() => {
  const counts = new Map<Mark, number>()
  rowsVersion.value
  for (const { mark } of rows.values()) counts.set(mark, (counts.get(mark) ?? 0) + 1)
  return counts
})

export function TreeFilters() {
  const counts = countsByMark.value
  const wanted = marksWanted.value
  const flip = (mark: Mark) => {
    const next = new Set(wanted ?? [])
    if (!next.delete(mark)) next.add(mark)
    go({ marks: [...next].join(',') }, { replace: true })
  }
  return (
    <div class="filters">
      <input
        type="search"
        aria-label="Search hypotheses"
        placeholder="Search hypotheses, ids, reasons"
        value={query.value}
        onInput={({ currentTarget }) => go({ q: currentTarget.value }, { replace: true })}
      />
      <label>
        sort by{' '}
        <select
          value={order.value}
          onChange={({ currentTarget }) => go({ sort: currentTarget.value }, { replace: true })}
        >
          <option value="time">time</option>
          <option value="value">value</option>
          <option value="gain">gain over its parent</option>
        </select>
      </label>
      <fieldset class="chips">
        <legend class="unseen">Which experiments are shown</legend>
        {MARKS.filter((mark) => counts.has(mark)).map((mark) => (
          <button
            key={mark}
            type="button"
            class="chip"
            aria-pressed={wanted?.has(mark) === true}
            onClick={() => flip(mark)}
          >
            <MarkIcon mark={mark} size={10} /> {SHAPES[mark].word}{' '}
            <span class="figure">{counts.get(mark)?.toLocaleString('en')}</span>
          </button>
        ))}
      </fieldset>
    </div>
  )
}

export function Tree() {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)
  const all = listed.value
  const { found } = all
  const trees = forest.value
  useEffect(() => {
    // While a person looks at the tree, and before the first letter of a search.
    const timer = setTimeout(() => trees.prepare(), 200)
    return () => clearTimeout(timer)
  }, [trees])
  useEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => setHeight(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const at = all.indexOf(active.value ?? selected.value)
  const reveal = (index: number) => {
    const element = box.current
    if (!element || index < 0 || index >= all.length) return
    active.value = idOfRow(all.at(index))
    const [from, to] = [index * ROW, (index + 1) * ROW]
    if (from < element.scrollTop) element.scrollTop = from
    else if (to > element.scrollTop + element.clientHeight) element.scrollTop = to - element.clientHeight
    setTop(element.scrollTop)
  }
  const onKey = (event: KeyboardEvent) => {
    const row = at < 0 ? undefined : all.at(at)
    const jump = keyStep(event.key, all, at, Math.max(1, Math.floor(height / ROW) - 1))
    if (jump !== null) reveal(jump)
    else if (event.key === 'ArrowRight' && row) {
      if (row.open === false) toggle(idOfRow(row))
      else if (row.open) reveal(at + 1)
    } else if (event.key === 'ArrowLeft' && row) {
      if (row.open && row.level > 0) toggle(idOfRow(row))
      else reveal(parentAt(all, at))
    } else if ((event.key === 'Enter' || event.key === ' ') && row) choose(row)
    else return
    event.preventDefault()
  }
  if (all.length === 0) {
    return (
      <div class="empty">
        <p>{rows.size === 0 ? 'No experiment yet.' : 'Nothing matches.'}</p>
        {rows.size === 0 ? null : (
          <button type="button" onClick={() => go({ q: null, marks: null }, { replace: true })}>
            Show all
          </button>
        )}
      </div>
    )
  }
  const onPaper = printing.value
  const first = onPaper ? 0 : Math.max(0, Math.floor(top / ROW) - MARGIN)
  const last = Math.min(all.length, onPaper ? PRINTED : Math.ceil((top + height) / ROW) + MARGIN)
  const activeId = at >= first && at < last ? `row-${idOfRow(all.at(at))}` : undefined
  return (
    <>
      <p class="small" role="status">
        {found === rows.size
          ? `${rows.size.toLocaleString('en')} experiments`
          : `${found.toLocaleString('en')} of ${rows.size.toLocaleString('en')} experiments; their ancestors are dimmed`}
      </p>
      <div
        class="tree"
        role="tree"
        aria-label="Experiments"
        tabIndex={0}
        aria-activedescendant={activeId}
        ref={box}
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
        onKeyDown={onKey}
        onFocus={() => at < 0 && reveal(0)}
      >
        <div
          role="presentation"
          style={{ height: `${(onPaper ? last : all.length) * ROW}px`, position: 'relative' }}
        >
          {Array.from({ length: last - first }, (_, i) => {
            const row = all.at(first + i)
            return <Row key={idOfRow(row)} row={row} index={first + i} isActive={first + i === at} />
          })}
        </div>
      </div>
      {onPaper && last < all.length ? (
        <p class="small">{counted(all.length - last, 'more row')} that are not on paper</p>
      ) : null}
    </>
  )
}

function choose(row: TreeRow): void {
  active.value = idOfRow(row)
  if (row.kind === 'fold') toggle(row.id)
  else go({ node: row.row.experiment })
}

function keyStep(key: string, all: Listed, at: number, page: number): number | null {
  const last = all.length - 1
  switch (key) {
    case 'ArrowDown':
      return Math.min(last, at + 1)
    case 'ArrowUp':
      return Math.max(0, at - 1)
    case 'PageDown':
      return Math.min(last, at + page)
    case 'PageUp':
      return Math.max(0, at - page)
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return null
  }
}

function parentAt(all: Listed, at: number): number {
  const level = all.levelAt(at)
  for (let i = at - 1; i >= 0; i--) if (all.levelAt(i) < level) return i
  return at
}

function Row({ row, index, isActive }: { row: TreeRow; index: number; isActive: boolean }) {
  const id = idOfRow(row)
  // Beyond this there would be no room for words.
  const indent = Math.min(row.level - 1, 12) * 14
  const isSelected = row.kind === 'node' && selected.value === row.row.experiment
  const onPath = row.kind === 'node' && pathIds.value.has(row.row.experiment)
  const names = [
    'row',
    isActive ? 'active' : '',
    row.kind === 'fold' ? 'fold' : row.dimmed ? 'dimmed' : '',
    onPath ? 'on-path' : '',
  ]
  return (
    <div
      id={`row-${id}`}
      class={names.filter(Boolean).join(' ')}
      role="treeitem"
      tabIndex={-1}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={isSelected}
      {...(row.open === null ? {} : { 'aria-expanded': row.open })}
      style={{ top: `${index * ROW}px`, height: `${ROW}px` }}
      onClick={() => choose(row)}
    >
      <span class="indent" style={{ width: `${indent}px` }} />
      <span
        class="twisty"
        aria-hidden="true"
        onClick={(event) => {
          if (row.open === null) return
          event.stopPropagation()
          active.value = id
          toggle(id)
        }}
      >
        {row.open === null ? '' : row.open ? '▾' : '▸'}
      </span>
      {row.kind === 'fold' ? <Fold counts={row.counts} /> : <NodeCells row={row.row} level={row.level} />}
    </div>
  )
}

function Fold({ counts }: { counts: readonly (readonly [Mark, number])[] }) {
  return (
    <span class="hypothesis soft">
      {counts.map(([mark, count]) => `${count.toLocaleString('en')} ${SHAPES[mark].word}`).join(', ')},
      without children
    </span>
  )
}

function NodeCells({ row, level }: { row: Extract<TreeRow, { kind: 'node' }>['row']; level: number }) {
  return (
    <>
      <MarkIcon mark={row.mark} />
      <span class="id">
        {row.experiment}
        {level > 13 ? <span class="soft"> ·{level}</span> : null}
      </span>
      <span class="hypothesis">
        {row.parent === null ? 'the baseline' : row.hypothesis || 'no hypothesis'}
      </span>
      <span class="word soft">
        {pinOf(row.experiment) ? (
          <>
            <PinIcon /> pinned,{' '}
          </>
        ) : null}
        {wordOf(row)}
      </span>
      <span class="value figure">{row.value === null ? '–' : figure(row.value)}</span>
      <span class="gain">
        <Gain value={row.improvement} />
      </span>
    </>
  )
}
