/** Make and a C compiler: the program is built once for each candidate, incrementally, from sources of another time. */
import { expect, test } from 'vitest'
import type { Files } from '../../rig/repo.ts'
import { journey, makeKind, refusedInit } from './journey.ts'

const FILES: Files = {
  '.gitignore': 'out/\n',
  Makefile: `CFLAGS = -O0 -Wall
out/bench: out/sort.o out/bench.o
	$(CC) -o $@ $^
out/%.o: src/%.c src/sort.h
	@mkdir -p out
	$(CC) $(CFLAGS) -c -o $@ $<
out/bench.o: bench/bench.c src/sort.h
	@mkdir -p out
	$(CC) $(CFLAGS) -Isrc -c -o $@ $<
`,
  'src/sort.h': 'extern long swaps;\nvoid swap(int *a, int *b);\nvoid sort(int *values, int n);\n',
  'src/sort.c': `#include "sort.h"
void sort(int *values, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j + 1 < n; j++)
      if (values[j] > values[j + 1]) swap(&values[j], &values[j + 1]);
}
`,
  'bench/bench.c': `#include <stdio.h>
#include "sort.h"
long swaps = 0;
void swap(int *a, int *b) { int c = *a; *a = *b; *b = c; swaps++; }
int main(void) {
  int values[6] = {6, 5, 4, 3, 2, 1};
  sort(values, 6);
  for (int i = 0; i < 6; i++) if (values[i] != i + 1) { fprintf(stderr, "not sorted\\n"); return 1; }
  printf("METRIC swaps=%ld\\n", swaps);
  return 0;
}
`,
}

const selection = (extra: string): Files => ({
  'src/sort.c': `#include "sort.h"
void sort(int *values, int n) {
  for (int i = 0; i + 1 < n; i++) {
    int least = i;
    for (int j = i + 1; j < n; j++) if (values[j] < values[least]) least = j;
    ${extra}swap(&values[i], &values[least]);
  }
}
`,
})

const SPEC = {
  worktree: { build: { command: 'make -s', timeout: '1m' } },
  measure: { command: ['out/bench'] },
  metric: { name: 'swaps', direction: 'minimize' },
}

test('make takes the objects of the last candidate for those of the next', async () => {
  const project = makeKind({ files: FILES, spec: SPEC })
  await journey(project, { baseline: 15, edit: selection(''), value: 5 })
  const better = await project.attempt(selection('if (least != i) '))
  expect(better).toMatchObject({ status: 'kept', value: 3, parent_value: 15 })
  const broken = await project.attempt({ 'src/sort.c': 'void sort(int *values, int n) { return 1 }\n' })
  expect(broken).toMatchObject({ status: 'failed', reason: 'crash', failure_class: 'build' })
  const again = await project.attempt({
    'src/sort.c': '/* new text */\n'.concat(String(FILES['src/sort.c'])),
  })
  expect(again).toMatchObject({ status: 'rejected', reason: 'tie', value: 15 })
})

test('a program that was never built, or a build that fails, is not reported as such', async () => {
  const unbuilt = await refusedInit(makeKind({ files: FILES, spec: { ...SPEC, worktree: {} } }))
  expect(unbuilt.code).toBe('baseline_failed')
  expect(unbuilt.message).toContain('out/bench: not found')
  expect(unbuilt.hint).toContain('worktree.build')

  const files = { ...FILES, 'src/sort.h': 'void sort(int *values, int n)\n' }
  const broken = await refusedInit(makeKind({ files, spec: SPEC }))
  expect(broken.code).toBe('baseline_failed')
  expect(broken.message).toContain('the build failed: exit 2: make')
  expect(broken.at).toMatch(/^make -s\n/)
  expect(broken.at).toContain('src/sort.c:2:31: error')
})
