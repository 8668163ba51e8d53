// Reads the guide as an agent program would before it uses it: the front matter, then the sections. Exits 1 when it cannot.
import { readFileSync } from 'node:fs'
import { readGuide } from './text.mjs'

const text = readFileSync(process.argv[2], 'utf8')
const front = /^---\n([\s\S]*?)\n---\n/.exec(text)?.[1]
const missing = ['name', 'description'].filter((key) => !new RegExp(`^${key}: \\S`, 'm').test(front ?? ''))
if (missing.length > 0) {
  console.error(`the front matter lacks ${missing.join(' and ')}`)
  process.exit(1)
}
for (const section of readGuide(text).sections) console.log(section)
