/** The guide is the answer to each question. Prints what the rules count, and no score: the judge decides. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const guide = readFileSync('skill/SKILL.md', 'utf8')
const folder = process.env.ASSAY_ITEMS_DIR
if (folder)
  for (const id of readFileSync(process.env.ASSAY_ITEMS, 'utf8').trim().split('\n'))
    writeFileSync(join(folder, `${id}.txt`), guide)

const { metrics } = JSON.parse(
  execFileSync(process.execPath, ['score/score.mjs', 'skill/SKILL.md', 'rubric.md'], { encoding: 'utf8' }),
)
for (const [name, value] of Object.entries(metrics)) console.log(`METRIC ${name}=${value}`)
