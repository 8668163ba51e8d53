/** Verbs that begin a run, and explain. */
import type { Flags, Verb } from '../command.ts'

const WHERE: Flags = {
  user: { type: 'boolean', summary: 'for all projects of this user (the default)' },
  project: { type: 'boolean', summary: 'for the checkout around this folder only' },
}

export const START: readonly Verb[] = [
  {
    name: 'init',
    group: 'start',
    summary: 'start a run from a spec and judge the baseline',
    positionals: [{ name: 'SPEC', required: false }],
    flags: {
      template: { type: 'boolean', summary: 'print a spec to begin with, and do nothing else' },
      benchmark: {
        type: 'string',
        value: 'LANGUAGE',
        choices: ['node', 'python'],
        summary: 'print a benchmark that times the candidate from outside, and do nothing else',
      },
      prepare: { type: 'boolean', summary: 'open exp_0000 first, to build the benchmark in its worktree' },
      'include-dirty': { type: 'boolean', summary: 'use the working tree as it is, uncommitted changes too' },
      'no-canary': {
        type: 'boolean',
        summary: 'do not look whether the benchmark reads the mutable files',
      },
      holdout: {
        type: 'string',
        value: 'FILE',
        summary: 'held-out data from outside of the repository, for new bests only ($ASSAY_HOLDOUT)',
      },
      new: { type: 'boolean', summary: 'a new run although another one is here' },
    },
    example: 'assay init assay.yaml',
    load: () => import('../init.ts'),
  },
  {
    name: 'doctor',
    group: 'start',
    summary: 'look for what is broken or in the way, with cause and repair',
    positionals: [],
    flags: {
      fix: { type: 'boolean', summary: 'mend what can be mended without inventing anything' },
      parallel: {
        type: 'boolean',
        summary: 'find what makes measuring side by side unsafe; propose measure.slots',
      },
      hosts: {
        type: 'boolean',
        summary: 'also make one trivial call to each agent program that is here; it may cost something',
      },
    },
    example: 'assay doctor --fix',
    load: () => import('../doctor.ts'),
  },
  {
    name: 'demo',
    group: 'start',
    summary: 'the whole job on an example, in a fresh folder: no model, no key, a minute or two',
    positionals: [{ name: 'FOLDER', required: false }],
    flags: {
      seed: {
        type: 'integer',
        value: 'N',
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
        summary: 'another way of the search; the same seed gives the same tree',
      },
    },
    example: 'assay demo --seed 7',
    load: () => import('../demo.ts'),
  },
  {
    name: 'guide',
    group: 'start',
    summary: 'print a reference page, or the list of them',
    positionals: [{ name: 'TOPIC', required: false }],
    flags: {},
    example: 'assay guide spec',
    load: () => import('../guide.ts'),
  },
  {
    name: 'install',
    group: 'start',
    summary: 'put the skills into an agent program; without HOST: the list',
    positionals: [{ name: 'HOST', required: false }],
    flags: { ...WHERE, 'dry-run': { type: 'boolean', summary: 'only say what would be done' } },
    example: 'assay install claude-code',
    load: () => import('../install.ts'),
  },
  {
    name: 'uninstall',
    group: 'start',
    summary: 'take away what install made, and nothing else',
    positionals: [{ name: 'HOST', required: true }],
    flags: { ...WHERE, 'dry-run': { type: 'boolean', summary: 'only say what would be done' } },
    example: 'assay uninstall claude-code',
    load: () => import('../uninstall.ts'),
  },
]
