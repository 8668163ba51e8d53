/** What a candidate may change, and how a worktree is made ready. */
import { either, keys, list, may, need, or, text, whole } from '../kind.ts'
import { commandText, durationText, glob, path } from './text.ts'

export const scope = keys({
  mutable: need(
    list(glob, { least: 1 }),
    'Globs (picomatch, `dot: true`) of the files that a candidate may change, relative to the folder of the spec.',
  ),
  immutable: or(
    list(glob),
    [],
    'Globs of the files that a candidate may not change. A file that also matches `mutable` is immutable.',
  ),
  limits: or(
    keys({
      files: may(whole({ min: 1 }), 'Most files that one candidate may change.'),
      lines: may(whole({ min: 1 }), 'Most lines that one candidate may add and remove together.'),
      types: may(
        list(
          text({
            noun: 'a file type',
            pattern: '^\\.[^/\\s]+$',
            hint: 'write the end of the file name with its dot: .ts',
          }),
          { least: 1 },
        ),
        'How the name of a changed file may end.',
      ),
    }),
    {},
    'Limits on the size of a candidate; a larger one is rejected. An absent limit is not checked.',
  ),
})

export const worktree = keys({
  setup: may(
    keys({
      command: need(commandText, 'Makes a fresh checkout usable.'),
      inputs: or(
        list(glob),
        [],
        'Globs of the files that the command depends on: it runs again when they change. With them, a new worktree may get a copy of what an earlier setup made.',
      ),
      timeout: or(durationText, '10m', 'The longest that it may take.'),
    }),
    'Runs in each checkout before anything else, for example `npm ci`.',
  ),
  build: may(
    keys({
      command: need(commandText, 'Builds what is measured.'),
      timeout: or(durationText, '10m', 'The longest that it may take.'),
    }),
    'Runs once for each candidate in each checkout, after `setup`.',
  ),
  data: or(
    list(glob),
    [],
    'Globs of files that are not in git (ignored, or too large) and that the benchmark needs: every checkout gets a read-only copy from yours, as it was at `init`. They are never part of a candidate.',
  ),
  cache: or(
    list(path),
    [],
    'Folders or files that git ignores, in which `build` keeps its work (`target`, `out`). Each build starts from what the build of the baseline left there, and what it writes there itself is thrown away.',
  ),
})

export const instructions = keys({
  file: may(
    either(path, list(path, { least: 1 })),
    'A file of text, or several, that every agent reads first.',
  ),
  text: may(text(), 'The text itself.'),
  rules: or(list(text()), [], 'Constraints that no code can check, one sentence each.'),
})
