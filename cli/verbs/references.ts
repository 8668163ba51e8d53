/** The pages and templates that come with Assay. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const REFERENCES = new URL('../../references/', import.meta.url)

/** Without their ending. */
export const guideTopics = (): string[] =>
  readdirSync(fileURLToPath(REFERENCES))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -3))
    .sort()

export const referenceText = (file: string): string => readFileSync(new URL(file, REFERENCES), 'utf8')
