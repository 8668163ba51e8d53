import { expect, test } from 'vitest'
import { looksSecret } from '../../cli/git/secrets.ts'

test.each([
  '.env',
  'app/.env.local',
  '.ENV.production',
  'config/prod.env',
  '.envrc',
  'id_rsa',
  '.ssh/id_ed25519',
  'test/fixtures/key.pem',
  'server.key',
  'cert.p12',
  'release.keystore',
  '.npmrc',
  '.netrc',
  '.pypirc',
  '.pgpass',
  'credentials.json',
  'secrets.yaml',
  '.aws/credentials',
  '.docker/config.json',
  'service-account-prod.json',
])('a new file that looks like a secret is noticed: %s', (path) => {
  expect(looksSecret(path)).not.toBe(null)
})

test.each([
  '.env.example',
  '.env.sample',
  'app/.env.template',
  'example.env',
  'src/env.ts',
  'src/environment.js',
  'src/secrets.ts',
  'src/credentials.test.js',
  'id_rsa.pub',
  'keys/index.js',
  'src/config.json',
  'package.json',
  'monkey.js',
])('an ordinary file is not called a secret: %s', (path) => {
  expect(looksSecret(path)).toBe(null)
})
