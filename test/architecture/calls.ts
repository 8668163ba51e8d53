/** The commands of this CLI that its own source names: each `call(…)` of `next.ts`, and each mention in a string. */
import { parseSync } from 'vite'
import { type Node, walk } from './modules.ts'

/** One way in which a `call(…)` may come out. A word is null where only the running program knows it. */
export interface SeenCall {
  file: string
  line: number
  words: readonly (string | null)[]
}

export interface Mention {
  file: string
  line: number
  /** From `assay` to the end of the command; `…` where only the running program knows a word. */
  text: string
}

export function callsIn(file: string, source: string): SeenCall[] {
  if (!/^import .*\bcall\b.* from '.*\/next\.ts'$/m.test(source)) return []
  const { program } = parseSync(file, source)
  const found: SeenCall[] = []
  walk(program as unknown as Node, null, '', (node) => {
    const callee = node.type === 'CallExpression' ? (node.callee as Node) : null
    if (callee?.type !== 'Identifier' || callee.name !== 'call') return
    const ways = (node.arguments as Node[]).map(waysOf)
    for (const words of product(ways)) found.push({ file, line: lineOf(source, node), words })
  })
  return found
}

/** A condition makes two ways; what cannot be read here makes one that is not known. */
function waysOf(node: Node): (string | null)[] {
  if (node.type === 'Literal') return [String(node.value)]
  if (node.type === 'ConditionalExpression')
    return [...waysOf(node.consequent as Node), ...waysOf(node.alternate as Node)]
  return [null]
}

const product = <T>(lists: readonly T[][]): T[][] =>
  lists.reduce<T[][]>((ways, list) => ways.flatMap((way) => list.map((one) => [...way, one])), [[]])

export function mentionsIn(file: string, source: string): Mention[] {
  const { program } = parseSync(file, source)
  const found: Mention[] = []
  walk(program as unknown as Node, null, '', (node) => {
    const text = textOf(node)
    for (const [mention] of text?.matchAll(/(?<![\w@/.-])assay [a-z](?:[^;:,()`·.]|\.(?! |$))*/g) ?? [])
      found.push({ file, line: lineOf(source, node), text: mention })
  })
  return found
}

function textOf(node: Node): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  if (node.type !== 'TemplateLiteral') return null
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('…')
}

const lineOf = (source: string, { start }: Node): number => source.slice(0, start).split('\n').length
