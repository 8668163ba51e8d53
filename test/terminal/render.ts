import fc from 'fast-check'
import { STATUSES } from '../../cli/ledger/events.ts'
import { asText, type Line } from '../../cli/terminal/lines.ts'

export const text = (lines: readonly Line[]): string => lines.map(asText).join('\n')

export const statuses = fc.constantFrom(...STATUSES)

/** Numbers that break naive charts. */
export const numbers = fc.option(
  fc.oneof(
    fc.integer({ min: -5, max: 5 }),
    fc.double(),
    fc.constantFrom(0, -0, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 1e9, 1e9 + 1),
  ),
)

/** Text that tries to steer the terminal. */
export const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.constantFrom(
    '\x1b[2J\x1b[Hgone',
    '\x1b]0;title\x07',
    'a\r\nb\tc',
    '\u202egnp.exe',
    '漢字かな交じり文',
    '👩‍👩‍👧 e\u0301\u0301\u0301\u0301\u0301',
    '\x9b31m',
    '\ud800',
  ),
)

/** Nothing a terminal would obey, and nothing that hides. */
export const OBEYED =
  /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udfff](?![\udc00-\udfff])(?<![\ud800-\udbff][\udc00-\udfff])/
