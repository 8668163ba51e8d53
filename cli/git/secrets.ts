/** Names of files that usually hold secrets. Pure: it looks at the name alone. */

interface Rule {
  name: RegExp
  reason: string
}

const EXAMPLE = /\.(example|sample|template|dist|defaults)$/

const RULES: readonly Rule[] = [
  { name: /^\.env(\..+)?$|^.+\.env$|^\.envrc$/, reason: 'environment file' },
  { name: /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/, reason: 'SSH private key' },
  { name: /\.(pem|key|ppk)$/, reason: 'private key' },
  { name: /\.(p12|pfx|jks|keystore|kdbx)$/, reason: 'key store' },
  {
    name: /^\.(npmrc|netrc|pypirc|pgpass|htpasswd|git-credentials|dockercfg|vault-token)$/,
    reason: 'credentials',
  },
  { name: /^_netrc$/, reason: 'credentials' },
  {
    name: /^(credentials|secrets?)(\.(json|ya?ml|toml|ini|txt|xml|properties|csv|env))?$/,
    reason: 'credentials',
  },
  {
    name: /^(service[-_]?account|client[-_]secret|application_default_credentials).*\.json$/,
    reason: 'credentials',
  },
]

/** Files that are secret by the folder that they lie in. */
const PLACES: readonly Rule[] = [
  { name: /(^|\/)\.docker\/config\.json$/, reason: 'credentials' },
  { name: /(^|\/)\.kube\/config$/, reason: 'credentials' },
  { name: /(^|\/)\.aws\/(credentials|config)$/, reason: 'credentials' },
  { name: /(^|\/)\.(ssh|gnupg)\/[^/]+$/, reason: 'private key' },
]

/** Why a path looks like a secret, or null. Examples such as `.env.example` do not; case does not matter. */
export function looksSecret(path: string): string | null {
  const whole = path.toLowerCase()
  const name = whole.slice(whole.lastIndexOf('/') + 1)
  if (EXAMPLE.test(name) || /^(example|sample|template)\.env$/.test(name)) return null
  const rule = RULES.find((one) => one.name.test(name)) ?? PLACES.find((one) => one.name.test(whole))
  return rule?.reason ?? null
}
