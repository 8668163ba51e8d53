/** What an experiment changed, against any other: between sealed trees, file by file, as they are looked at. */
import { diffWordsWithSpace, parsePatch } from 'diff'
import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { PageDiff, PageFile, PageNode, PagePart, PagePatch } from '../cli/view/page-model.ts'
import { connection, diffOf, head, patchOf } from './data.ts'
import { CopyLine, Empty, Scroll, useLoaded } from './parts.tsx'
import { go, linkTo, param } from './route.ts'
import { counted } from './words.ts'

/** Lines that are drawn at once. */
const LINES = 400

export function DiffView({ node }: { node: PageNode }) {
  const parent = node.diff?.from ?? 'base'
  const best = head.value?.best?.experiment ?? null
  const offered = [
    ...new Set([
      parent,
      'exp_0000',
      ...(best === null ? [] : [best]),
      ...(param('against') ? [param('against') as string] : []),
    ]),
  ].filter((one) => one !== node.experiment)
  const wanted = param('against') ?? parent
  const { value, failed } = useLoaded(() => diffOf(node, wanted), [node, wanted])
  const line = `assay diff ${node.experiment}${wanted === parent ? '' : ` ${wanted}`} --run ${head.value?.run ?? ''}`
  const name = (id: string) =>
    id === parent
      ? `its parent ${id}`
      : id === 'exp_0000'
        ? 'the baseline exp_0000'
        : id === best
          ? `the best ${id}`
          : id
  return (
    <>
      <div class="filters">
        <label>
          against{' '}
          <select
            value={wanted}
            onChange={({ currentTarget }) =>
              go({ against: currentTarget.value === parent ? null : currentTarget.value }, { replace: true })
            }
          >
            {offered.map((id) => (
              <option key={id} value={id}>
                {name(id)}
              </option>
            ))}
          </select>
        </label>
        <label>
          or{' '}
          <input
            class="short"
            placeholder="exp_0007"
            aria-label="any other experiment"
            onChange={({ currentTarget }) =>
              /^exp_\d{4,}$/.test(currentTarget.value) &&
              go({ against: currentTarget.value }, { replace: true })
            }
          />
        </label>
      </div>
      {failed ? <p class="notice">The diff did not come: {failed}</p> : null}
      {value === undefined && !failed ? <Empty>Loading …</Empty> : null}
      {value === null ? (
        <>
          <Empty>
            {node.attempts.length === 0
              ? 'Nothing was sealed yet, so there is nothing to compare.'
              : connection.value === 'file'
                ? 'This diff is not in the file. In a terminal:'
                : 'There is no diff between these two. In a terminal:'}
          </Empty>
          {node.attempts.length === 0 ? null : <CopyLine line={line} />}
        </>
      ) : null}
      {value ? <Files key={wanted} node={node} diff={value} line={line} /> : null}
      {wanted === parent ? null : (
        <p class="small">
          <a href={linkTo({ against: null })}>back to the change against its parent</a>
        </p>
      )}
    </>
  )
}

function Files({ node, diff, line }: { node: PageNode; diff: PageDiff; line: string }) {
  if (diff.files.length === 0) return <Empty>The two trees are equal: no file differs.</Empty>
  const added = diff.files.reduce((sum, file) => sum + (file.added ?? 0), 0)
  const removed = diff.files.reduce((sum, file) => sum + (file.removed ?? 0), 0)
  const lines = added + removed
  const noise = diff.files.filter((file) => file.noise).length
  return (
    <>
      <p class="small soft">
        {counted(diff.files.length, 'file')}, +{added} −{removed}
        {noise > 0 ? `; ${counted(noise, 'file')} that tools write ${noise === 1 ? 'is' : 'are'} folded` : ''}
      </p>
      {diff.files.map((file, i) => (
        <File
          key={file.path}
          file={file}
          node={node}
          diff={diff}
          line={line}
          open={!file.noise && (i === 0 || lines <= 200)}
        />
      ))}
    </>
  )
}

/** Git's letters. */
const STATUS: Readonly<Record<string, string>> = {
  A: 'added',
  D: 'deleted',
  M: 'changed',
  T: 'type changed',
}

function File({
  file,
  node,
  diff,
  line,
  open: atFirst,
}: {
  file: PageFile
  node: PageNode
  diff: PageDiff
  line: string
  open: boolean
}) {
  const [open, setOpen] = useState(atFirst)
  const size = file.added === null ? 'binary' : `+${file.added} −${file.removed ?? 0}`
  return (
    <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)} class="file">
      <summary>
        <span class="path">{file.path}</span>
        <span class="small soft">
          {STATUS[file.status] ?? file.status} {size}
          {file.noise ? ', written by a tool' : ''}
        </span>
      </summary>
      {open ? <Patch node={node} from={diff.from} file={file} line={line} /> : null}
    </details>
  )
}

function Patch({ node, from, file, line }: { node: PageNode; from: string; file: PageFile; line: string }) {
  const { experiment } = node
  const { value, failed } = useLoaded(
    () => patchOf(experiment, from, file.path),
    [experiment, from, file.path],
  )
  const parts = node.parts?.parent === from ? node.parts.parts : []
  if (failed) return <p class="notice">The diff did not come: {failed}</p>
  if (value === undefined) return <Empty>Loading …</Empty>
  return (
    <PatchText
      patch={value}
      line={line}
      binary={file.added === null}
      path={file.path}
      parts={parts.filter(({ edits }) => edits.some(({ path }) => path === file.path))}
    />
  )
}

