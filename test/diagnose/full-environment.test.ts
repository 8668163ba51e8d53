import { expect, test } from 'vitest'
import { neededNames } from '../../cli/diagnose/full-environment.ts'

function search(names: string[], needed: string[], tries = 100) {
  let calls = 0
  const works = async (some: readonly string[]) => {
    calls++
    return needed.every((name) => some.includes(name))
  }
  return neededNames(names, works, { tries, expired: () => false }).then((found) => ({ ...found, calls }))
}
const many = Array.from({ length: 100 }, (_, n) => `V${String(n).padStart(2, '0')}`)

test('to find one needed name of a hundred takes more than twice log2(100) tries, or fails', async () => {
  for (const name of ['V00', 'V37', 'V99']) {
    const found = await search(many, [name])
    expect(found).toMatchObject({ names: [name], certain: true })
    expect(found.calls).toBeLessThanOrEqual(15)
  }
})

test('only one of several that matter is named', async () => {
  expect(await search(many, ['V80', 'V03', 'V41'])).toMatchObject({
    names: ['V03', 'V41', 'V80'],
    certain: true,
  })
  expect(await search(['A'], ['A'])).toMatchObject({ names: ['A'], certain: true })
  expect(await search(['A', 'B'], ['A', 'B'])).toMatchObject({ names: ['A', 'B'], certain: true })
})

test('a guess is reported as certain after the last try', async () => {
  const found = await search(many, ['V37'], 3)
  expect(found.certain).toBe(false)
  expect(found.names).toContain('V37')
  expect(found.calls).toBe(3)
})
