import { describe, expect, test } from 'vitest'
import { buildEnvironment, parseEnvironmentFile } from '../../cli/evaluate/environment.ts'

const EMPTY = { inherit: [], set: {}, file: null, keys: null }
const noFile = () => null

test('the default environment lacks what finds programs, or passes variables of the caller’s shell, hook, editor or agent', () => {
  const outer = {
    PATH: '/bin',
    HOME: '/h',
    LC_TIME: 'C',
    CUDA_HOME: '/c',
    XDG_CACHE_HOME: '/x',
    GIT_DIR: '/g',
    NODE_OPTIONS: '--inspect',
    ASSAY_TOKEN: 't',
    CLAUDECODE: '1',
    VSCODE_PID: '1',
    SECRET: 's',
    HOMEWORK: 'h',
    GONE: undefined,
  }
  const kept = { PATH: '/bin', HOME: '/h', LC_TIME: 'C', CUDA_HOME: '/c', XDG_CACHE_HOME: '/x' }
  expect(buildEnvironment(EMPTY, outer, noFile)).toEqual({ ok: true, value: kept })
  expect(buildEnvironment({ ...EMPTY, inherit: ['SECRET', 'MISSING'] }, outer, noFile)).toEqual({
    ok: true,
    value: { ...kept, SECRET: 's' },
  })
  expect(buildEnvironment({ ...EMPTY, inherit: ['*'] }, outer, noFile)).toEqual({
    ok: true,
    value: { ...kept, SECRET: 's', HOMEWORK: 'h' },
  })
})

test('a file overrides what is inherited, and set overrides the file', () => {
  const config = {
    inherit: [],
    file: '.env',
    keys: ['A', 'HOME'],
    set: { A: 'set', NODE_OPTIONS: '--max-old-space-size=64' },
  }
  const files: Record<string, string> = { '.env': 'A=file\nHOME=/file\nOTHER=left out\n' }
  expect(buildEnvironment(config, { HOME: '/h' }, (path) => files[path] ?? null)).toEqual({
    ok: true,
    value: { HOME: '/file', A: 'set', NODE_OPTIONS: '--max-old-space-size=64' },
  })
})

test.each<[string, object, string | null, RegExp]>([
  ['a name that is never inherited', { inherit: ['GIT_DIR'] }, null, /GIT_DIR is not inherited/],
  ['a name of ours that is set', { set: { ASSAY_SEED: '1' } }, null, /ASSAY_SEED cannot be set/],
  ['a name of ours in the file', { file: '.env' }, 'ASSAY_SEED=1', /ASSAY_SEED cannot be set/],
  ['a file that is missing', { file: '.env' }, null, /\.env cannot be read/],
  ['a key that the file lacks', { file: '.env', keys: ['A', 'B'] }, 'A=1', /\.env has no B/],
])('refuses %s', (_, config, text, message) => {
  expect(buildEnvironment({ ...EMPTY, ...config }, {}, () => text)).toMatchObject({
    ok: false,
    problem: { kind: 'usage', message: expect.stringMatching(message) },
  })
})

test('a file that cannot be read is thrown, or a bug of the reader is reported as such a file', () => {
  const enoent = () => {
    throw Object.assign(new Error('x'), { code: 'EACCES' })
  }
  expect(buildEnvironment({ ...EMPTY, file: '.env' }, {}, enoent)).toMatchObject({ ok: false })
  const bug = () => {
    throw new TypeError('bug')
  }
  expect(() => buildEnvironment({ ...EMPTY, file: '.env' }, {}, bug)).toThrow('bug')
})

describe('an environment file', () => {
  test('comments, export, quotes, escapes, CRLF, a byte-order mark; the last of two wins', () => {
    const text = [
      '\ufeff# comment',
      '',
      'A=1',
      'export B = two words # why',
      "C='a # b $A'  # literal",
      'D="line\\nnext \\"quoted\\""',
      'E=',
      'F=a#b',
      'A=2',
    ].join('\r\n')
    expect(parseEnvironmentFile(text, '.env')).toEqual({
      ok: true,
      value: { A: '2', B: 'two words', C: 'a # b $A', D: 'line\nnext "quoted"', E: '', F: 'a#b' },
    })
  })

  test.each(['no equals sign', '1A=x', 'A="open', "A='a'b", 'A-B=1'])(
    '%s is refused by line, without the value',
    (line) => {
      const parsed = parseEnvironmentFile(`OK=1\n${line}`, '.env')
      if (parsed.ok) throw new Error('accepted')
      expect(parsed.problem).toMatchObject({ code: 'environment', at: '.env:2:1' })
      expect(JSON.stringify(parsed.problem)).not.toContain(line)
    },
  )
})
