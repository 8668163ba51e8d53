/** What a user can do from here. The server calls the verb; the line that does the same stands below, offline it is all there is. */
import { useState } from 'preact/hooks'
import type { IdeaStatus } from '../cli/ledger/backlog.ts'
import type { Status } from '../cli/ledger/events.ts'
import { ACTIONS, type Action, type ActionName, shellLineOf } from '../cli/view/page-actions.ts'
import { act, connection, head, mayAct } from './data.ts'
import { CopyLine } from './parts.tsx'

export const OF_RUN: readonly ActionName[] = ['steer', 'note', 'pause', 'resume', 'stop']

export function ofExperiment(status: Status, pinned: boolean): ActionName[] {
  if (status === 'kept') return ['new', 'steer_one', 'confirm', pinned ? 'unpin' : 'pin', 'prune', 'restore']
  if (status === 'pruned' || status === 'revoked' || status === 'discarded') return ['restore']
  return ['steer_one']
}

export const ofIdea = (status: IdeaStatus): ActionName[] =>
  status === 'parked' ? ['approve', 'drop'] : status === 'added' || status === 'approved' ? ['drop'] : []

const WORDS: Partial<Record<ActionName, string>> = {
  new: 'what you expect of the change',
  prune: 'why',
  restore: 'why',
  pin: 'why',
  unpin: 'why',
  pause: 'why',
  resume: 'why',
  stop: 'why',
  drop: 'why',
}

/** `id`: of what they act on; none = the run. */
export function Actions({
  names,
  id = '',
  onSend,
}: {
  names: readonly ActionName[]
  id?: string
  onSend?: () => void
}) {
  const [name, setName] = useState<ActionName>(names[0] ?? 'steer')
  const [text, setText] = useState('')
  const [said, say] = useState<{ ok: boolean; said: string } | 'at work' | null>(null)
  const chosen = names.includes(name) ? name : (names[0] ?? 'steer')
  const needsText = (ACTIONS[chosen].needs as readonly string[]).includes('text')
  const action: Action = {
    action: chosen,
    run: head.value?.run ?? '',
    id,
    text: text.trim() === '' ? 'TEXT' : text,
  }
  const ready = !needsText || text.trim() !== ''
  const send = async (event: Event) => {
    event.preventDefault()
    if (!ready || said === 'at work') return
    say('at work')
    onSend?.()
    const answer = await act({ ...action, text })
    say(answer)
    if (answer.ok) setText('')
  }
  return (
    <form class="actions" onSubmit={send}>
      <div class="filters">
        <label>
          <span class="unseen">Action</span>
          <select
            value={chosen}
            onChange={({ currentTarget }) => {
              setName(currentTarget.value as ActionName)
              say(null)
            }}
          >
            {names.map((one) => (
              <option key={one} value={one}>
                {ACTIONS[one].says}
              </option>
            ))}
          </select>
        </label>
        {needsText ? (
          <input
            class="grow"
            value={text}
            aria-label={WORDS[chosen] ?? 'your words'}
            placeholder={WORDS[chosen] ?? 'your words'}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        ) : null}
        {mayAct.value ? (
          <button type="submit" class="primary" disabled={!ready || said === 'at work'}>
            {said === 'at work' ? 'at work …' : 'do it'}
          </button>
        ) : null}
      </div>
      <CopyLine line={shellLineOf(action)} />
      {mayAct.value ? null : (
        <p class="small soft">
          {connection.value === 'file'
            ? 'An offline file cannot act: copy the line.'
            : connection.value === 'live'
              ? 'This page may not act: open the address that assay serve printed (with its token), or copy the line.'
              : 'The server does not answer: copy the line.'}
        </p>
      )}
      <p role="status" class={said !== null && said !== 'at work' && !said.ok ? 'notice' : 'small'}>
        {said === null || said === 'at work' ? '' : said.said}
      </p>
    </form>
  )
}
