/**
 * Started by a test, several at once: again and again opens a ledger, notes something and writes a snapshot. Prints each note when it is
 * acknowledged, so right before the snapshot.
 */
import { writeSync } from 'node:fs'
import { Ledger } from '../../cli/ledger/ledger.ts'

const [file = '', name = '', times = ''] = process.argv.slice(2)
for (let n = 0; n < Number(times); n++) {
  const ledger = Ledger.open(file)
  if (!ledger.ok) throw new Error(ledger.problem.message)
  const text = `${name}.${n}`
  const wrote = ledger.value.propose<'noted'>(
    { type: 'noted', kind: 'note', experiment: null, text },
    new Date(),
  )
  if (!wrote.ok || !wrote.value.accepted) throw new Error(`${text} was not written`)
  writeSync(1, `${text}\n`)
  ledger.value.keep(true)
}
