/** What the page can ask for, each as the line of the CLI that does it: the server calls that verb, the page shows the line. Pure. */
import { shellWord } from '../text.ts'

/** `id`: an experiment; `ideas`: ideas of the backlog; `text`: words of the user. */
export const ACTIONS = {
  steer: { needs: ['text'], says: 'Tell the next round' },
  steer_one: { needs: ['id', 'text'], says: 'Tell the next agent of this experiment' },
  note: { needs: ['text'], says: 'Note for all rounds' },
  pause: { needs: ['text'], says: 'Pause the loop' },
  resume: { needs: ['text'], says: 'Resume the loop' },
  stop: { needs: ['text'], says: 'Stop the loop' },
  new: { needs: ['id', 'text'], says: 'New experiment from here' },
  confirm: { needs: ['id'], says: 'Measure again' },
  prune: { needs: ['id', 'text'], says: 'Prune: not a parent any more' },
  restore: { needs: ['id', 'text'], says: 'Restore' },
  pin: { needs: ['id', 'text'], says: 'Pin: a parent of each next round' },
  unpin: { needs: ['id', 'text'], says: 'Unpin: the policy picks parents again' },
  approve: { needs: ['ideas'], says: 'Approve, with its packages' },
  drop: { needs: ['ideas', 'text'], says: 'Drop from the backlog' },
} as const satisfies Record<string, { needs: readonly ('id' | 'ideas' | 'text')[]; says: string }>

export type ActionName = keyof typeof ACTIONS

export interface Action {
  action: ActionName
  run: string
  /** An experiment, or ideas with a space between them. */
  id: string
  text: string
}

/** Arguments of `assay`. Words of the user stand where nothing in them can be taken for a flag. */
export function argumentsOf({ action, run, id, text }: Action): string[] {
  const ofRun = `--run=${run}`
  switch (action) {
    case 'steer':
      return ['steer', ofRun, '--', text]
    case 'steer_one':
      return ['steer', ofRun, '--', id, text]
    case 'note':
      return ['note', ofRun, '--', text]
    case 'pause':
    case 'resume':
    case 'stop':
      return ['loop', action, ofRun, `--reason=${text}`]
    case 'new':
      return ['new', ofRun, `--parent=${id}`, `--message=${text}`]
    case 'confirm':
      return ['confirm', id, ofRun]
    case 'prune':
    case 'restore':
    case 'pin':
    case 'unpin':
      return [action, id, ofRun, `--reason=${text}`]
    case 'approve':
      return ['backlog', 'approve', ...id.split(' '), ofRun]
    case 'drop':
      return ['backlog', 'drop', ...id.split(' '), ofRun, `--reason=${text}`]
  }
}

/** For a shell. */
export const shellLineOf = (action: Action): string =>
  ['assay', ...argumentsOf(action)].map(shellWord).join(' ')

/** An action as a request has it; null when it is none, or something is missing that it needs. */
export function readAction(value: unknown, run: string): Action | null {
  if (typeof value !== 'object' || value === null) return null
  const { action, id = '', text = '' } = value as Record<string, unknown>
  if (typeof action !== 'string' || !Object.hasOwn(ACTIONS, action)) return null
  if (typeof id !== 'string' || typeof text !== 'string') return null
  const name = action as ActionName
  const needs: readonly string[] = ACTIONS[name].needs
  if (needs.includes('id') && !/^exp_\d{4,}$/.test(id)) return null
  if (needs.includes('ideas') && !/^idea_\d{4,}( idea_\d{4,})*$/.test(id)) return null
  if (needs.includes('text') && text.trim() === '') return null
  return { action: name, run, id, text }
}
