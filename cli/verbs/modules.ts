/** The module of each verb, and of each sub-verb that is not in its verb's. Only the called verb's module is loaded, and only `main` reads this list. */
import type { VerbModule } from '../terminal/command.ts'

const decision = (name: string) => async (): Promise<VerbModule> => {
  const { DECISIONS } = await import('./decisions.ts')
  const found = DECISIONS[name]
  if (found === undefined) throw new Error(`${name} is no decision`)
  return found
}

export const MODULES: Readonly<Record<string, () => Promise<VerbModule>>> = {
  init: () => import('./init.ts'),
  doctor: () => import('./doctor.ts'),
  demo: () => import('./demo.ts'),
  guide: () => import('./guide.ts'),
  install: () => import('./install.ts'),
  uninstall: () => import('./uninstall.ts'),
  new: () => import('./new.ts'),
  seal: () => import('./seal.ts'),
  check: () => import('./check.ts'),
  run: () => import('./run.ts'),
  audit: () => import('./audit.ts'),
  discard: decision('discard'),
  confirm: () => import('./confirm.ts'),
  attribute: () => import('./attribute.ts'),
  abort: () => import('./abort.ts'),
  prune: decision('prune'),
  revoke: decision('revoke'),
  restore: decision('restore'),
  gate: () => import('./gate.ts'),
  'gate add': decision('gate add'),
  'gate remove': decision('gate remove'),
  annotate: decision('annotate'),
  status: () => import('./status.ts'),
  tree: () => import('./tree.ts'),
  frontier: () => import('./frontier.ts'),
  show: () => import('./show.ts'),
  diff: () => import('./diff.ts'),
  path: () => import('./path.ts'),
  traces: () => import('./traces.ts'),
  log: () => import('./log.ts'),
  discards: () => import('./discards.ts'),
  context: () => import('./context.ts'),
  report: () => import('./report.ts'),
  serve: () => import('./serve.ts'),
  finish: () => import('./finish.ts'),
  round: () => import('./round.ts'),
  task: () => import('./task.ts'),
  answer: () => import('./answer.ts'),
  propose: decision('propose'),
  steer: decision('steer'),
  meta: () => import('./meta.ts'),
  wait: () => import('./wait.ts'),
  loop: () => import('./loop.ts'),
  workflow: () => import('./workflow.ts'),
  note: decision('note'),
  config: () => import('./config.ts'),
  'config set': decision('config set'),
  'config sync': decision('config sync'),
  'epoch open': decision('epoch open'),
  env: () => import('./env.ts'),
  gc: () => import('./gc.ts'),
  hook: () => import('./hook.ts'),
}
