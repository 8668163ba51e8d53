/** What two measurements at once would share, line by line. */

export type Kind =
  | 'port'
  | 'database'
  | 'lock_file'
  | 'fixed_path'
  | 'accelerator'
  | 'absolute_write'
  | 'service'

export interface Hazard {
  kind: Kind
  /** Whether it stands against more than one slot; else it is worth a look. */
  blocks: boolean
  advice: string
}

interface Rule extends Hazard {
  sees: RegExp
  /** What takes the danger away on the same line. */
  unless?: RegExp
}

/** A checkout of each slot is its own folder, so only what lies outside of it is shared. */
const OUTSIDE = String.raw`(?:~|\$HOME|\$\{HOME\}|\.\.)?\/`
const LOCKFILES =
  /(package-lock|yarn\.lock|pnpm-lock|Cargo\.lock|poetry\.lock|uv\.lock|composer\.lock|Gemfile\.lock|flake\.lock|Pipfile\.lock|bun\.lock)/

const RULES: readonly Rule[] = [
  {
    kind: 'port',
    blocks: true,
    sees: /\.listen\(\s*\d{2,5}\b|\b(?:port|PORT)['"]?\s*[:=]\s*['"]?\d{2,5}\b|--port[= ]\d{2,5}\b|\b-p\s+\d{2,5}:\d+|(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d{2,5}\b|\.bind\(\s*\(?[^)]*,\s*\d{2,5}\s*\)|http\.server\s+\d{2,5}\b/,
    unless: /ASSAY_PORT|ASSAY_SLOT/,
    advice: 'listen on $ASSAY_PORT: a free one for each sample',
  },
  {
    kind: 'database',
    blocks: true,
    sees: /\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqp|clickhouse|cockroachdb)(?:\+\w+)?:\/\/|\bredis\.(?:Redis|createClient)\(|\bnew Redis\(|\bpsycopg2?\.connect\(|\bMongoClient\(/,
    unless: /ASSAY_SLOT/,
    advice: 'one database for each slot: put $ASSAY_SLOT into its name, or start it in measure.before',
  },
  {
    kind: 'database',
    blocks: true,
    sees: new RegExp(String.raw`sqlite:\/{3,4}\/|['"\x60]${OUTSIDE}[^'"\x60\s]*\.(?:sqlite3?|db)['"\x60]`),
    unless: /ASSAY_SLOT|TMPDIR/,
    advice: 'keep the file below $TMPDIR, which is fresh for each sample',
  },
  {
    kind: 'database',
    blocks: false,
    sees: /sqlite3?\.connect\(\s*['"](?!:memory:)|['"`][^'"`\s]*\.(?:sqlite3?|db)['"`]|sqlite:\/\/\/(?!\/)\w/,
    unless: /ASSAY_SLOT|TMPDIR/,
    advice: 'each slot has its own copy, unless it is a link to one file or worktree.data hands it out',
  },
  {
    kind: 'lock_file',
    blocks: true,
    sees: new RegExp(String.raw`${OUTSIDE}[\w./-]*\.(?:lock|pid|sock)\b`),
    unless: new RegExp(`ASSAY_SLOT|TMPDIR|${LOCKFILES.source}`),
    advice: 'put it below $TMPDIR, or into the checkout',
  },
  {
    kind: 'lock_file',
    blocks: false,
    sees: /\bflock\b|\blockfile\b|['"`][\w./-]+\.(?:lock|pid)['"`]/,
    unless: new RegExp(`ASSAY_SLOT|TMPDIR|${LOCKFILES.source}`),
    advice: 'harmless in the checkout of a slot; a lock that waits for another run would hold up a sample',
  },
  {
    kind: 'fixed_path',
    blocks: true,
    sees: /(?:^|[^\w.}/-])\/(?:tmp|var\/tmp|dev\/shm)\/[\w.$-]/,
    unless: /mktemp|mkdtemp|ASSAY_SLOT|TMPDIR/,
    advice: 'use $TMPDIR (os.tmpdir(), tempfile): it is fresh for each sample',
  },
  {
    kind: 'accelerator',
    blocks: true,
    sees: /\/dev\/nvidia|nvidia-smi|\.cuda\(|['"]cuda(?::\d+)?['"]|['"]mps['"]|CUDA_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|^\s*(?:import|from)\s+(?:torch|jax|tensorflow|cupy|vllm)\b|onnxruntime-gpu|--gpus\b/,
    unless: /ASSAY_SLOT/,
    advice: 'one device, one measurement; with several, choose one by $ASSAY_SLOT (CUDA_VISIBLE_DEVICES)',
  },
  {
    kind: 'absolute_write',
    blocks: true,
    sees: /(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|mkdir(?:Sync)?|makedirs|rmtree|rmSync)\(\s*[fr]?['"`](?:~|\/)(?!dev\/)|\bopen\(\s*[fr]?['"](?:~|\/)(?!dev\/|proc\/)[^'"]*['"]\s*,\s*['"][wax]|>>?\s*(?:~|\$HOME|\$\{HOME\})?\/(?!dev\/)[\w.]|\b(?:mkdir|touch|rm|tee|cp|mv)\s+(?:-\w+\s+)*(?:~|\$HOME|\$\{HOME\})\/?[\w.]/,
    unless: /ASSAY_SLOT|TMPDIR|ASSAY_RESULT|ASSAY_TRACES/,
    advice: 'write below $TMPDIR or into the checkout',
  },
  {
    kind: 'service',
    blocks: true,
    sees: /docker(?:-| )compose\s+[^#\n]*\bup\b|docker\s+run\b[^#\n]*--name|\bsystemctl\s+(?:re)?start|\bservice\s+\w+\s+(?:re)?start|container_name\s*:/,
    unless: /ASSAY_SLOT/,
    advice: 'one project or container for each slot: -p bench-$ASSAY_SLOT, --name bench-$ASSAY_SLOT',
  },
]

/** At most one hazard of each kind. A line that is only a comment has none. */
export function hazardsOf(line: string): Hazard[] {
  if (/^\s*(?:\/\/|#(?!!)|\*|\/\*|--\s)/.test(line)) return []
  const found = new Map<Kind, Hazard>()
  for (const { sees, unless, kind, blocks, advice } of RULES) {
    if (found.has(kind) || !sees.test(line) || unless?.test(line)) continue
    found.set(kind, { kind, blocks, advice })
  }
  return [...found.values()]
}
