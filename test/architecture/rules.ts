/** The rules of the house. Each is a pure function from modules to violations. */
import {
  belongsTo,
  LAYERS,
  PACKAGES,
  PURE,
  PURE_PACKAGES,
  SELF_CONTAINED,
  TAKE_OPEN_RUN,
  unitOf,
} from './layers.ts'
import type { Module } from './modules.ts'

export interface Violation {
  file: string
  line: number
  message: string
}

export type Rule = (modules: readonly Module[]) => Violation[]

const DRAWERS = /^(utils?|helpers?|common|core|misc|shared|lib)$/

const levelOf = (unit: string) => LAYERS.findIndex((layer) => layer.includes(unit))
const isOurs = (to: string) => to.startsWith('cli/')

export const direction: Rule = (modules) =>
  modules.flatMap(({ file, imports }) => {
    const unit = unitOf(file)
    if (levelOf(unit) === -1) return [{ file, line: 1, message: `cli/${unit} has no layer` }]
    return imports
      .filter(({ kind }) => kind === 'file')
      .filter(({ to }) => !isOurs(to) || (unitOf(to) !== unit && levelOf(unitOf(to)) >= levelOf(unit)))
      .map(({ to, line }) => ({ file, line, message: `${unit} may not import ${to}: imports go down only` }))
  })

export const selfContained: Rule = (modules) =>
  modules.flatMap(({ file, imports }) => {
    const unit = unitOf(file)
    const allowed = SELF_CONTAINED[unit]
    if (allowed === undefined) return []
    return imports
      .filter(({ to }) => isOurs(to) && unitOf(to) !== unit && !allowed.includes(unitOf(to)))
      .map(({ to, line }) => ({
        file,
        line,
        message: `${unit} imports ${allowed.join(' and ')} only, not ${to}`,
      }))
  })

export const cycles: Rule = (modules) => {
  const edges = new Map(
    modules.map(({ file, imports }) => [file, imports.filter((one) => isOurs(one.to)).map((one) => one.to)]),
  )
  const reaches = (from: string): Set<string> => {
    const seen = new Set<string>()
    const open = [...(edges.get(from) ?? [])]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...(edges.get(next) ?? []))
    }
    return seen
  }
  return modules
    .filter(({ file }) => reaches(file).has(file))
    .map(({ file }) => ({ file, line: 1, message: 'is part of an import cycle' }))
}

/** The pure modules and everything of ours that they run: none may reach the world. */
export const purity: Rule = (modules) => {
  const byFile = new Map(modules.map((module) => [module.file, module]))
  const open = modules.filter(({ file }) => PURE.some((name) => belongsTo(file, name)))
  const reached = new Set(open)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { to, typeOnly, dynamic } of next.imports) {
      const module = byFile.get(to)
      if (typeOnly || dynamic || module === undefined || reached.has(module)) continue
      reached.add(module)
      open.push(module)
    }
  }
  return [...reached].flatMap(({ file, imports, world }) => [
    ...imports
      .filter(
        ({ kind, to, typeOnly }) => !typeOnly && kind !== 'file' && !PURE_PACKAGES.includes(packageOf(to)),
      )
      .map(({ to, line }) => ({ file, line, message: `belongs to what must be pure and imports ${to}` })),
    ...world.map(({ text, line }) => ({
      file,
      line,
      message: `belongs to what must be pure and uses ${text}`,
    })),
  ])
}

