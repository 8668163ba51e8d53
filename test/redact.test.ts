import { afterEach, describe, expect, test } from 'vitest'
import { certainSecretsIn, redact, redactIn, rememberSecrets } from '../cli/redact.ts'
import { ALL_SECRETS, leaked, NAMED_SECRETS, SECRETS } from './rig/secrets.ts'

afterEach(() => rememberSecrets({}, []))

describe('a secret', () => {
  test.each(Object.entries(ALL_SECRETS))('%s stays in a text', (name, { text }) => {
    for (const scene of [text, `before ${text} after`, `line\n${text}\nMETRIC ms=12.5`, `"${text}"`]) {
      const safe = redact(scene)
      expect(leaked(safe), `${name}: ${safe}`).toEqual([])
      expect(safe).toContain('[redacted ')
    }
  })

  test.each(Object.entries(ALL_SECRETS))('%s stays in JSON text, or breaks it', (name, { text }) => {
    const value = { note: `it said\n${text}\n"and" went on`, list: [text], [text]: 1 }
    const safe = redact(JSON.stringify(value))
    expect(leaked(safe), `${name}: ${safe}`).toEqual([])
    expect(JSON.parse(safe).note).toMatch(/^it said\n[\s\S]*"and" went on$/)
  })

  test('is redacted twice into something else', () => {
    for (const { text } of Object.values(ALL_SECRETS)) expect(redact(redact(text))).toBe(redact(text))
  })

  test('is redacted together with its name or the next line', () => {
    const { text, secrets } = NAMED_SECRETS.awsSecret ?? { text: '', secrets: [] }
    expect(redact(`${text}\nMETRIC ms=12.5`)).toBe('AWS_SECRET_ACCESS_KEY=[redacted secret]\nMETRIC ms=12.5')
    expect(secrets).toHaveLength(1)
  })
})

describe('what only looks like one', () => {
  test.each([
    'commit 4f2d9c1e8b7a6053f1d2c3b4a5968778695a4b3c by nobody',
    'sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'id 123e4567-e89b-42d3-a456-426614174000',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'METRIC tokens_per_second=12345678.25',
    'METRIC token=123456789',
    'METRIC password_hash_ms=12345678ms',
    'METRIC secret_scan/files=1234567890 files',
    '{"tokens": 12345678, "api_key_checks": 1234567890, "token": "9f86d081884c7d65"}',
    'assay round close --token 9f86d081884c7d65 --json',
    'const token = parser.nextToken(source)',
    'token: this.lexer.current.token',
    'unexpected token: whitespace',
    'max_tokens: unlimited1',
    'password: string, secret: Buffer',
    'PASSWORD=$DB_PASSWORD_1 TOKEN=$SERVICE_TOKEN SECRET={{ vault }}',
    'PASSWORD=******** TOKEN=xxxxxxxxxxxx',
    'PRIVATE_KEY_PATH=/etc/ssl/private/server1.pem',
    'class="sk-estimator-doc-link sk-parallel-item-container"',
    'task-sk-learn-2-with-a-name-of-some-length',
    'http://127.0.0.1:8080/path@2 and git@github.com:owner/name.git',
    'https://example.com/a:b@c',
    'the bearer of this letter, authentication',
    'npm_config_registry and npm_package_version',
    'SG.1 AKIA and ghp_ and eyJhbGci.x.y',
  ])('is redacted: %s', (text) => expect(redact(text)).toBe(text))
})

describe('values of the run', () => {
  const value = ['wax', 'Bean', '4412'].join('')

  test('are shown although their variable is known', () => {
    rememberSecrets({ APP_PASSWORD: value }, [])
    expect(redact(`login ${value}! and ${value}`)).toBe(
      'login [redacted APP_PASSWORD]! and [redacted APP_PASSWORD]',
    )
  })

  test('with quotes or umlauts are shown inside JSON or in a file', () => {
    const odd = ['ä"b\\c', value].join('-')
    rememberSecrets({ APP_PASSWORD: odd }, [])
    expect(JSON.parse(redact(JSON.stringify({ odd })))).toEqual({ odd: '[redacted APP_PASSWORD]' })
    const bytes = Buffer.from(`x ${odd}`).toString('latin1')
    expect(redact(bytes, 'latin1')).toBe('x [redacted APP_PASSWORD]')
  })

  test('that are words, numbers, short or of other variables are redacted', () => {
    const text = 'rejected by candidate 12345678 with abc1 in production2 at /home/someone/key2'
    rememberSecrets(
      {
        A_TOKEN: 'rejected',
        B_TOKEN: 'candidate',
        C_TOKEN: '12345678',
        D_TOKEN: 'abc1',
        MODE: 'production2',
        E_KEY: '/home/someone/key2',
      },
      ['MODE'],
    )
    expect(redact(text)).toBe(text)
  })

  test('of the file that look random are shown, whatever their name', () => {
    const random = Object.values(ALL_SECRETS).at(6)?.secrets[0]?.slice(8, 32) ?? ''
    rememberSecrets({ THING: random }, ['THING'])
    expect(redact(`it is ${random}`)).toBe('it is [redacted THING]')
  })
})

test('data without a secret is copied', () => {
  const value = { a: ['x'], b: null }
  expect(redactIn(value)).toBe(value)
})

test('code that only names a secret is refused, or a key in code is not', () => {
  const code = [
    "const token = 'identifier0'",
    "if (password === 'abcdefgh1') return fail('secret-is-wrong1')",
    'connect("postgres://user:passw0rd@localhost/test")',
    "apiKey: 'some_long_placeholder_value_1'",
  ]
  expect(code.filter((line) => certainSecretsIn(line).length > 0)).toEqual([])
  const certain = Object.values(ALL_SECRETS).filter(({ text }) => certainSecretsIn(text).length > 0)
  // Words as passwords, and short ones, stay the author's business.
  expect(Object.keys(ALL_SECRETS).length - certain.length).toBeLessThanOrEqual(3)
  for (const { text } of Object.values(SECRETS)) expect(certainSecretsIn(text)).not.toEqual([])
})
