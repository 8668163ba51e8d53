import { expect, test } from 'vitest'
import { sourcesOf } from '../../cli/diagnose/sources.ts'
import { hazardsOf, proposeSlots, type SlotsRequest } from '../../cli/doctor/parallel/readiness.ts'
import { writeFiles } from '../e2e/project.ts'
import { makeTemp } from '../rig/temp.ts'

const LINES: [string, string[]][] = [
  ['server.listen(3000)', ['port']],
  ['const PORT = 8080', ['port']],
  ['const port = process.env.ASSAY_PORT ?? 8080', []],
  ['curl http://localhost:5173/', ['port']],
  ['sock.bind(("127.0.0.1", 9000))', ['port']],
  ['server.listen(0)', []],
  ['DATABASE_URL=postgres://u@db/app', ['database']],
  ['r = redis.Redis()', ['database']],
  [`sqlite3.connect('/var/lib/app.db')`, ['database']],
  [`sqlite3.connect('app.db')`, ['database?']],
  [`sqlite3.connect(':memory:')`, []],
  ['exec 9>/var/lock/bench.lock', ['lock_file', 'absolute_write']],
  ['npm ci # package-lock.json', []],
  ['out=/tmp/bench-output', ['fixed_path']],
  ['dir="$TMPDIR/x" # or /tmp/x', []],
  ['dir=$(mktemp -d /tmp/x.XXXX)', []],
  ['const path = "src/tmp/x"', []],
  ['import torch', ['accelerator']],
  ['model.to("cuda:0")', ['accelerator']],
  [`writeFileSync('/srv/out.json', text)`, ['absolute_write']],
  [`with open('/data/out.csv', 'w') as f:`, ['absolute_write']],
  ['echo x > /dev/null', []],
  ['node run.js 2>&1 >/dev/stderr', []],
  ['docker compose up -d', ['service']],
  ['docker compose -p bench-$ASSAY_SLOT up -d', []],
  ['// server.listen(3000)', []],
  ['# port = 3000', []],
  ['const x = a / tmp / b', []],
]

test.each(LINES)('%s', (line, kinds) => {
  expect(hazardsOf(line).map(({ kind, blocks }) => `${kind}${blocks ? '' : '?'}`)).toEqual(kinds)
})

test('a file that the benchmark reaches is not read, or one outside is', () => {
  const top = makeTemp()
  writeFiles(top, {
    'package.json': '{"scripts":{"bench":"node bench/run.js","prebench":"node never.js"}}',
    'bench/run.js': `import { a } from './lib/a.js'\nconst b = require("./b")\nimport 'left-pad'`,
    'bench/lib/a.ts': `export * from '../deep/index.js'`,
    'bench/deep/index.js': '',
    'bench/b.cjs': `import('./run.js')`,
    'never.js': '',
    'score/__main__.py': 'from . import load\nimport tools.io, os\n',
    'score/load.py': '',
    'tools/io.py': '',
    'setup.sh': '. ./env.sh\n# sh ./commented.sh\npython3 tools/make.py\n',
    'env.sh': '',
    'commented.sh': '',
    'tools/make.py': '',
  })
  const start = (command: string) => ({ command, folder: top })
  const { files, cut } = sourcesOf(
    top,
    ['npm run bench', 'python -m score', 'sh setup.sh', 'cat ../../etc/passwd'].map(start),
  )
  expect(files.map(({ path }) => path).sort()).toEqual([
    'bench/b.cjs',
    'bench/deep/index.js',
    'bench/lib/a.ts',
    'bench/run.js',
    'env.sh',
    'package.json',
    'score/__main__.py',
    'score/load.py',
    'setup.sh',
    'tools/io.py',
    'tools/make.py',
  ])
  expect(cut).toBe(false)
})

test('several slots are proposed despite a blocker, a metric that is a time, or too few cores or accelerators', () => {
  const request: SlotsRequest = {
    cores: 16,
    current: 1,
    blocking: 0,
    metric: 'accuracy',
    files: 3,
    devices: null,
  }
  const slots = (more: Partial<SlotsRequest>) => proposeSlots({ ...request, ...more }).proposed
  expect(slots({})).toBe(8)
  expect(slots({ cores: 4 })).toBe(2)
  expect([
    slots({ blocking: 1 }),
    slots({ metric: 'parse_ms' }),
    slots({ cores: 2 }),
    slots({ files: 0 }),
  ]).toEqual([1, 1, 1, 1])
  expect([0, 1, 3, 12].map((devices) => slots({ devices }))).toEqual([1, 1, 3, 8])
  expect(['items', 'source_bytes', 'streams', 'loss'].map((metric) => slots({ metric }))).toEqual([
    8, 8, 8, 8,
  ])
})
