/** `config get`, `config set` and `config sync`, of every key that may change while a run lives. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { dataOf, problemOf } from '../rig/assay.ts'
import { makeProject, type Project, type SpecParts, specText } from './project.ts'

interface KeyData {
  key: string
  path: string
  value: unknown
  from: string
  change: string
}
interface Listed {
  knobs: KeyData[]
  settings: KeyData[]
}
interface Changed {
  file: string
  changes: { path: string; value: unknown; before: unknown; takes_effect: string }[]
}

const AGENT = { host: 'command', command: 'cat', concurrency: 2 }

async function begun(spec: SpecParts): Promise<Project> {
  const project = makeProject({ spec })
  await project.data('init')
  return project
}

const set = (project: Project, key: string, value: string, ...more: string[]) =>
  project.data<Changed['changes'][number]>('config', 'set', key, value, '--reason', 'r', ...more)
const valueAt = async (project: Project, key: string) =>
  (await project.data<KeyData>('config', 'get', key)).value
const configured = (project: Project) =>
  readFileSync(project.repo.path('.assay/runs/run_0001/ledger.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"type":"configured"')).length

describe.concurrent('a key of the spec', () => {
  test('that does not decide what is measured cannot be changed, or is listed without the origin of its value', async () => {
    const project = await begun({ agent: AGENT, skills: ['a'] })
    expect(await set(project, 'agent.model', 'large: 2')).toMatchObject({ value: 'large: 2', before: null })
    expect(await set(project, 'agent.timeout', '10m')).toMatchObject({ value: '10m', before: '30m' })
    await set(project, 'agent.roles.verify.model', 'small')
    await set(project, 'agent.concurrency', '3')
    await set(project, 'skills', '[b, c]')
    await set(project, 'instructions.rules', '["Keep: the API"]')
    await set(project, 'loop.prompts.implement.after', 'Mind the cache.')
    await set(project, 'loop.meta.every', '10m')
    await set(project, 'loop.quiet', 'true')
    await set(project, 'goal', 'Make it small.')
    expect(await set(project, 'search.k', '2')).toMatchObject({ takes_effect: 'next round' })
    expect(await set(project, 'loop.width', '3')).toMatchObject({ before: 4, takes_effect: 'next round' })
    const { knobs, settings } = await project.data<Listed>('config', 'get')
    const told = Object.fromEntries(
      [...knobs, ...settings].map(({ path, value, from }) => [path, [value, from]]),
    )
    expect(told).toMatchObject({
      'loop.width': [3, 'config'],
      'loop.depth': [3, 'default'],
      goal: ['Make it small.', 'config'],
      'agent.host': ['command', 'spec'],
      'agent.model': ['large: 2', 'config'],
      'agent.timeout': ['10m', 'config'],
      'agent.silence': ['15m', 'default'],
      'agent.effort': [null, 'default'],
      'agent.roles': [{ verify: { model: 'small' } }, 'config'],
      skills: [['b', 'c'], 'config'],
      'instructions.rules': [['Keep: the API'], 'config'],
      'loop.prompts': [{ implement: { after: 'Mind the cache.' } }, 'config'],
      'loop.meta.every': ['10m', 'config'],
      'loop.quiet': [true, 'config'],
      'search.k': [2, 'config'],
    })
    expect(
      Object.keys(told).filter((path) => /^(measure|metric|scope|gates|name|search.seed)/.test(path)),
    ).toEqual([])
    expect(await set(project, 'agent.model', 'none')).toMatchObject({ value: null, before: 'large: 2' })
    expect(await valueAt(project, 'agent.model')).toBe(null)
    expect(await project.data('context')).toMatchObject({ goal: 'Make it small.' })
  })

  test('takes a value that init would refuse, or gives a different place or reason than init', async () => {
    const project = await begun({ agent: AGENT })
    const refused = (key: string, value: string) =>
      project.problem('config', 'set', key, value, '--reason', 'r')
    expect(await refused('agent.timeout', '10x')).toMatchObject({
      exit: 2,
      code: 'knob_invalid',
      message: '`agent.timeout` is not a duration: "10x"',
      at: 'agent.timeout:1:1\n  "10x"\n  ^^^^^',
    })
    expect(await refused('agent.concurrency', '65')).toMatchObject({
      message: '`agent.concurrency` is out of range: 65',
      hint: 'write a whole number from 1 to 64',
    })
    expect(await refused('agent', '{ host: codex, modle: x }')).toMatchObject({
      message: '`modle` is not a key of `agent`',
      hint: 'did you mean `model`?',
      at: 'agent:1:16\n  { host: codex, modle: x }\n                 ^^^^^',
    })
    expect(await refused('loop.prompts.implment.after', 'x')).toMatchObject({ code: 'knob_unknown' })
    expect(await refused('loop', '{ width: 3 }')).toMatchObject({
      message: '`loop` is a group of keys, which are set one by one',
    })
    // What init says of two keys together.
    expect(await refused('agent.command', 'none')).toMatchObject({
      code: 'knob_invalid',
      message: '`host: command` has no command',
      hint: 'add `command: …` to `agent`',
      at: 'agent.command',
    })
    expect(configured(project)).toBe(0)
  })

  test('that decides what is measured can be changed, or is refused without reason and next step', async () => {
    const project = await begun({})
    expect(await project.problem('config', 'set', 'measure.command', 'true', '--reason', 'r')).toMatchObject({
      exit: 3,
      code: 'key_frozen',
      message:
        '`measure.command` defines what is measured, and a run compares only what was measured alike: it cannot change while the run lives',
      hint: 'edit it in assay.yaml, then start a new run: assay init --new',
    })
    expect(await project.problem('config', 'set', 'search.seed', '2', '--reason', 'r')).toMatchObject({
      code: 'key_kept',
    })
    expect(await project.problem('config', 'set', 'agent.modle', 'x', '--reason', 'r')).toMatchObject({
      exit: 2,
      code: 'knob_unknown',
      hint: 'did you mean `agent.model`?',
    })
    expect(await project.data('config', 'get', 'metric.name')).toMatchObject({
      value: 'ms',
      change: 'frozen',
    })
  })

  test('set twice at once loses one of the two', async () => {
    const project = await begun({ agent: AGENT })
    await Promise.all([
      set(project, 'agent.model', 'm'),
      set(project, 'agent.effort', 'high'),
      set(project, 'agent.concurrency', '5'),
      set(project, 'agent.model', 'm', '--key', 'k'),
    ])
    expect(await valueAt(project, 'agent.model')).toBe('m')
    expect(await valueAt(project, 'agent.effort')).toBe('high')
    expect(await valueAt(project, 'agent.concurrency')).toBe(5)
    // The loop's own word for it.
    const plan = await project.data<{ model: string; concurrency: number }>('loop', '--dry-run')
    expect(plan).toMatchObject({ model: 'm', concurrency: 5 })
  })
})

describe.concurrent('config sync', () => {
  test('misses an edited key, changes one that was not edited, or does not say what it changed', async () => {
    const spec = { agent: AGENT, budget: { experiments: 5 } }
    const project = await begun(spec)
    const write = (parts: SpecParts) => project.repo.write({ 'assay.yaml': specText({ ...spec, ...parts }) })
    await set(project, 'loop.depth', '2')
    await set(project, 'agent.effort', 'low')
    expect(await project.data('config', 'sync')).toEqual({ file: 'assay.yaml', changes: [], stop: null })
    write({ budget: { experiments: 9 }, agent: { ...AGENT, model: 'large' }, skills: ['s'] })
    expect(await project.data('status')).toMatchObject({
      spec: {
        state: 'edited',
        frozen: [],
        knobs: [{ path: 'budget.experiments', run: 5, file: 9 }],
        other: ['agent.model', 'skills'],
        hint: 'apply it: assay config sync',
      },
    })
    const ran = await project.cli<Changed>(['config', 'sync', '--key', 'k'])
    const { changes } = dataOf(ran)
    expect(changes.map(({ path, before, value }) => [path, before, value])).toEqual([
      ['budget.experiments', 5, 9],
      ['agent.model', null, 'large'],
      ['skills', [], ['s']],
    ])
    // What a person set by hand, and did not edit, stays.
    expect(await valueAt(project, 'agent.effort')).toBe('low')
    expect(await valueAt(project, 'loop.depth')).toBe(2)
    expect(await project.data('status')).toMatchObject({ spec: null, budget: { experiments: { limit: 9 } } })
    expect(await project.data('config', 'sync', '--key', 'k')).toMatchObject({ changes, repeated: true })
    // Back to what it was at init: that is an edit too.
    write({})
    const back = await project.cli<Changed>(['config', 'sync'])
    expect(dataOf(back).changes.map(({ path, value }) => [path, value])).toEqual([
      ['budget.experiments', 5],
      ['agent.model', null],
      ['skills', []],
    ])
    expect(await project.data('status')).toMatchObject({ spec: null })
  })

  test('does not print one line for each key, or applies a part of a change that it refuses', async () => {
    const spec = { agent: AGENT }
    const project = await begun(spec)
    project.repo.write({
      'assay.yaml': specText({
        ...spec,
        skills: ['s'],
        gates: [{ name: 'g', command: 'true' }],
        name: 'other',
      }),
    })
    const refused = await project.cli(['config', 'sync'])
    expect(refused.code).toBe(3)
    expect(problemOf(refused)).toMatchObject({
      code: 'spec_fixed',
      message: expect.stringContaining('`name` is part of what a run is known by'),
      hint: 'nothing was applied: undo this edit and repeat assay config sync, or start a new run with it: assay init --new',
      at: expect.stringMatching(/^assay\.yaml:3:11\n/),
      more: [{ message: expect.stringContaining('`gates` defines what is measured') }],
    })
    expect(configured(project)).toBe(0)
    project.repo.write({ 'assay.yaml': specText({ ...spec, skills: ['s'], loop: { widht: 3 } }) })
    const bad = problemOf(await project.cli(['config', 'sync']))
    expect(bad).toMatchObject({ code: 'spec_invalid', hint: 'did you mean `width`?' })
    expect(bad.at).toMatch(/^assay\.yaml:\d+:5\n/)
    expect(configured(project)).toBe(0)
  })
})
