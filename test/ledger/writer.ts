/**
 * Started by a test, many at once: opens a ledger, says that it is ready, waits for the end of its input, then
 * proposes its notes one after another and prints the text of each as soon as that one is acknowledged.
 */
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { Ledger } from '../../cli/ledger/ledger.ts'

const [file = '', name = '', times = ''] = process.argv.slice(2)
const ledger = Ledger.open(file)
if (!ledger.ok) throw new Error(ledger.problem.message)
writeSync(1, 'ready\n')
process.stdin.resume()
await once(process.stdin, 'end')
for (let n = 0; n < Number(times); n++) {
  // Lengths differ, and some lines are longer than a page.
  const text = `${name}.${n}.${'x'.repeat((n * 137) % (n % 10 === 0 ? 9000 : 300))}`
  const wrote = ledger.value.propose<'noted'>(
    { type: 'noted', kind: 'note', experiment: null, text },
    new Date(),
  )
  if (!wrote.ok) throw new Error(wrote.problem.message)
  if (!wrote.value.accepted) throw new Error(wrote.value.because.message)
  writeSync(1, `${text}\n`)
}
