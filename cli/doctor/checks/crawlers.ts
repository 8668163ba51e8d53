import { join } from 'node:path'
import { type DoctorCheck, type FixableFinding, fine, problem, type Scene, warning } from '../check.ts'
import {
  type Crawler,
  type Crawling,
  mentions,
  type Project,
  readProject,
  STATE,
} from '../crawlers/crawler.ts'
import { JAVASCRIPT } from '../crawlers/javascript.ts'
import { OTHERS } from '../crawlers/others.ts'
import { PACKERS } from '../crawlers/packers.ts'

/** Every tool that is looked for: one line each in its family's file. */
const CRAWLERS: readonly Crawler[] = [...JAVASCRIPT, ...OTHERS, ...PACKERS]

/** Tools of the user's own that would walk into the state folder. What they read is never written by Assay. */
export const crawlers: DoctorCheck = {
  name: 'crawlers',
  look(scene) {
    return foldersOf(scene).flatMap(([name, folder]) => {
      const project = readProject(folder)
      return CRAWLERS.flatMap(({ tool, find }) => {
        const seen = find(project)
        return seen ? [findingOf(tool, name, seen, project)] : []
      })
    })
  },
}

/** The top, where the state lies, and the folder of each run's spec: tools are started in either. */
function foldersOf({ top, runs }: Scene): [string, string][] {
  if (top === null) return []
  const prefixes = new Set(['', ...runs.map(({ state }) => state?.run?.prefix ?? '')])
  return [...prefixes].map((prefix) => [prefix, join(top, prefix)])
}

function findingOf(tool: string, folder: string, seen: Crawling, project: Project): FixableFinding {
  const { config, walks, follows_exclude, why, ignore } = seen
  const code = `crawler_${tool.split(' ')[0]}`
  const data = { tool, config, walks: folder === '' ? walks : false, follows_exclude, ignore }
  const wrong = tool === 'jest' ? unanchored(project, config) : null
  if (wrong !== null) {
    return problem('crawler_jest_unanchored', {
      what: `jest ignores every path with ${STATE} in it, so it finds no test in a worktree of an experiment`,
      cause: `the pattern ${wrong} is not anchored to the root, and worktrees lie below ${STATE}`,
      repair: `write "<rootDir>/${STATE}/" in its place`,
      at: join(project.folder, config),
      data,
    })
  }
  // Below the top there is no state folder to walk into.
  if (folder !== '' || walks === false) return fine(code, `${tool} stays out of ${STATE}: ${why}`, data)
  return warning(code, {
    what: `${tool} ${walks ? 'walks' : 'may walk'} into ${STATE} (${follows_exclude ? 'it follows' : follows_exclude === null ? 'it may not follow' : 'it does not follow'} .git/info/exclude)`,
    cause: why,
    repair: `in ${ignore.file}: ${ignore.line}`,
    at: join(project.folder, config),
    data,
  })
}

/** jest matches its patterns against absolute paths. */
function unanchored(project: Project, config: string): string | null {
  const text = config === 'package.json' ? JSON.stringify(project.manifest.jest ?? '') : project.text(config)
  const quoted = [...text.matchAll(/(['"])(.*?)\1/g)].map((match) => match[2] ?? '')
  return (
    quoted.find((pattern) => mentions(pattern.replaceAll('\\', '')) && !pattern.includes('<rootDir>')) ?? null
  )
}
