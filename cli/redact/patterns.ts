/**
 * The shapes of credentials, as data: to know one more, add an entry. Every pattern is bounded and begins at a literal, so the
 * time is linear in the text.
 */

export interface Rule {
  kind: string
  /** One of these is in every match: most texts hold none, and are done after that look. */
  hints: readonly string[]
  pattern: RegExp
  /** The parts of a match around the secret are kept: groups `before` and `after`. */
  accepts?: (secret: string, match: RegExpMatchArray, text: string) => boolean
}

/** Not inside a word; an escape such as `\n` in JSON text ends one. */
const START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf]))`
const END = '(?![A-Za-z0-9_-])'
const own = (source: string) => new RegExp(`${START}(?<secret>${source})`, 'g')
const whole = (source: string) => new RegExp(`${START}(?<secret>${source})${END}`, 'g')
/** Prose and class names have no capitals and digits mixed. */
export const mixed = (secret: string): boolean => /\d/.test(secret) && /[A-Z]/.test(secret)

export const RULES: readonly Rule[] = [
  {
    kind: 'private key',
    hints: ['PRIVATE KEY'],
    // Without its end (cut output) it reaches as far as base64 does.
    pattern:
      /(?<secret>-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?:[A-Za-z0-9+/=\s:,.]|\\[nrt]|-(?!----)){0,16000}-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[nrt]){1,4}[A-Za-z0-9+/=]{16,80}){0,180}))/g,
  },
  { kind: 'AWS key', hints: ['AKIA', 'ASIA'], pattern: whole('(?:AKIA|ASIA)[A-Z2-7]{16}(?![+/=])') },
  {
    kind: 'GitHub token',
    hints: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    pattern: /(?<secret>gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{40,255})/g,
  },
  { kind: 'GitLab token', hints: ['glpat-'], pattern: /(?<secret>glpat-[A-Za-z0-9_-]{20,64})/g },
  {
    kind: 'Slack token',
    hints: ['xox', 'xapp-'],
    pattern: own('(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,200}'),
    accepts: (secret) => /\d/.test(secret),
  },
  {
    kind: 'Slack webhook',
    hints: ['hooks.slack.com/'],
    pattern: /(?<before>hooks\.slack\.com\/(?:services|workflows)\/)(?<secret>[A-Za-z0-9/_-]{20,120})/g,
  },
  { kind: 'API key', hints: ['sk-'], pattern: own('sk-[A-Za-z0-9_-]{20,250}'), accepts: mixed },
  { kind: 'Google key', hints: ['AIza'], pattern: whole('AIza[A-Za-z0-9_-]{35}') },
  {
    kind: 'Google secret',
    hints: ['GOCSPX-', 'ya29.'],
    pattern: own(String.raw`(?:GOCSPX-[A-Za-z0-9_-]{20,64}|ya29\.[A-Za-z0-9_-]{20,2000})`),
  },
  {
    kind: 'Stripe key',
    hints: ['k_live_', 'k_test_', 'whsec_'],
    pattern: own('(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,250}'),
  },
  { kind: 'npm token', hints: ['npm_'], pattern: whole('npm_[A-Za-z0-9]{36}') },
  { kind: 'PyPI token', hints: ['pypi-'], pattern: own('pypi-[A-Za-z0-9_-]{50,500}') },
  { kind: 'Hugging Face token', hints: ['hf_'], pattern: whole('hf_[A-Za-z0-9]{34,40}') },
  { kind: 'SendGrid key', hints: ['SG.'], pattern: whole(String.raw`SG\.[\w-]{22}\.[\w-]{43}`) },
  {
    kind: 'JWT',
    hints: ['eyJ'],
    pattern: own(String.raw`eyJ[\w-]{10,2000}\.eyJ[\w-]{8,8000}\.[\w-]{16,1000}`),
  },
  {
    kind: 'credentials',
    hints: ['earer ', 'EARER ', 'asic ', 'ASIC '],
    pattern:
      /(?<before>(?:bearer|authorization["']?[ ]?[:=][ ]?["']?basic) {1,3})(?<secret>[\w.~+/=-]{16,4096})/gi,
    accepts: (secret) => /\d/.test(secret) || /[A-Z].*[a-z]|[a-z].*[A-Z]/.test(secret.slice(1)),
  },
  {
    kind: 'password',
    hints: ['://'],
    pattern: /(?<before>:\/\/[^\s/@:"'<>\\`]{0,100}:)(?<secret>[^\s/@:"'<>\\`]{3,200})(?<after>@)/g,
    accepts: (secret) => !PLACEHOLDER.test(secret),
  },
]

/** What stands for a value that somebody has to put in. */
export const PLACEHOLDER = /^(?:[$<{%*[]|\(?(?:your|change|example|redacted|none|null|undefined)\b)|^(.)\1*$/i
