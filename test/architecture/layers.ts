/** The map of the house that the rules enforce. To add a folder under `cli/`, give it a layer here. */

/** From the leaves up. A unit may import itself and any lower layer, never a sibling. */
export const LAYERS: readonly (readonly string[])[] = [
  ['notices', 'redact', 'text', 'files', 'json'],
  ['next'],
  ['result'],
  ['process', 'paths', 'disk'],
  ['lock', 'workflow'],
  ['ledger'],
  ['attribute', 'packages', 'suite', 'executor'],
  ['search', 'evaluate', 'git', 'hosts'],
  ['judge'],
  ['spec'],
  ['run'],
  ['measure'],
  ['diagnose'],
  ['experiment'],
  ['agents'],
  ['loop', 'doctor', 'install'],
  ['view'],
  ['page'],
  ['terminal'],
  ['verbs'],
  ['main'],
]

/** No `node:*`, clock, randomness or process, also not in the code of ours that they run. A name stands for its file or folder. */
export const PURE: readonly string[] = [
  'result',
  'notices',
  'redact',
  'next',
  'ledger/events',
  'ledger/driver',
  'ledger/meta',
  'ledger/transitions',
  'ledger/backlog',
  'ledger/best',
  'ledger/same-value',
  'ledger/texts',
  'ledger/state',
  'ledger/fold',
  'ledger/decide',
  'ledger/evolve',
  'search',
  'executor/config',
  'suite/config',
  'suite/loss',
  'suite/signals',
  'attribute',
  'packages',
  'evaluate/metrics',
  'evaluate/presets',
  'evaluate/units',
  'evaluate/stats',
  'evaluate/calibrate',
  'evaluate/compare',
  'evaluate/compare-pairs',
  'evaluate/crowd',
  'evaluate/comparable',
  'evaluate/constraints',
  'evaluate/paired',
  'evaluate/protected',
  'evaluate/verdict',
  'evaluate/tests-gone',
  'evaluate/plausible',
  'judge',
  'spec/rules',
  'spec/words',
  'diagnose/exposure',
  'loop/agenda',
  'loop/answer-schemas',
  'loop/parked',
  'loop/prompts',
  'loop/suite/choose',
  'loop/suite/prompt',
  'text',
  'json',
  'view/context',
  'view/page-model',
  'view/page-actions',
  'view/explain',
  'terminal/command',
  'terminal/lines',
  'terminal/help',
  'verbs/table',
]

/** Packages that only compute. */
export const PURE_PACKAGES: readonly string[] = ['picomatch', 'smol-toml', 'yaml']

/** Folder → the units that it may import, though the layers would let it import more. */
export const SELF_CONTAINED: Readonly<Record<string, readonly string[]>> = {
  // The runtime of workflow scripts; what else it needs is handed in.
  workflow: ['process', 'result', 'json'],
}

/**
 * Who may take a whole `OpenRun`, which can append, wait and warn: the upper layers, and what of `measure/` acts on a run. All
 * else takes what it needs, for example a `RunRecord`.
 */
export const TAKE_OPEN_RUN: readonly string[] = [
  'verbs',
  'terminal',
  'page',
  'view',
  'loop',
  'agents',
  'doctor',
  'experiment',
  'diagnose',
  'run',
  'measure/attribution',
  'measure/part-test',
  'measure/errand',
  'measure/slot',
  'measure/choose-isolation',
  'measure/confirm',
  'measure/dispatch',
  'measure/on-node',
  'measure/run-check',
  'measure/attempt',
  'measure/without-attempt',
  'measure/recompute',
  'measure/verdict-event',
  'measure/seal',
  'measure/worktree',
]

/** Which folders or files may load a package; no other package may be imported at all. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  yaml: ['spec', 'packages'],
  picomatch: ['spec'],
  'smol-toml': ['packages'],
  ajv: ['hosts'],
  acorn: ['workflow'],
  chalk: ['terminal'],
  // Helper programs and the user's checkout: what is neither measured nor judged.
  execa: ['install/record', 'verbs/demo'],
  'simple-git': ['git/porcelain'],
  'jsonc-parser': ['hosts'],
}

/** The unit of a file: `cli/run/start.ts` → `run`, `cli/process.ts` → `process`. */
export function unitOf(file: string): string {
  return (file.split('/')[1] ?? '').replace(/\.ts$/, '')
}

/** Whether the file is the name's own, or in its folder: `search` matches `cli/search/argmax.ts`. */
export function belongsTo(file: string, name: string): boolean {
  return file === `cli/${name}.ts` || file.startsWith(`cli/${name}/`)
}
