import type { Context } from './command.ts'
import { wrap } from './wrap.ts'

/** Lines of text as a terminal of this width shows them whole; for programs they stay as they are. */
export const wrapped = ({ tty, columns }: Pick<Context, 'tty' | 'columns'>, lines: string[]): string[] =>
  tty ? lines.flatMap((line) => wrap(line, columns)) : lines
