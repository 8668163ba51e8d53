/** Which other files a source file loads or starts, as far as its text tells. Pure; a search, no parser. */

/** `loads`: its code runs in the same process. `starts`: in another one. */
export type How = 'loads' | 'starts'

export type Mention = { line: number; how: How } & (
  | { kind: 'javascript'; path: string }
  /** `dots`: of a relative import. */
  | { kind: 'python'; module: string; dots: number }
  | { kind: 'command'; text: string }
)

export type Language = 'javascript' | 'python' | 'shell' | 'other'

/** By the ending of the path, else by the first line. */
export function languageOf(path: string, text: string): Language {
  if (/\.[cm]?[jt]sx?$/.test(path)) return 'javascript'
  if (/\.py$/.test(path)) return 'python'
  if (/\.(sh|bash|zsh|mk)$/.test(path) || /(^|\/)[Mm]akefile$/.test(path)) return 'shell'
  const shebang = /^#!.*/.exec(text)?.[0] ?? ''
  if (/node|bun|deno/.test(shebang)) return 'javascript'
  if (/python/.test(shebang)) return 'python'
  return /sh\b/.test(shebang) ? 'shell' : 'other'
}

/** Relative imports of JavaScript, all imports of Python, every line of a shell script. */
export function mentionsIn(text: string, language: Language): Mention[] {
  switch (language) {
    case 'javascript':
      return javascript(text)
    case 'python':
      return python(text)
    case 'shell':
      return shell(text)
    case 'other':
      return []
  }
}

const JAVASCRIPT = /\b(from|import|require|URL)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

function javascript(text: string): Mention[] {
  return [...text.matchAll(JAVASCRIPT)].flatMap((match): Mention[] => {
    const before = text.slice(text.lastIndexOf('\n', match.index) + 1, match.index)
    if (/^\s*(\/\/|\*)/.test(before) || /^\s*(import|export)\s+type\b/.test(before)) return []
    const how = match[1] === 'URL' ? 'starts' : 'loads'
    return [{ line: lineAt(text, match.index), how, kind: 'javascript', path: match[2] ?? '' }]
  })
}

function python(text: string): Mention[] {
  const found: Mention[] = []
  const add = (at: number, module: string, dots: number) =>
    found.push({ line: lineAt(text, at), how: 'loads', kind: 'python', module, dots })
  for (const match of text.matchAll(/^[ \t]*from\s+([.\w]+)\s+import\s+\(?([\w\s,]+)/gm)) {
    const [whole, from = '', names = ''] = match
    const at = match.index + whole.search(/\S/)
    const dots = /^\.*/.exec(from)?.[0].length ?? 0
    const module = from.slice(dots)
    if (module !== '') add(at, module, dots)
    for (const name of names.split(/[\s,]+/).filter(Boolean))
      add(at, [module, name].filter(Boolean).join('.'), dots)
  }
  for (const match of text.matchAll(/^[ \t]*import\s+([\w., ]+)/gm))
    for (const name of (match[1] ?? '').split(',')) {
      const module = name.trim().split(' ')[0] ?? ''
      if (module !== '') add(match.index, module, 0)
    }
  return found
}

function shell(text: string): Mention[] {
  return text.split('\n').flatMap((line, index): Mention[] => {
    if (/^\s*#/.test(line)) return []
    const sourced = [...line.matchAll(/(?:^|[;&|({]|\b(?:then|do|else))\s*(?:\.|source)\s+(\S+)/g)].map(
      ([, file = '']): Mention => ({ line: index + 1, how: 'loads', kind: 'command', text: file }),
    )
    return [...sourced, { line: index + 1, how: 'starts', kind: 'command', text: line }]
  })
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length
