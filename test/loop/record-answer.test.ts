import { expect, test } from 'vitest'
import { MAX_LINE } from '../../cli/ledger/append.ts'
import { fitted } from '../../cli/loop/record-answer.ts'

test('texts that fit are cut, or texts whose characters take many bytes exceed the line', () => {
  const cut = (text: string) => fitted(400, (most) => Array(40).fill(text.slice(0, most)) as string[])
  expect(cut('x'.repeat(500))[0]).toHaveLength(400)
  expect(cut('界'.repeat(500))[0]).toHaveLength(400)
  const bells = cut('\u0007'.repeat(500))
  expect(bells[0]?.length).toBeGreaterThan(150)
  expect(JSON.stringify(bells).length).toBeLessThan(MAX_LINE)
})
