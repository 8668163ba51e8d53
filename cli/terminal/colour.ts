import { asText, type Line, type TextRole } from './lines.ts'

/** Lines as a terminal shows them. */
export type Paint = (line: Line) => string

/** Without any escape sequence. */
export const monochrome: Paint = asText

/** The sixteen colours of the user's own theme; loads chalk only when colour is wanted. */
export async function painter(colour: boolean): Promise<Paint> {
  if (!colour) return monochrome
  const { Chalk } = await import('chalk')
  const chalk = new Chalk({ level: 1 })
  const looks: Record<TextRole, (text: string) => string> = {
    plain: (text) => text,
    dim: chalk.dim,
    title: chalk.bold,
    good: chalk.green,
    bad: chalk.red,
    warn: chalk.yellow,
    best: chalk.greenBright.bold,
    axis: chalk.dim,
    target: chalk.magenta,
    open: chalk.dim,
    running: chalk.cyan,
    kept: chalk.green,
    rejected: chalk.dim,
    failed: chalk.red,
    discarded: chalk.dim,
    pruned: chalk.blue,
    revoked: chalk.yellow,
  }
  return (line) => line.map(({ text, role }) => (text.trim() === '' ? text : looks[role](text))).join('')
}
