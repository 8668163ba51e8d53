import { expect, test } from 'vitest'
import { alike } from '../../cli/text.ts'

test.each([
  ['Intern the keys', 'intern THE keys!', true],
  ['Intern the keys of the parser', 'the parser: intern keys of', true],
  ['Set the buffer to 64', 'Set the buffer to 128', false],
  ['Intern the keys', 'Intern the values', false],
  ['Ändere die Größe', 'ändere die größe', true],
  ['src/a.ts grows', 'src/b.ts grows', false],
  ['', '', true],
  ['', 'something', false],
  ['a b c d e f g h i', 'a b c d e f g h i j', true],
  ['a b c d e f g h', 'a b c d e f g h i', false],
])('likeness of "%s" and "%s" is mistaken, in either order', (a, b, same) => {
  expect([alike(a, b), alike(b, a)]).toEqual([same, same])
})
