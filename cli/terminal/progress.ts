/** Facts of long work → lines for people on standard error. */
import { duration, shown } from '../evaluate/figure.ts'
import type { Notice, Tell } from '../notices.ts'
import { unreachable } from '../result.ts'
import { printable } from './output.ts'

export interface Progress {
  tell: Tell
  /** Clears the line that is being updated, if any: call it before anything else is printed. */
  end: () => void
}

/**
 * On a terminal, passing facts update one line and lasting ones stay above it; elsewhere every fact is a plain line.
 * With `brief` (a program reads the answer), samples are left out.
 */
export function progressTo(
  write: (text: string) => void,
  { tty, columns, brief }: { tty: boolean; columns: number; brief: boolean },
): Progress {
  let updating = false
  const clear = () => {
    if (updating) write('\r\u001b[2K')
    updating = false
  }
  const tell: Tell = (fact) => {
    if (brief && fact.type === 'sample') return
    const line = printable(describe(fact)).replaceAll('\n', ' ')
    clear()
    if (tty && isPassing(fact)) {
      write(line.slice(0, Math.max(columns - 1, 1)))
      updating = true
    } else write(`${line}\n`)
  }
  return { tell, end: clear }
}

/** After the first Ctrl-C, by a verb that ends at its next boundary. */
export const LEAVING: Notice = {
  type: 'log',
  message: 'finishing the work that is paid for; Ctrl-C again stops now',
}

/** Of interest only until the next fact. */
function isPassing(fact: Notice): boolean {
  return (
    fact.type === 'sample' || fact.type === 'step' || fact.type === 'preparing' || fact.type === 'waiting'
  )
}

function describe(fact: Notice): string {
  switch (fact.type) {
    case 'warning':
      return `warning: ${fact.message}`
    case 'preparing':
      return `preparing ${fact.what}`
    case 'waiting':
      return `waiting for ${fact.what}`
    case 'step':
      return `${fact.experiment}: ${STEPS[fact.step] ?? fact.step}`
    case 'sample':
      return `${fact.experiment}: ${fact.stage} ${fact.pair + 1}${fact.side === 'parent' ? ', parent' : ''}: ${fact.value === null ? 'no value' : shown(fact.value)} (${duration(fact.wall_ms)})`
    case 'phase':
      return `== ${fact.title}`
    case 'log':
      return fact.message
    case 'agent': {
      const where = fact.phase === null ? '' : ` [${fact.phase}]`
      const time = fact.state === 'started' ? '' : ` in ${duration(fact.ms)}`
      const message = fact.message === undefined ? '' : `: ${fact.message}`
      return `agent ${fact.label}${where} ${fact.state}${time}${message}`
    }
    default:
      return unreachable(fact)
  }
}

/** As people say it; the others are words already. */
const STEPS: Readonly<Record<string, string>> = {
  build: 'checking out what was sealed',
  gates_before: 'gates',
  gates_after: 'gates after measuring',
}
