/** Small parts that every view uses. */
import { effect, signal } from '@preact/signals'
import { Component, type ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PageRow } from '../cli/view/page-model.ts'
import { rows, rowsVersion } from './data.ts'
import { MarkIcon, wordOf } from './marks.tsx'
import { linkTo } from './route.ts'
import { figure, gainText, percent } from './words.ts'

/** A part of the page with a title; when it breaks, the others stay. */
export function Section({
  title,
  children,
  aside,
  id,
}: {
  title: string
  children: ComponentChildren
  aside?: ComponentChildren
  id?: string
}) {
  return (
    <section class="part" id={id}>
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      <Guarded>{children}</Guarded>
    </section>
  )
}

// ---------------------------------------------------------------- light or dark

const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]
const THEME_KEY = 'assay-theme'

const system = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(system.matches)
system.addEventListener('change', () => {
  systemIsDark.value = system.matches
})
const theme = signal<Theme>(THEMES.find((name) => name === stored()) ?? 'system')
export const isDark = signal(false)
/** While the page goes to paper: light, and with all rows of the tree that paper has room for. */
export const printing = signal(false)
addEventListener('beforeprint', () => {
  printing.value = true
})
addEventListener('afterprint', () => {
  printing.value = false
})
effect(() => {
  const wanted = theme.value === 'system' ? systemIsDark.value : theme.value === 'dark'
  isDark.value = wanted && !printing.value
  document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light'
})

function stored(): string | null {
  try {
    return localStorage.getItem(THEME_KEY)
  } catch {
    // A file may have no storage.
    return null
  }
}

function choose(name: Theme): void {
  theme.value = name
  try {
    localStorage.setItem(THEME_KEY, name)
  } catch {
    // Then the choice lasts as long as the page.
  }
}

export function ThemeChoice() {
  return (
    <label class="theme small soft">
      colours{' '}
      <select value={theme.value} onChange={({ currentTarget }) => choose(currentTarget.value as Theme)}>
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {name === 'system' ? 'as the system' : name}
          </option>
        ))}
      </select>
    </label>
  )
}

// ---------------------------------------------------------------- what breaks, and what is empty

export class Guarded extends Component<{ children: ComponentChildren }, { failed: string | null }> {
  override state = { failed: null }
  override componentDidCatch(error: unknown): void {
    this.setState({ failed: error instanceof Error ? error.message : String(error) })
  }
  override render() {
    const { failed } = this.state
    if (failed === null) return this.props.children
    return <p class="notice">This part cannot be shown: {failed}</p>
  }
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}

/** A link to an experiment, with its mark. */
export function NodeLink({ id, short }: { id: string; short?: boolean }) {
  rowsVersion.value
  const row = rows.get(id)
  return (
    <a class="node" href={linkTo({ node: id })} title={row ? `${wordOf(row)}: ${row.hypothesis}` : id}>
      {row && !short ? <MarkIcon mark={row.mark} size={10} /> : null}
      {id}
    </a>
  )
}

/** Texts name experiments: `exp_0007` becomes a link. Everything else stays text. */
export function Linked({ text }: { text: string }) {
  const parts = text.split(/(\bexp_\d{4,}\b)/)
  return (
    <>
      {parts.map((part, i) =>
        i % 2 === 1 && rows.has(part) ? <NodeLink key={`${i} ${part}`} id={part} short /> : part,
      )}
    </>
  )
}

/** The same as a phrase, where no column says what the number is. */
export const GainPhrase = ({
  value,
  from,
  to,
}: {
  value: number | null
  from?: number | null
  to?: number | null
}) => <span class={value !== null && value > 0 ? 'better' : ''}>{gainText(value, from, to)}</span>

export function Gain({ value }: { value: number | null }) {
  return <span class={value !== null && value > 0 ? 'figure better' : 'figure'}>{percent(value)}</span>
}

export const Figure = ({ value }: { value: number | null }) => <span class="figure">{figure(value)}</span>

export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren] | null)[] }) {
  return (
    <dl class="facts">
      {facts.map((fact) =>
        fact === null ? null : (
          <div key={fact[0]}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

/** What may be wider than its place: it scrolls by itself, also by keyboard. */
export const Scroll = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <section class="scroll" tabIndex={0} aria-label={label}>
    {children}
  </section>
)

/** `2026-11-29 06:12` in the reader's own time. */
export function Time({ at }: { at: string }) {
  const date = new Date(at)
  const two = (n: number) => String(n).padStart(2, '0')
  const text = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
  return <time dateTime={at}>{text}</time>
}

/** What is fetched when it is looked at: shows that it loads, and why it did not come. */
export function useLoaded<T>(
  load: () => Promise<T>,
  on: readonly unknown[],
): { value: T | undefined; failed: string | null } {
  const [state, set] = useState<{ value: T | undefined; failed: string | null }>({
    value: undefined,
    failed: null,
  })
  useEffect(() => {
    let wanted = true
    load().then(
      (value) => wanted && set({ value, failed: null }),
      (error: unknown) => wanted && set({ value: undefined, failed: (error as Error).message }),
    )
    return () => {
      wanted = false
    }
  }, on)
  return state
}

export function useWidth(): [(element: HTMLElement | null) => void, number] {
  const [element, setElement] = useState<HTMLElement | null>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!element) return
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [element])
  return [setElement, width]
}

export const CopyLine = ({ line }: { line: string }) => (
  <div class="line">
    <code tabIndex={0}>{line}</code>
    <CopyButton text={line} label={`copy ${line}`} />
  </div>
)

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [said, say] = useState('copy')
  const copy = () => {
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))
    written.then(
      () => say('copied'),
      () => say('select it, then copy'),
    )
    setTimeout(() => say('copy'), 2000)
  }
  return (
    <button type="button" class="quiet" onClick={copy} aria-label={label}>
      {said}
    </button>
  )
}

export const byId = (id: string): PageRow | undefined => rows.get(id)
