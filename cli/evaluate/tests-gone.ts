/** What a candidate did to tests: deleted, emptied, skipped, ended early, or fewer of them. A search in text, no parser. Pure. */

export interface Changed {
  /** From the root of the repository. */
  path: string
  /** null = the file does not exist. */
  before: string | null
  after: string | null
}

const TEST_CHANGES = [
  'deleted',
  'emptied',
  'skipped',
  'ended',
  'fewer_tests',
  'fewer_assertions',
  'edited',
  'exits',
] as const
/** `ended`: a test file got a call that ends it with success; `exits`: another file did. */
export type TestChange = (typeof TEST_CHANGES)[number]

export interface TestFinding {
  what: TestChange
  path: string
}

/** Without these nothing is left that could fail; the others may well be right. */
const GRAVE: readonly TestChange[] = ['deleted', 'emptied', 'skipped', 'ended', 'fewer_tests']

const NAMES = [
  /\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?$/,
  /^(?:test_.*|.*_test|conftest)\.py$/,
  /_test\.(?:go|exs|dart|rb|cc|cpp|cxx|c|zig|lua|jl)$/,
  /_(?:spec|unittest)\.(?:rb|cc|cpp|lua)$/,
  /^test_.*\.(?:rb|c|cc|cpp|lua|jl)$/,
  /^tests?\.rs$/,
  /(?:Tests?|TestCase|IT|Spec)\.(?:java|kt|scala|groovy|cs|fs|swift|php)$/,
  /\.(?:bats|snap)$/,
]
const FOLDERS = /(?:^|\/)(?:tests?|__tests__|__snapshots__|e2e|testdata)\//
const CONFIG =
  /(?:^|\/)(?:conftest\.py|pytest\.ini|tox\.ini|noxfile\.py|(?:vitest|jest|ava|karma|cypress|playwright)[\w.-]*\.(?:config|conf|workspace|setup)\.\w+|\.(?:mocharc|taprc|rspec)[\w.]*|phpunit\.xml(?:\.dist)?)$/

/** By its name, or a folder in its path, in the way of the usual languages. */
export function looksLikeTest(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return FOLDERS.test(path) || NAMES.some((pattern) => pattern.test(name))
}

/** Where tests begin inside of a file that is no test. */
const INSIDE = /#\[cfg\(test\)\]|#\[test\]|import\.meta\.vitest|^unittest\b|^test\s+"/m