const APPENDERS = ['ledger', 'run', 'measure', 'experiment', 'loop']
/** The ledger's own function, and the method of an open ledger. */
const APPENDING_NAMES = ['appendLine', 'recordStep', 'endUnfinished']
const APPENDS = 'only run/, measure/, experiment/ and loop/ append to the ledger'
const PROPOSES = /\.propose\s*[<(]/

export const spawning: Rule = (modules) =>
  forbidImports(
    modules,
    ['process'],
    (one) => /^(node:)?(child_process|cluster)$/.test(one.to),
    'only process.ts starts processes',
  )

export const appending: Rule = (modules) => [
  ...forbidImports(
    modules,
    APPENDERS,
    (one) =>
      !one.typeOnly &&
      belongsTo(one.to, 'ledger') &&
      one.names.some((name) => APPENDING_NAMES.includes(name)),
    APPENDS,
  ),
  ...modules
    .filter(({ file }) => !APPENDERS.some((name) => belongsTo(file, name)))
    .flatMap(({ file, text }) =>
      text
        .split('\n')
        .flatMap((line, at) =>
          PROPOSES.test(line) ? [{ file, line: at + 1, message: `proposes: ${APPENDS}` }] : [],
        ),
    ),
]

export const openRuns: Rule = (modules) =>
  modules
    .filter(({ file }) => !TAKE_OPEN_RUN.some((name) => belongsTo(file, name)))
    .flatMap(({ file, text }) =>
      text.split('\n').flatMap((line, at) =>
        // A comment may name it.
        /\bOpenRun\b/.test(line) && !/^\s*(\*|\/[/*])/.test(line)
          ? [{ file, line: at + 1, message: 'takes a whole OpenRun: take what is needed of it' }]
          : [],
      ),
    )

export const packages: Rule = (modules) =>
  modules.flatMap(({ file, imports }) =>
    imports
      .filter(({ kind }) => kind === 'package')
      .filter(({ to }) => !(PACKAGES[packageOf(to)] ?? []).some((owner) => belongsTo(file, owner)))
      .map(({ to, line }) => ({ file, line, message: `may not import the package ${to}` })),
  )

export const printing: Rule = (modules) =>
  forbidSeen(
    modules,
    ['main', 'terminal', 'verbs'],
    ({ world }) => world.filter(({ text }) => /^(process\.(stdout|stderr)|console(\.|$))/.test(text)),
    'only main, terminal and verbs print',
  )

export const gitting: Rule = (modules) =>
  forbidSeen(
    modules,
    ['git'],
    ({ programs }) => programs.filter(({ text }) => text === 'git'),
    'only git/ runs git',
  )

/** Besides paths.ts: excludes and rules that name the folder to keep git and candidates out of it. */
const NAMES_STATE = ['paths', 'git/exclude', 'git/checkout', 'spec/rules']

export const statePaths: Rule = (modules) =>
  forbidSeen(
    modules,
    NAMES_STATE,
    ({ strings }) => strings.filter(({ text }) => /(^|\/)\.assay(\/|$)/.test(text)),
    'only paths.ts joins state paths',
  )

export const names: Rule = (modules) =>
  modules
    .filter(({ file }) => file.split('/').some((part) => DRAWERS.test(part.replace(/\.ts$/, ''))))
    .map(({ file }) => ({ file, line: 1, message: 'is named after a drawer, not after what it answers' }))

/** Every verb has a function `run`: what calls one knows which. */
const SHARED = ['run']

export const homonyms: Rule = (modules) => {
  const all = modules.flatMap(({ file, exported }) =>
    // A function with several signatures is one name.
    [...new Set(exported.map(({ text }) => text))].map((name) => ({
      file,
      name,
      line: exported.find(({ text }) => text === name)?.line ?? 1,
    })),
  )
  const files = new Map<string, string[]>()
  for (const { name, file } of all) files.set(name, [...(files.get(name) ?? []), file])
  return all
    .filter(({ name }) => !SHARED.includes(name) && (files.get(name)?.length ?? 0) > 1)
    .map(({ name, file, line }) => ({
      file,
      line,
      message: `exports ${name}, as does ${files.get(name)?.find((other) => other !== file)}: one name, one meaning`,
    }))
}

/** After `test` stands what goes wrong, after `it` what is right: with both, a reader cannot know which of them a name is. */
export const faultNames: Rule = (modules) =>
  forbidImports(
    modules,
    [],
    ({ to, names }) => to === 'vitest' && names.includes('it'),
    'use test, whose name says what goes wrong, not it',
  )

/** What the modules of the CLI keep to. */
export const RULES: Readonly<Record<string, Rule>> = {
  direction,
  selfContained,
  cycles,
  purity,
  spawning,
  appending,
  openRuns,
  packages,
  printing,
  gitting,
  statePaths,
  names,
  homonyms,
}

/** What the tests keep to, and what they share. */
export const TEST_RULES: Readonly<Record<string, Rule>> = { faultNames }

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function forbidImports(
  modules: readonly Module[],
  allowed: readonly string[],
  matches: (one: Module['imports'][number]) => boolean,
  why: string,
): Violation[] {
  return modules
    .filter(({ file }) => !allowed.some((name) => belongsTo(file, name)))
    .flatMap(({ file, imports }) =>
      imports.filter(matches).map(({ to, line }) => ({ file, line, message: `imports ${to}: ${why}` })),
    )
}

function forbidSeen(
  modules: readonly Module[],
  allowed: readonly string[],
  pick: (module: Module) => Module['strings'],
  why: string,
): Violation[] {
  return modules
    .filter(({ file }) => !allowed.some((name) => belongsTo(file, name)))
    .flatMap((module) =>
      pick(module).map(({ text, line }) => ({
        file: module.file,
        line,
        message: `has ${JSON.stringify(text)}: ${why}`,
      })),
    )
}
