import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { composeAttributes, namesFilter } from '../../cli/git/rules.ts'
import { makeRepo } from '../rig/repo.ts'

const FOLDERS: Record<string, string> = {
  '': [
    '# a comment',
    '  *.c text',
    '[attr]native text eol=lf',
    '*.n native',
    'odd.n -native',
    '"sp ace.txt" -text',
    '"\\303\\244.txt" eol=crlf',
    '/top.txt text=auto',
    'deep/*.x filter=one diff=c',
    '!no.txt text',
    'folder/ text',
    '*.png binary',
    'unset.c !text',
  ].join('\n'),
  sub: '*.c -text\n/only.txt ident\nin/side.txt working-tree-encoding=UTF-16\n[attr]macro text\n',
  'sub/a [b]': '*.c eol=crlf\n',
}
const FILES = [
  'a.c',
  'unset.c',
  'x.n',
  'odd.n',
  'sp ace.txt',
  'ä.txt',
  'top.txt',
  'sub/top.txt',
  'deep/f.x',
  'sub/deep/f.x',
  'no.txt',
  'folder/f',
  'p.png',
  'sub/a.c',
  'sub/only.txt',
  'sub/more/only.txt',
  'sub/in/side.txt',
  'sub/a [b]/a.c',
  'sub/a b/a.c',
  'sub/a [b]/deeper/a.c',
  'hidden.dat',
]
const NAMES = ['text', 'crlf', 'eol', 'ident', 'filter', 'working-tree-encoding']

test('the composed text means something else than the files it is made of, or lets those of a candidate change it', () => {
  const repo = makeRepo({
    files: Object.fromEntries(
      Object.entries(FOLDERS).map(([folder, text]) => [
        folder === '' ? '.gitattributes' : `${folder}/.gitattributes`,
        text,
      ]),
    ),
  })
  const told = () =>
    execFileSync('git', ['check-attr', '-z', '--stdin', ...NAMES], {
      cwd: repo.dir,
      env: repo.env,
      input: FILES.join('\0'),
      encoding: 'utf8',
    })
  writeFileSync(repo.path('.git/info/attributes'), 'hidden.dat filter=hide\n')
  const meant = told()
  expect(meant).toContain('hidden.dat\0filter\0hide')
  expect(meant).toContain('sub/a [b]/deeper/a.c\0eol\0crlf')

  const text = composeAttributes({
    global: '',
    inTree: Object.entries(FOLDERS).map(([folder, own]) => ({ folder, text: own })),
    info: 'hidden.dat filter=hide\n',
  })
  writeFileSync(repo.path('.git/info/attributes'), text, 'latin1')
  rmSync(repo.path('sub'), { recursive: true })
  repo.write({
    '.gitattributes':
      '* text eol=crlf filter=evil\n[attr]text eol=crlf\n[attr]binary filter=evil\n[attr]native filter=evil\n',
    'sub/a [b]/.gitattributes': '* working-tree-encoding=UTF-16 ident\n',
  })
  expect(told()).toBe(meant)
})

test('a repository without filters pays for a look at all of its files', () => {
  const composed = (info: string) => namesFilter(composeAttributes({ global: '', inTree: [], info }))
  expect(composed('* text=auto\n')).toBe(false)
  expect(composed('*.bin text filter=lfs\n')).toBe(true)
})
