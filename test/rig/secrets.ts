/** Credentials that look real and are none, put together at run time: no scanner finds one in this repository. */

const alphabet = 'Xk7Qm2Zr9Lw4Tb6Vn8Ys3Hd5Gf1Jp0Kc'
/** Letters and digits, the same ones every time. */
const letters = (length: number, from = 0): string =>
  Array.from({ length }, (_, at) => alphabet[(at * 7 + from * 5) % alphabet.length]).join('')
const capitals = (length: number): string =>
  letters(length)
    .toUpperCase()
    .replace(/[0189]/g, 'R')
const base64url = (text: string): string => Buffer.from(text).toString('base64url')
const line64 = (from: number): string => letters(64, from)

const jwt = [
  base64url('{"alg":"HS256","typ":"JWT"}'),
  base64url('{"sub":"1234567890","name":"nobody"}'),
  letters(43),
].join('.')

const dashes = '-'.repeat(5)
const keyBody = [line64(1), line64(2), line64(3)]

/** name → the text that is written, and what of it must never be seen again. */
export const SECRETS: Readonly<Record<string, { text: string; secrets: string[] }>> = Object.fromEntries(
  Object.entries({
    awsId: ['AKIA', capitals(16)].join(''),
    github: ['ghp', letters(36)].join('_'),
    githubOauth: ['gho', letters(36, 1)].join('_'),
    githubPat: ['github', 'pat', letters(22), letters(59, 2)].join('_'),
    gitlab: ['glpat', letters(20)].join('-'),
    slack: ['xoxb', '123456789012', '1234567890123', letters(24)].join('-'),
    openai: ['sk', 'proj', letters(48)].join('-'),
    openaiOld: ['sk', letters(48, 3)].join('-'),
    anthropic: ['sk', 'ant', 'api03', letters(93)].join('-'),
    google: ['AI', 'za', letters(35)].join(''),
    stripe: ['sk', 'live', letters(24)].join('_'),
    npm: ['npm', letters(36, 4)].join('_'),
    pypi: ['pypi', `AgEIcHlwaS5vcmc${letters(60)}`].join('-'),
    jwt,
  }).map(([name, text]) => [name, { text, secrets: [text] }]),
)

const around = (before: string, secret: string, after = '') => ({
  text: `${before}${secret}${after}`,
  secrets: [secret],
})

/** The same for secrets that only their surroundings give away. */
export const NAMED_SECRETS: typeof SECRETS = {
  awsSecret: around('AWS_SECRET_ACCESS_KEY=', `${letters(19)}/${letters(20, 2)}`),
  token: around('export SERVICE_TOKEN=', letters(24, 5)),
  password: around('DB_PASSWORD=', ['hunter', 'sesame', '77'].join('-')),
  words: around('PASSWORD=', ['correct', 'horse', 'battery'].join('')),
  json: around('{"client_secret": "', letters(20, 6), '", "n": 1}'),
  yaml: around('api_key: ', letters(28, 7)),
  coloured: around('API_TOKEN=\u001b[32m', letters(22, 8), '\u001b[0m'),
  bearer: around('authorization: Bearer ', letters(30, 9)),
  basic: around('Authorization: Basic ', Buffer.from(`user:${letters(14)}`).toString('base64')),
  url: around('postgres://app:', ['s3', 'same', '0pen'].join('-'), '@db.example.com:5432/app'),
  privateKey: {
    text: [
      `${dashes}BEGIN RSA PRIVATE KEY${dashes}`,
      ...keyBody,
      `${dashes}END RSA PRIVATE KEY${dashes}`,
    ].join('\n'),
    secrets: keyBody,
  },
  cutKey: { text: [`${dashes}BEGIN PRIVATE KEY${dashes}`, ...keyBody].join('\n'), secrets: keyBody },
}

export const ALL_SECRETS: typeof SECRETS = { ...SECRETS, ...NAMED_SECRETS }

/** The names of the fakes that stand in a text, also in part: what a cut leaves of one is still of use to a thief. */
export function leaked(text: string): string[] {
  return Object.entries(ALL_SECRETS).flatMap(([name, { secrets }]) =>
    secrets.some((secret) => text.includes(secret.slice(0, 24)) || text.includes(secret.slice(-16)))
      ? [name]
      : [],
  )
}
