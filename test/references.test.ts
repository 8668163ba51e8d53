import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

test('a row of the table of attacks names no test, or one that is not there', () => {
  const text = readFileSync(at('../references/integrity.md'), 'utf8')
  const table = text.slice(text.indexOf('| a candidate that / what happens'), text.indexOf('## Out of reach'))
  const rows = table
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells[2])
  expect(rows.length).toBeGreaterThan(25)
  for (const cells of rows) {
    const names = [...(cells[4] ?? '').matchAll(/`([\w.-]+)`/g)].map(([, name]) => name)
    expect(names, cells[1]).not.toEqual([])
    for (const name of names)
      expect(
        ['e2e', 'chaos'].some((folder) => existsSync(at(`${folder}/${name}.test.ts`))),
        `${cells[1]}: ${name}`,
      ).toBe(true)
  }
})

test('a row of the tables about other loops names no test, or one that is not there', () => {
  const rows = readFileSync(at('../references/neighbours.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| B?\d/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  expect(rows.length).toBeGreaterThan(35)
  for (const [, fault, , tests = ''] of rows) {
    const named = [...tests.matchAll(/`(test\/[\w./-]+)` "([^"]+)"/g)]
    expect(named, fault).not.toEqual([])
    for (const [, file = '', words = ''] of named) {
      const path = at(`../${file}`)
      expect(existsSync(path), `${fault}: ${file}`).toBe(true)
      const titles = readFileSync(path, 'utf8')
      expect(titles.includes(words), `${fault}: ${file} has no test "${words}"`).toBe(true)
    }
  }
})

test('a word of the glossary has two rows, so that it may mean two things', () => {
  const text = readFileSync(at('../references/glossary.md'), 'utf8')
  const rows = text.slice(0, text.indexOf('## Status')).matchAll(/^\| ([^|]+?) +\|/gm)
  const words = [...rows].slice(2).flatMap(([, names = '']) =>
    names
      .replace(/\(.*\)/, '')
      .trim()
      .split(', '),
  )
  expect(words.length).toBeGreaterThan(60)
  expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([])
})
