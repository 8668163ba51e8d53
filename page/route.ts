/** What is shown is the part of the address behind `#`, so that a link leads there, in a file as well. */
import { computed, signal } from '@preact/signals'

export const VIEWS = ['overview', 'tree', 'learning', 'rounds', 'cost', 'record', 'compare', 'runs'] as const
export type View = (typeof VIEWS)[number]

const address = signal(readAddress())
/** What an action must send; it stands in the address once, and then nowhere but here. */
export const token = signal(takeToken())

addEventListener('hashchange', () => {
  const found = takeToken()
  if (found !== null) token.value = found
  address.value = readAddress()
})

export const view = computed<View>(
  () => VIEWS.find((name) => name === address.value.get('view')) ?? 'overview',
)
export const runName = computed(() => address.value.get('run'))
export const selected = computed(() => address.value.get('node'))
export const query = computed(() => address.value.get('q') ?? '')
export const param = (name: string): string | null => address.value.get(name)
/** Up to four. */
export const compared = computed(() =>
  (address.value.get('with') ?? '').split(',').filter(Boolean).slice(0, 4),
)

type Change = Record<string, string | null>

/** The address with these parts changed; null takes one out. */
export function linkTo(change: Change): string {
  const next = new URLSearchParams(address.value)
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === '') next.delete(name)
    else next.set(name, value)
  }
  return `#${next}`
}

/** Another run: what is chosen of this one means nothing there. */
export const toRun = (run: string): Change => ({
  ...Object.fromEntries(OF_ONE_RUN.map((name) => [name, null])),
  run,
})
const OF_ONE_RUN = ['node', 'with', 'q', 'marks', 'against', 'until', 'words']

export function go(change: Change, { replace = false } = {}): void {
  const link = linkTo(change)
  if (replace) history.replaceState(null, '', link)
  else history.pushState(null, '', link)
  address.value = readAddress()
}
addEventListener('popstate', () => {
  address.value = readAddress()
})

function readAddress(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1))
}

const KEY = 'assay-token'

function takeToken(): string | null {
  const parts = readAddress()
  const found = parts.get('page')
  try {
    if (found === null) return sessionStorage.getItem(KEY)
    sessionStorage.setItem(KEY, found)
  } catch {
    // A file may have no storage.
  }
  parts.delete('page')
  history.replaceState(null, '', parts.size === 0 ? location.pathname : `#${parts}`)
  return found
}