function PatchText({
  patch,
  line,
  binary,
  path,
  parts,
}: {
  patch: PagePatch
  line: string
  binary: boolean
  path: string
  parts: readonly PagePart[]
}) {
  const [most, setMost] = useState(LINES)
  if ('missing' in patch) {
    return (
      <>
        <p class="notice">Not shown: {patch.missing}. Open it with:</p>
        <CopyLine line={line} />
      </>
    )
  }
  if ('too_big' in patch) {
    const { lines, bytes } = patch.too_big
    return (
      <>
        <p class="notice">
          Too big for a page: {lines.toLocaleString('en')} lines,{' '}
          {Math.ceil(bytes / 1024).toLocaleString('en')} KB. Open it with:
        </p>
        <CopyLine line={line} />
      </>
    )
  }
  if (binary) return <Empty>A binary file.</Empty>
  const hunks = parsePatch(patch.patch)[0]?.hunks ?? []
  if (hunks.length === 0) return <Empty>Only its mode or its name changed.</Empty>
  const notes = notesOf(patch.again ?? [], parts, path)
  let left = most
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0)
  return (
    <Scroll label={`Changed lines of ${path}`}>
      <table class="patch">
        {hunks.map((hunk) => {
          const shown = hunk.lines.slice(0, Math.max(0, left))
          left -= hunk.lines.length
          if (shown.length === 0) return null
          return (
            <Hunk key={`${hunk.oldStart} ${hunk.newStart}`} hunk={{ ...hunk, lines: shown }} notes={notes} />
          )
        })}
      </table>
      {total > most ? (
        <button type="button" class="quiet" onClick={() => setMost(most + 10 * LINES)}>
          show more of {total.toLocaleString('en')} lines
        </button>
      ) : null}
    </Scroll>
  )
}

type HunkLines = { oldStart: number; newStart: number; lines: string[] }

/** What stands beside lines of a diff: where a part begins and what it is worth, what is dead weight, what came back. */
interface Notes {
  /** The part that a line belongs to, by `+` or `-` and its number. */
  partAt: (sign: string, line: number) => PagePart | null
  removedBy: ReadonlyMap<number, string>
}

function notesOf(
  again: readonly (readonly [number, string])[],
  parts: readonly PagePart[],
  path: string,
): Notes {
  const holds = (range: readonly [number, number] | undefined, line: number) =>
    range !== undefined && line >= range[0] && line < range[0] + range[1]
  return {
    removedBy: new Map(again),
    partAt: (sign, line) =>
      parts.find(({ edits }) =>
        edits.some(
          (edit) =>
            edit.path === path && (edit.kind === 'whole' || holds(sign === '+' ? edit.new : edit.old, line)),
        ),
      ) ?? null,
  }
}

function Hunk({ hunk, notes }: { hunk: HunkLines; notes: Notes }) {
  let [before, after] = [hunk.oldStart, hunk.newStart]
  const words = changedWords(hunk.lines)
  let last: PagePart | null = null
  return (
    <tbody>
      <tr class="where">
        <td colSpan={3}>
          line {hunk.oldStart} → {hunk.newStart}
        </td>
      </tr>
      {hunk.lines.map((text, i) => {
        const sign = text[0] ?? ' '
        if (sign === '\\') return null
        const from = sign === '+' ? '' : before++
        const to = sign === '-' ? '' : after++
        const what = sign === '+' ? 'added' : sign === '-' ? 'removed' : 'same'
        const part = what === 'same' ? null : notes.partAt(sign, Number(from || to))
        const begins = part !== null && part !== last
        if (part !== null) last = part
        const removedBy = sign === '+' ? notes.removedBy.get(Number(to)) : undefined
        return (
          <Fragment key={`${from} ${to} ${i}`}>
            {begins ? (
              <tr class="worth">
                <td colSpan={3}>
                  {part.id}: {part.worth}
                </td>
              </tr>
            ) : null}
            <tr class={part?.dead ? `${what} dead` : what}>
              <td class="number">{from || to}</td>
              <td class="sign">{sign === '-' ? '−' : sign}</td>
              <td class="code">
                {words.get(i) ?? text.slice(1)}
                {removedBy === undefined ? null : (
                  <span class="again"> re-adds what {removedBy} removed</span>
                )}
              </td>
            </tr>
          </Fragment>
        )
      })}
    </tbody>
  )
}

/** Longer lines are not worth the time of marking words in them. */
const WORDS_IN = 2000

/** One line in place of one: the words that differ are marked. */
function changedWords(lines: readonly string[]): Map<number, preact.ComponentChildren> {
  const found = new Map<number, preact.ComponentChildren>()
  for (let i = 0; i < lines.length; i++) {
    let end = i
    while (lines[end]?.[0] === '-') end++
    let last = end
    while (lines[last]?.[0] === '+') last++
    const count = end - i
    if (count > 0 && last - end === count) {
      for (let k = 0; k < count; k++) {
        const [a, b] = [lines[i + k]?.slice(1) ?? '', lines[end + k]?.slice(1) ?? '']
        if (a.length + b.length > WORDS_IN) continue
        const parts = diffWordsWithSpace(a, b)
        const side = (drop: 'added' | 'removed', mark: 'added' | 'removed') =>
          parts.flatMap((part, at) =>
            part[drop]
              ? []
              : [part[mark] ? <mark key={`${at} ${part.value}`}>{part.value}</mark> : part.value],
          )
        found.set(i + k, side('added', 'removed'))
        found.set(end + k, side('removed', 'added'))
      }
    }
    if (last > i) i = last - 1
  }
  return found
}