const DECLARED = [
  /(?:^|[^\w.$])(?:[xf]?(?:it|test|specify)|(?:Deno|QUnit|tap)\.test)(?:\.\w+)*\s*\(/gm,
  /^\s*(?:public\s+)?(?:async\s+)?(?:def|func|function)\s+[tT]est\w*/gm,
  /#\[(?:\w+::)*test\b/g,
  /@(?:Test|ParameterizedTest|RepeatedTest|Property)\b/g,
  /\[(?:Fact|Theory|Test|TestMethod|TestCase)\b/g,
  /^\s*(?:it|specify|scenario|test|@test)\s+['"]/gm,
  /^\s*(?:TEST(?:_F|_P|_CASE)?|BOOST_AUTO_TEST_CASE|SCENARIO)\s*\(/gm,
]
const SKIPPED = [
  /\b(?:it|test|describe|suite|context|specify|bench)\.(?:skip|todo|only|fixme|skipIf|runIf|fails|failing)\b/g,
  /\b(?:xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext|fspecify)\s*(?:\(|['"])/g,
  /\b(?:t|b|this|self|ctx|context)\.(?:[sS]kip(?:Test|Now|f)?|todo)\s*\(/g,
  /[{,]\s*(?:skip|todo|only)\s*:\s*(?!false\b)/g,
  /@(?:pytest\.mark|unittest)\.(?:skip\w*|xfail|expectedFailure)/g,
  /\bpytest\.(?:skip|xfail|importorskip|exit)\s*\(/g,
  /\bSkipTest\b|\bcollect_ignore\w*|\b__test__\s*=\s*False/g,
  /#\[ignore\b|#\[cfg\((?:any\(\)|FALSE)\)/g,
  /@(?:Disabled|Ignore|Skip|DisabledIf|EnabledIf)\w*\b/g,
  /\[(?:Ignore|Explicit)\b|\bSkip\s*=\s*"/g,
  /^\s*(?:skip|pending)\b(?=\s*(?:$|['"(#]))/gm,
  /@(?:module)?tag\s+:?skip/g,
  /\bGTEST_SKIP\b|\bDISABLED_\w+|\bXCTSkip\w*|\bmarkTest(?:Skipped|Incomplete)\b/g,
  /^\s*#if\s+0\b/gm,
  /\bif\s*\(?\s*(?:false|False|0)\s*(?:[):{]|then\b|$)/gm,
]
/** Comments that are rules of a compiler. */
const UNBUILT = /^\/\/(?:go:build|\s*\+build)\s/gm
const EXIT = [
  /\b(?:process|sys|os|Deno|System|std::process|Environment|Kernel)(?:\.|::)(?:_?[eE]xit|reallyExit)\s*\(\s*(?:0\s*)?\)/g,
  /(?:^|[^\w.:])_?exit\s*\(\s*0\s*\)/gm,
  /\bprocess\.exitCode\s*=\s*0\b/g,
  /(?:^|[;&|{]|\bthen|\bdo)\s*exit\s+0\b/gm,
]
const ASSERTED = [
  /\b(?:assert|expect|EXPECT_|ASSERT_|XCTAssert|CHECK|REQUIRE)\w*!?\s*[(.\s]/g,
  /\b(?:t|test|tap)\.(?:is|not|deepEqual|like|throws|ok|equal|same|true|false|Errorf?|Fatalf?|Fail|FailNow)\s*\(/g,
  /\bshould\b|\brequire\.[A-Z]/g,
]
/** Comments of many lines, and texts of many lines, which Python takes for comments. What stands before one on its line stays. */
const BLOCKS = [
  /^((?:[^'"`/\n]|\/(?![*/])|'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)*)\/\*[\s\S]*?\*\//gm,
  /()^=begin\b[\s\S]*?^=end\b/gm,
  /()("""|''')[\s\S]*?\2/g,
]
const LINE_COMMENT = /^\s*(?:\/\/|--\s|#(?!\[|!|if\b)).*$/gm
const COMMENT = /^\s*(?:\/\/|\/?\*|--\s|#(?!\[|!|if\b)).*$/gm

interface Counts {
  tests: number
  skipped: number
  exits: number
  asserted: number
  blank: boolean
}

/** In the order of `TEST_CHANGES`, then of the paths. A test that lies elsewhere now is not gone. */
export function testsGone(changes: readonly Changed[]): TestFinding[] {
  const looked = changes.map(look)
  const sum = (of: (one: Looked) => number) => looked.reduce((total, one) => total + of(one), 0)
  const fewerTests = sum(({ now }) => now.tests) < sum(({ was }) => was.tests)
  const fewerAsserted = sum(({ now }) => now.asserted) < sum(({ was }) => was.asserted)
  const found = looked.flatMap((one): TestFinding[] => {
    const { path, isTest, before, after, was, now } = one
    const finding = (what: TestChange): TestFinding => ({ what, path })
    if (after === null) return isTest && !was.blank && !isElsewhere(one, looked) ? [finding('deleted')] : []
    const what: TestChange[] = []
    const hadTests = !was.blank && (isTest || was.tests > 0)
    if (hadTests && (now.blank || (was.tests > 0 && now.tests === 0)) && !isElsewhere(one, looked))
      what.push('emptied')
    else if (fewerTests && now.tests < was.tests) what.push('fewer_tests')
    else if (fewerAsserted && now.asserted < was.asserted) what.push('fewer_assertions')
    if (now.skipped > was.skipped) what.push('skipped')
    if (exitsIn(after) > exitsIn(before ?? '')) what.push(isTest ? 'ended' : 'exits')
    const config = CONFIG.test(path)
    if (what.length === 0 && (before === null ? config : isTest || config)) what.push('edited')
    return what.map(finding)
  })
  return found.sort((a, b) => TEST_CHANGES.indexOf(a.what) - TEST_CHANGES.indexOf(b.what))
}

interface Looked extends Changed {
  isTest: boolean
  was: Counts
  now: Counts
}

function look(change: Changed): Looked {
  const isTest = looksLikeTest(change.path)
  const part = (text: string | null): string => {
    if (text === null || isTest) return text ?? ''
    const at = text.search(INSIDE)
    return at < 0 ? '' : text.slice(at)
  }
  return { ...change, isTest, was: countsOf(part(change.before)), now: countsOf(part(change.after)) }
}

function countsOf(text: string): Counts {
  const code = codeIn(text)
  return {
    tests: count(DECLARED, code),
    skipped: count(SKIPPED, code) + count([UNBUILT], text),
    exits: count(EXIT, code),
    asserted: count(ASSERTED, code),
    blank: code.trim() === '',
  }
}

/** Lines that are comments go first: they may hold an end of a block, or one quotation mark. */
const codeIn = (text: string): string =>
  BLOCKS.reduce((left, block) => left.replace(block, '$1'), text.replace(LINE_COMMENT, '')).replace(
    COMMENT,
    '',
  )
const exitsIn = (text: string): number => count(EXIT, codeIn(text))
const count = (patterns: readonly RegExp[], text: string): number =>
  patterns.reduce((total, pattern) => total + (text.match(pattern)?.length ?? 0), 0)

/** Of its lines, that another file must have got. */
const SAME = 1 / 2

function isElsewhere({ path, before }: Looked, all: readonly Looked[]): boolean {
  const lines = linesOf(before ?? '')
  return all.some((other) => {
    if (other.path === path || other.after === null) return false
    if (!other.isTest && other.now.tests === 0) return false
    const had = new Set(linesOf(other.before ?? ''))
    const has = new Set(linesOf(other.after))
    return lines.filter((line) => has.has(line) && !had.has(line)).length > lines.length * SAME
  })
}

const linesOf = (text: string): string[] =>
  codeIn(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length > 3)

const SAID: Record<TestChange, (paths: string) => string> = {
  deleted: (paths) => `deletes ${paths}`,
  emptied: (paths) => `empties ${paths}`,
  skipped: (paths) => `skips tests in ${paths}`,
  ended: (paths) => `ends ${paths} with exit code 0`,
  fewer_tests: (paths) => `removes tests from ${paths}`,
  fewer_assertions: (paths) => `removes assertions from ${paths}`,
  edited: (paths) => `edits ${paths}`,
  exits: (paths) => `adds an exit with code 0 to ${paths}`,
}
const SHOWN = 3
const LONGEST = 200

/** `deletes src/a.test.js and skips tests in src/b.test.js`; empty when there is nothing to tell. */
function said(findings: readonly TestFinding[]): string {
  const parts = TEST_CHANGES.flatMap((what) => {
    const paths = findings.flatMap((one) => (one.what === what ? [one.path] : []))
    if (paths.length === 0) return []
    const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
    return [SAID[what](`${paths.slice(0, SHOWN).join(', ')}${more}`)]
  })
  const text = parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : (parts[0] ?? '')
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

/** To be put behind the message of a verdict; empty when there is nothing to remark. */
export function testsRemark(findings: readonly TestFinding[]): string {
  const only = findings.length > 0 && findings.every(({ what }) => what === 'exits')
  return findings.length === 0
    ? ''
    : `; it ${said(findings)}: look whether ${only ? 'the gates still run to their end' : 'its tests still test what they did'}`
}

/** Why a keep is to be doubted, which no measurement can clear; null when no test is gone. */
export function testsDoubt(findings: readonly TestFinding[], experiment: string): string | null {
  const grave = findings.filter(({ what }) => GRAVE.includes(what))
  if (grave.length === 0) return null
  return `it ${said(grave)}, so its gates may prove less: look at assay diff ${experiment}, and when that is right, assay restore ${experiment} clears it`
}
