/** pom.xml of Maven; build files, version catalogues and lock files of Gradle. */
import { parse } from 'smol-toml'
import { recordOf } from '../json.ts'
import { type NamedPackage, type ReadPackages, textOf } from './file.ts'

const artifact = (group: string, name: string): NamedPackage => ({
  name: `${group}:${name}`.toLowerCase(),
  from: null,
})

/** The last three: what a plugin loads or unpacks by itself. */
const NAMES_ONE = [
  'dependency',
  'plugin',
  'parent',
  'extension',
  'path',
  'annotationProcessorPath',
  'artifactItem',
]

/**
 * Elements and their texts are all that is looked at. What stands in a CDATA section or in an entity stays as it is
 * written, so it is a name that nobody approved.
 */
export const readPom: ReadPackages = (text) => {
  const named: NamedPackage[] = []
  const properties = new Map<string, string>()
  const path: string[] = []
  const open: { group: string; name: string }[] = []
  const tokens = without(text, '<!--', '-->').matchAll(/<(\/?)([\w:.-]+)[^<>]*?(\/?)>([^<]*)/g)
  for (const [, close, tag = '', empty, content = ''] of tokens) {
    if (empty) continue
    if (close) {
      path.pop()
      const one = NAMES_ONE.includes(tag) ? open.pop() : undefined
      // Maven's own plugins need no group.
      if (one && one.name !== '')
        named.push(artifact(one.group || (tag === 'plugin' ? 'org.apache.maven.plugins' : ''), one.name))
      continue
    }
    path.push(tag)
    const said = content.trim()
    if (path.at(-2) === 'properties') properties.set(tag, said)
    if (NAMES_ONE.includes(tag)) open.push({ group: '', name: '' })
    const one = open.at(-1)
    if (one && NAMES_ONE.includes(path.at(-2) ?? '')) {
      if (tag === 'groupId') one.group = said
      if (tag === 'artifactId') one.name = said
    }
  }
  const filled = (name: string) =>
    name.replace(/\$\{([^}]+)\}/g, (whole, key: string) => properties.get(key)?.toLowerCase() ?? whole)
  return { named: named.map((one) => ({ ...one, name: filled(one.name) })) }
}

/** Without comments, in one pass however many begin: a candidate must not be able to keep the CLI busy. */
function without(text: string, begin: string, end: string): string {
  let left = ''
  for (let at = 0; ; ) {
    const from = text.indexOf(begin, at)
    if (from < 0) return left + text.slice(at)
    left += text.slice(at, from)
    const to = text.indexOf(end, from + begin.length)
    // What is not closed hides nothing: it is read as it stands.
    if (to < 0) return left + text.slice(from + begin.length)
    at = to + end.length
  }
}

const COORDINATE = /^([\w.-]+):([\w.-]+)(:.*)?$/
/** Words that Gradle's configurations end with, in front of a text. */
const CONFIGURATION =
  /(?:api|implementation|compile|compileOnly|runtime|runtimeOnly|annotationProcessor|classpath|kapt|ksp|platform)[\s(]*$/i

/**
 * Texts in quotes that are `group:name:version`, or `group:name` where the group has a dot or a configuration stands in front
 * (without either it may be a task of a project), and plugins by their id.
 */
export const readGradle: ReadPackages = (text) => {
  const code = without(text, '/*', '*/').replace(/(^|\s)\/\/.*$/gm, '')
  const coordinates = [...code.matchAll(/(["'])([^"'\n]*)\1/g)].flatMap(({ index, 2: said = '' }) => {
    const isSure = /[.].*:|:.*:/.test(said) || CONFIGURATION.test(code.slice(Math.max(0, index - 40), index))
    return isSure ? coordinate(said) : []
  })
  const parts = [
    ...code.matchAll(/\bgroup\s*[:=]\s*["']([^"'\n]+)["']\s*,\s*name\s*[:=]\s*["']([^"'\n]+)["']/g),
  ].map(([, group = '', name = '']) => artifact(group, name))
  const plugins = [...code.matchAll(/\bid\b[\s(]*["']([\w.-]+)["']/g)].map(([, id = '']) => ({
    name: id.toLowerCase(),
    from: null,
  }))
  return { named: [...coordinates, ...parts, ...plugins] }
}

function coordinate(said: string): NamedPackage[] {
  const [, group, name] = COORDINATE.exec(said) ?? []
  return group === undefined || name === undefined ? [] : [artifact(group, name)]
}

/** gradle/libs.versions.toml */
export const readGradleCatalogue: ReadPackages = (text) => {
  const toml = recordOf(parse(text))
  const libraries = Object.values(recordOf(toml.libraries)).flatMap((one) => {
    const table = recordOf(one)
    const whole = textOf(one) ?? textOf(table.module)
    if (whole !== null) return coordinate(whole)
    return [artifact(textOf(table.group) ?? '', textOf(table.name) ?? '')]
  })
  const plugins = Object.values(recordOf(toml.plugins)).map((one) => ({
    name: (textOf(recordOf(one).id) ?? (textOf(one) ?? '').replace(/:.*$/, '')).toLowerCase(),
    from: null,
  }))
  return { named: [...libraries, ...plugins] }
}

/** gradle.lockfile: `group:name:version=configurations` */
export const readGradleLock: ReadPackages = (text) => ({
  named: text
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => coordinate((line.split('=')[0] ?? '').trim()))
    .map((one) => ({ ...one, locked: true as const })),
})
