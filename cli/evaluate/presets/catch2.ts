import { type Benchmark, type Figure, minimize, type Preset, printed } from './preset.ts'

const HEAD = /^benchmark name\s+samples\s+iterations\s+est/
const FIRST = /^(.*?)\s+(\d+)\s+(\d+)\s+([\d.]+) (\S+)\s*$/
const THREE = /^\s+([\d.]+) (\S+)\s+([\d.]+) (\S+)\s+([\d.]+) (\S+)\s*$/
const XML = /<BenchmarkResults\s[^>]*?\bname="([^"]*)"[^>]*>([\s\S]*?)<\/BenchmarkResults>/g
const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** All values of the XML reporter are nanoseconds. */
function fromXml(text: string): Benchmark[] {
  return [...text.matchAll(XML)].map(([, name = '', inner = '']) => {
    const metrics = new Map<string, Figure>()
    const put = (metric: string, element: string) => {
      const value = new RegExp(`<${element}\\s[^>]*?\\bvalue="([^"]+)"`).exec(inner)?.[1]
      if (value !== undefined && Number.isFinite(Number(value)))
        metrics.set(metric, { value: Number(value), unit: 'ns' })
    }
    put('mean', 'mean')
    put('std_dev', 'standardDeviation')
    return { name: name.replace(/&(\w+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole), metrics }
  })
}

/** The table: a name, which may go on over several lines, then three lines of numbers. */
function fromTable(text: string): Benchmark[] {
  const found: Benchmark[] = []
  let name: string | null = null
  let inTable = false
  for (const line of text.split(/\r?\n/)) {
    if (HEAD.test(line)) {
      inTable = true
      name = null
      continue
    }
    if (!inTable || /^[-=.]{20,}$/.test(line)) continue
    const three = THREE.exec(line)
    const last = found.at(-1)
    if (three && last && name === null) {
      const figure = printed(three[1] ?? '', three[2] ?? '', 'ns')
      const metric = last.metrics.has('mean') ? 'std_dev' : 'mean'
      if (figure && !last.metrics.has(metric)) last.metrics.set(metric, figure)
      continue
    }
    const first = FIRST.exec(line)
    if (first) {
      found.push({ name: [name, first[1]?.trim()].filter(Boolean).join(' '), metrics: new Map() })
      name = null
    } else if (/^\S/.test(line)) name = [name, line.trim()].filter(Boolean).join(' ')
    else if (line.trim() === '') name = null
  }
  return found.filter(({ metrics }) => metrics.size > 0)
}

const all = (text: string): Benchmark[] => {
  const xml = fromXml(text)
  return xml.length > 0 ? xml : fromTable(text)
}

export const catch2: Preset<'catch2'> = {
  name: 'catch2',
  example: "build/tests '[benchmark]' -r xml -o {result}",
  places: ['result', 'stdout'],
  reads: 'the XML of `-r xml`, or the printed table',
  metrics: minimize('ns', 'mean', 'std_dev'),
  command: /\bcatch2?\b|--benchmark-samples\b/i,
  recognises: (text) => all(text).length > 0,
  read: (text) => ({ benchmarks: all(text) }),
}
